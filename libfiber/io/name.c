/* SPDX-License-Identifier: MIT */
/*
 * name.c - look up names on threads
 *
 * The system's resolver blocks for as long as the name servers take, and cannot be interrupted. So
 * it runs on an offload thread. A deadline ends the wait but not the lookup. The data of a lookup
 * is a copy with two owners, the caller and the thread. The last owner frees it, together with
 * addresses that were not collected.
 *
 * Lookups that hang must not occupy all threads of fiber_block(). They get at most half of them.
 * Further lookups wait for a place, first in, first out; one that times out there has started
 * nothing. A place is returned when the resolver ends, at the latest after the time that
 * resolv.conf(5) allows.
 *
 * Numeric names need neither a thread nor a place.
 */
#include "choice.h"
#include "io/name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/io.h>
#include <fiber/sync.h>

#include "base/atomic.h"
#include "io/call_on_thread.h"
#include "os/names.h"
#include "wait/wait.h"

/*
 * I set before the thread gets it · A atomic · R written by the thread, read by the caller once
 * fiber_block() has returned
 */
struct lookup {
	_Atomic uint32_t owners; /* A: 2, the caller and the thread */
	struct addrinfo hints;	 /* I */
	const char *node;	 /* I: in text, or NULL */
	const char *service;	 /* I: in text, or NULL */
	struct addrinfo *found;	 /* R: and freed by the last owner */
	int rc;			 /* R */
	char text[];		 /* I */
};

static struct fiber_sem places = {.name = "name lookups", .count = FIB_NAME_LOOKUPS_MAX};

static void disown(struct lookup *l)
{
	/* Acquire and release: the last owner sees that the other has finished with it. */
	if (fib_sub(&l->owners, 1) != 1)
		return;
	if (l->found)
		freeaddrinfo(l->found);
	free(l);
}

static void *look_up(void *arg)
{
	struct lookup *l = arg;

	l->rc = fib_os_getaddrinfo(l->node, l->service, &l->hints, &l->found);
	if (l->rc < 0)
		l->found = NULL;
	fiber_sem_post(&places);
	disown(l);
	return NULL;
}

/* The fields of hints that a caller sets; the system fills in the others. */
static struct addrinfo asked(const struct addrinfo *hints)
{
	/* glibc's default without hints. */
	if (!hints)
		return (struct addrinfo){.ai_flags = AI_V4MAPPED | AI_ADDRCONFIG};
	return (struct addrinfo){.ai_flags = hints->ai_flags,
				 .ai_family = hints->ai_family,
				 .ai_socktype = hints->ai_socktype,
				 .ai_protocol = hints->ai_protocol};
}

static struct lookup *make(const char *node, const char *service, const struct addrinfo *hints)
{
	size_t node_size = node ? strlen(node) + 1 : 0;
	size_t service_size = service ? strlen(service) + 1 : 0;
	struct lookup *l = calloc(1, sizeof *l + node_size + service_size);

	if (!l)
		return NULL;
	if (node)
		l->node = memcpy(l->text, node, node_size);
	if (service)
		l->service = memcpy(l->text + node_size, service, service_size);
	l->hints = *hints;
	fib_store(&l->owners, 2);
	return l;
}

/* True: nothing to look up, node and service are numeric or absent. *ret_rc is then the result. */
static bool read_numbers(const char *node, const char *service, const struct addrinfo *hints,
			 struct addrinfo **ret, int *ret_rc)
{
	struct addrinfo numbers = *hints;

	if (service && service[strspn(service, "0123456789")])
		return false;
	numbers.ai_flags |= AI_NUMERICHOST | AI_NUMERICSERV;
	*ret_rc = fib_os_getaddrinfo(node, service, &numbers, ret);
	return *ret_rc != -ENOENT || !node || hints->ai_flags & AI_NUMERICHOST;
}

/* Look up on a thread. The caller has a place. */
static int hand_over(struct lookup *l, struct addrinfo **ret, int64_t deadline)
{
	int rc = fiber_block(look_up, l, NULL, deadline);

	if (rc == 0) {
		rc = l->rc;
		*ret = l->found;
		l->found = NULL;
	} else if (rc != -ETIMEDOUT && rc != -ECANCELED) {
		/* The lookup has not started and never will. */
		fiber_sem_post(&places);
		fib_store(&l->owners, 1);
	}
	disown(l);
	return rc;
}

static int find(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret, int64_t deadline)
{
	struct lookup *l;
	int rc;

	if (read_numbers(node, service, hints, ret, &rc))
		return rc;
	rc = fib_wait_check(deadline);
	if (rc == 0)
		rc = fiber_sem_wait(&places, deadline);
	if (rc < 0)
		return rc;
	l = make(node, service, hints);
	if (l)
		return hand_over(l, ret, deadline);
	fiber_sem_post(&places);
	return -ENOMEM;
}

int fiber_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		      struct addrinfo **ret, int64_t deadline)
{
	const struct addrinfo wanted = asked(hints);
	struct addrinfo *found = NULL;
	int rc = find(node, service, &wanted, &found, deadline);

	fib_choice(NULL);
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
	memset(&places.waiters, 0, sizeof places.waiters);
	places.count = FIB_NAME_LOOKUPS_MAX;
}
