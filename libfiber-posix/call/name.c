/* SPDX-License-Identifier: MIT */
/*
 * name.c - look up names: on other threads, since the resolver can only block
 *
 * Lookups that hang must not occupy all threads of fiber_block(). fiber_getaddrinfo() takes at most
 * half of them, and the other lookups a quarter. Further ones wait for a place.
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/sync.h>
#include <fiber/time.h>

#include "call/off_carrier.h"
#include "call/park.h"
#include "system/system.h"

#define LOOKUPS_MAX 16

static struct fiber_sem places;

/* In the child of a fork there are no lookups. */
static void free_places(void)
{
	places = (struct fiber_sem){.name = "name lookups", .count = LOOKUPS_MAX};
}

__attribute__((constructor)) static void start(void)
{
	free_places();
	pthread_atfork(NULL, NULL, free_places);
}

/* Returns 0, or a negative errno if fn was not called. */
static int look_up(void *(*fn)(void *), void *arg)
{
	int rc = fiber_sem_wait(&places, FIBER_FOREVER);

	if (rc < 0)
		return rc;
	rc = fpx_off_carrier(fn, arg);
	fiber_sem_post(&places);
	return rc;
}

/* The errors of fiber_getaddrinfo(); see <fiber/io.h>. */
static const struct {
	int eai, error;
} errors[] = {
	{EAI_NONAME, ENOENT},
	{EAI_NODATA, ENODATA},
	{EAI_AGAIN, EAGAIN},
	{EAI_FAIL, EIO},
	{EAI_ADDRFAMILY, EADDRNOTAVAIL},
	{EAI_FAMILY, EAFNOSUPPORT},
	{EAI_MEMORY, ENOMEM},
	{EAI_OVERFLOW, EOVERFLOW},
	{EAI_SERVICE, EPROTONOSUPPORT},
	{EAI_SOCKTYPE, ESOCKTNOSUPPORT},
	{EAI_BADFLAGS, EINVAL},
};

int fiber_posix_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
			    struct addrinfo **ret)
{
	size_t i;
	int rc;

	if (!fpx_parks())
		return fpx_system.getaddrinfo(node, service, hints, ret);
	rc = fiber_getaddrinfo(node, service, hints, ret, FIBER_FOREVER);
	if (rc == 0)
		return 0;
	for (i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (rc == -errors[i].error)
			return errors[i].eai;
	fpx_result(rc);
	return EAI_SYSTEM;
}

struct naming {
	const struct sockaddr *addr;
	char *host, *service;
	socklen_t addrlen, hostlen, servicelen;
	int flags, rc, error;
};

static void *name_there(void *arg)
{
	struct naming *n = arg;

	n->rc = fpx_system.getnameinfo(n->addr, n->addrlen, n->host, n->hostlen, n->service,
				       n->servicelen, n->flags);
	n->error = errno;
	return NULL;
}

int fiber_posix_getnameinfo(const struct sockaddr *addr, socklen_t addrlen, char *host,
			    socklen_t hostlen, char *service, socklen_t servicelen, int flags)
{
	const int numeric = NI_NUMERICHOST | NI_NUMERICSERV;
	struct naming n = {addr, host, service, addrlen, hostlen, servicelen, flags, 0, 0};
	int rc;

	if ((flags & numeric) == numeric || !fpx_parks())
		return fpx_system.getnameinfo(addr, addrlen, host, hostlen, service, servicelen,
					      flags);
	rc = look_up(name_there, &n);
	if (rc < 0 || n.rc == EAI_SYSTEM) {
		fpx_result(rc < 0 ? rc : -n.error);
		return EAI_SYSTEM;
	}
	return n.rc;
}

struct finding {
	const char *name;
	struct hostent *buffer, **ret;
	char *text;
	size_t size;
	int *ret_error, rc;
};

static void *find_there(void *arg)
{
	struct finding *f = arg;

	f->rc = fpx_system.gethostbyname_r(f->name, f->buffer, f->text, f->size, f->ret,
					   f->ret_error);
	return NULL;
}

int fiber_posix_gethostbyname_r(const char *name, struct hostent *buffer, char *text, size_t size,
				struct hostent **ret, int *ret_error)
{
	struct finding f = {name, buffer, ret, text, size, ret_error, 0};
	int rc;

	if (!fpx_parks())
		return fpx_system.gethostbyname_r(name, buffer, text, size, ret, ret_error);
	rc = look_up(find_there, &f);
	if (rc < 0) {
		*ret = NULL;
		*ret_error = NETDB_INTERNAL;
		return -rc;
	}
	return f.rc;
}
