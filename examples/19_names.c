/* SPDX-License-Identifier: MIT */
/* 19_names.c - look up a name on another thread, with a deadline for the name server's answer. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <fiber.h>

#define MS INT64_C(1000000)

/* Get the first address of a name as text. Returns 0, -ETIMEDOUT, or another negative errno. */
static int address_of(const char *name, char *text, socklen_t size, int64_t deadline)
{
	const struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int rc = fiber_getaddrinfo(name, "80", &hints, &found, deadline);

	if (rc < 0)
		return rc;
	getnameinfo(found->ai_addr, found->ai_addrlen, text, size, NULL, 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return 0;
}

static void *start(void *arg)
{
	static const char *const names[] = {"192.0.2.1", "localhost"};
	char text[64];

	for (int i = 0; i < 2; i++) {
		int rc = address_of(names[i], text, sizeof(text), fiber_after(10000 * MS));

		printf("%s: %s\n", names[i], rc < 0 ? strerror(-rc) : text);
	}
	return arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
