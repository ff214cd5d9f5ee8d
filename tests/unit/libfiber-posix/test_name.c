/* SPDX-License-Identifier: MIT */
/* test_name.c - names are looked up off the carrier, with the errors of getaddrinfo(3) */
#include "outcome.h"

#include <netdb.h>
#include <netinet/in.h>

struct lookup {
	const char *node, *service;
	struct addrinfo hints;
	uint16_t port;
	char text[64];
	int error;
};

static void *do_getaddrinfo(void *arg)
{
	struct lookup *l = arg;
	struct addrinfo *found = NULL;
	const int rc = getaddrinfo(l->node, l->service, &l->hints, &found);

	l->error = errno;
	if (rc == 0) {
		l->port = ntohs(((struct sockaddr_in *)(void *)found->ai_addr)->sin_port);
		freeaddrinfo(found);
	}
	return (void *)(intptr_t)rc;
}

static void both_find(const char *node, const char *service, int flags, int rc)
{
	struct lookup l = {
		.node = node,
		.service = service,
		.hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = flags}};

	assert_int_equal(on_a_thread(do_getaddrinfo, &l), rc);
	l.port = 0;
	assert_int_equal(inside(do_getaddrinfo, &l), rc);
	if (rc == 0 && service)
		assert_int_equal(l.port, 80);
}

static void test_getaddrinfo_finds_and_fails_as_the_system_s(void **state)
{
	(void)state;
	both_find("localhost", "80", 0, 0);
	both_find("127.0.0.1", NULL, 0, 0);
	both_find("nobody", "80", AI_NUMERICHOST, EAI_NONAME);
	both_find("127.0.0.1", "no such service", 0, EAI_SERVICE);
	both_find("127.0.0.1", "80", 0x40000000, EAI_BADFLAGS);
	both_find(NULL, NULL, 0, EAI_NONAME);
}

static void *do_getnameinfo(void *arg)
{
	const struct sockaddr_in addr = {.sin_family = AF_INET,
					 .sin_port = htons(80),
					 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct lookup *l = arg;

	return (void *)(intptr_t)getnameinfo((const struct sockaddr *)&addr, sizeof addr, l->text,
					     sizeof l->text, NULL, 0, l->hints.ai_flags);
}

static void test_getnameinfo_finds_and_fails_as_the_system_s(void **state)
{
	struct lookup here = {.hints.ai_flags = 0}, there = here;

	(void)state;
	assert_int_equal(on_a_thread(do_getnameinfo, &here), inside(do_getnameinfo, &there));
	assert_string_equal(here.text, there.text);
	there.hints.ai_flags = NI_NUMERICHOST | NI_NUMERICSERV;
	assert_int_equal(inside(do_getnameinfo, &there), 0);
	assert_string_equal(there.text, "127.0.0.1");
	there.hints.ai_flags = 0x40000000;
	assert_int_equal(inside(do_getnameinfo, &there), EAI_BADFLAGS);
}

static void *do_gethostbyname(void *arg)
{
	struct lookup *l = arg;
	struct hostent buffer, *found = NULL;
	char text[1024];
	const int rc = gethostbyname_r(l->node, &buffer, text, l->port, &found, &l->error);

	return (void *)(intptr_t)(rc ? rc : found ? 0 : -1);
}

static void test_gethostbyname_r_finds_and_fails_as_the_system_s(void **state)
{
	struct lookup l = {.node = "localhost", .port = 1024};

	(void)state;
	assert_int_equal(on_a_thread(do_gethostbyname, &l), 0);
	assert_int_equal(inside(do_gethostbyname, &l), 0);
	l.port = 1;
	assert_int_equal(on_a_thread(do_gethostbyname, &l), ERANGE);
	assert_int_equal(inside(do_gethostbyname, &l), ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_getaddrinfo_finds_and_fails_as_the_system_s),
		cmocka_unit_test(test_getnameinfo_finds_and_fails_as_the_system_s),
		cmocka_unit_test(test_gethostbyname_r_finds_and_fails_as_the_system_s),
	};

	OUTCOME_MAIN(tests);
}
