/* SPDX-License-Identifier: MIT */
/*
 * name.c - look up names; in place of libfiber/io/name.c
 *
 * In a schedule the answer is known at once (net/hosts.c), so no thread is needed. When the fiber
 * hears of it is a choice, as after a call on a thread. Outside a schedule the call blocks.
 */
#include "io/name.h"

#include <errno.h>

#include <fiber/io.h>

#include "choice.h"
#include "fault.h"
#include "os/names.h"
#include "wait/wait.h"

static const struct addrinfo usual = {.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};

/* The fields of hints that a caller sets. */
static struct addrinfo asked(const struct addrinfo *hints)
{
	return (struct addrinfo){.ai_flags = hints->ai_flags,
				 .ai_family = hints->ai_family,
				 .ai_socktype = hints->ai_socktype,
				 .ai_protocol = hints->ai_protocol};
}

static int find(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret, int64_t deadline)
{
	struct addrinfo numbers = *hints;
	int rc;

	numbers.ai_flags |= AI_NUMERICHOST;
	rc = fib_os_getaddrinfo(node, service, &numbers, ret);
	if (rc != -ENOENT || !node || hints->ai_flags & AI_NUMERICHOST)
		return rc;
	/* In production the lookup needs a thread and a wait. */
	rc = fib_fault(THREAD);
	if (rc == 0)
		rc = fib_wait_check(deadline);
	if (rc < 0)
		return rc;
	rc = fib_os_getaddrinfo(node, service, hints, ret);
	fib_explore_before("fiber_getaddrinfo", NULL, __builtin_return_address(0));
	return rc;
}

int fiber_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		      struct addrinfo **ret, int64_t deadline)
{
	const struct addrinfo wanted = asked(hints ? hints : &usual);
	struct addrinfo *found = NULL;
	int rc;

	fib_choice(NULL);
	rc = find(node, service, &wanted, &found, deadline);
	if (rc < 0)
		return rc;
	if (ret)
		*ret = found;
	else
		freeaddrinfo(found);
	return 0;
}

void fib_name_forget(void)
{
}
