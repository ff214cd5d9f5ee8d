/* SPDX-License-Identifier: MIT */
/*
 * hosts.c - the names and addresses of the network in which a schedule lives
 *
 * There is one host. It has the loopback addresses and those that fiber_test_host() has named; no
 * other address can be reached. Numeric addresses are read by libc, without asking a server. The
 * names are "localhost" and those of fiber_test_host().
 */
#include "net/hosts.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <fiber/test.h>

#include "net/linked.h"
#include "net/real.h"
#include "os/virtual.h"

const char fib_net_hosts;

#define NAME_MAX_SIZE 254u /* RFC 1035, with the end */

struct host {
	struct host *next;
	struct fib_address address;
	char name[NAME_MAX_SIZE];
};

static struct host *hosts, **end = &hosts;

void fib_hosts_clear(void)
{
	struct host *h;

	while ((h = hosts)) {
		hosts = h->next;
		free(h);
	}
	end = &hosts;
}

bool fib_hosts_has(const struct fib_address *a)
{
	const struct host *h;

	if (fib_address_is_loopback(a))
		return true;
	for (h = hosts; h; h = h->next)
		if (fib_address_same_ip(&h->address, a))
			return true;
	return false;
}

int fiber_test_host(const char *name, const struct sockaddr *address, socklen_t size)
{
	struct fib_address a;
	struct host *h;

	if (!fib_virtual_here())
		return -EPERM;
	if (!name || !*name || strlen(name) >= NAME_MAX_SIZE || !address ||
	    size < sizeof address->sa_family ||
	    (address->sa_family != AF_INET && address->sa_family != AF_INET6) ||
	    fib_address_read(address, size, address->sa_family, &a) < 0)
		return -EINVAL;
	h = calloc(1, sizeof *h);
	if (!h)
		return -ENOMEM;
	h->address = a;
	snprintf(h->name, sizeof h->name, "%s", name);
	*end = h;
	end = &h->next;
	return 0;
}

/* -- getaddrinfo -- */

struct question {
	const char *service;
	struct addrinfo hints; /* of the numeric questions */
	struct addrinfo *found, **end;
};

/* Ask libc for a numeric address. */
static int ask(struct question *q, const struct fib_address *a)
{
	const int family = fib_address_is_v4(a) ? AF_INET : AF_INET6;
	struct sockaddr_storage at;
	socklen_t size = sizeof at;
	char text[NI_MAXHOST], port[16];
	struct addrinfo hints = q->hints;
	int rc;

	if (hints.ai_family == AF_INET6 && family == AF_INET && !(hints.ai_flags & AI_V4MAPPED))
		return EAI_NONAME;
	if (hints.ai_family == AF_INET && family == AF_INET6)
		return EAI_NONAME;
	fib_address_write(a, family, (struct sockaddr *)&at, &size);
	rc = fib_real()->getnameinfo((struct sockaddr *)&at, size, text, sizeof text, NULL, 0,
				     NI_NUMERICHOST);
	if (rc)
		return rc;
	snprintf(port, sizeof port, "%u", (unsigned)a->port);
	rc = fib_real()->getaddrinfo(text, q->service ? q->service : port, &hints, q->end);
	while (rc == 0 && *q->end)
		q->end = &(*q->end)->ai_next;
	return rc;
}

static bool is_localhost(const char *name)
{
	return strcasecmp(name, "localhost") == 0 || strcasecmp(name, "localhost.") == 0;
}

/* Addresses of IPv4 are mapped only for a name that has none of IPv6, or with AI_ALL. */
static bool has_v6(const char *name)
{
	const struct host *h;

	for (h = hosts; h; h = h->next)
		if (strcasecmp(h->name, name) == 0 && !fib_address_is_v4(&h->address))
			return true;
	return false;
}

static int ask_table(struct question *q, const char *name)
{
	const bool skip_v4 =
		q->hints.ai_family == AF_INET6 && !(q->hints.ai_flags & AI_ALL) && has_v6(name);
	int rc = EAI_NONAME, one;
	const struct host *h;

	for (h = hosts; h; h = h->next) {
		if (strcasecmp(h->name, name) != 0 || (skip_v4 && fib_address_is_v4(&h->address)))
			continue;
		one = ask(q, &h->address);
		rc = one == EAI_NONAME ? rc : one;
		if (rc && rc != EAI_NONAME)
			break;
	}
	return rc;
}

static int ask_localhost(struct question *q)
{
	const struct fib_address v4 = fib_address_loopback(AF_INET);
	const struct fib_address v6 = fib_address_loopback(AF_INET6);
	int rc = 0;

	if (q->hints.ai_family != AF_INET6)
		rc = ask(q, &v4);
	if (rc == 0 && q->hints.ai_family != AF_INET)
		rc = ask(q, &v6);
	return rc;
}

static int ask_name(struct question *q, const char *name)
{
	int rc = ask_table(q, name);

	return rc == EAI_NONAME && !q->found && is_localhost(name) ? ask_localhost(q) : rc;
}

static int name_it(struct addrinfo *found, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return EAI_MEMORY;
	free(found->ai_canonname);
	found->ai_canonname = copy;
	return 0;
}

static int find(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	struct question q = {.service = service, .hints = *hints};
	int rc;

	q.end = &q.found;
	q.hints.ai_flags |= AI_NUMERICHOST;
	/* It would ask which addresses the real host has. */
	q.hints.ai_flags &= ~AI_ADDRCONFIG;
	rc = fib_real()->getaddrinfo(name, service, &q.hints, &q.found);
	if (rc != EAI_NONAME || !name || hints->ai_flags & AI_NUMERICHOST) {
		*ret = rc == 0 ? q.found : *ret;
		return rc;
	}
	q.found = NULL;
	rc = ask_name(&q, name);
	if (rc == 0 && hints->ai_flags & AI_CANONNAME)
		rc = name_it(q.found, name);
	if (rc == 0)
		*ret = q.found;
	else if (q.found)
		freeaddrinfo(q.found);
	return rc;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	const struct addrinfo usual = {.ai_flags = AI_V4MAPPED};

	if (!fib_virtual_here())
		return fib_real()->getaddrinfo(name, service, hints, ret);
	return find(name, service, hints ? hints : &usual, ret);
}

/* -- getnameinfo -- */

static const char *name_of(const struct fib_address *a)
{
	const struct host *h;

	for (h = hosts; h; h = h->next)
		if (fib_address_same_ip(&h->address, a))
			return h->name;
	return fib_address_is_loopback(a) ? "localhost" : NULL;
}

int getnameinfo(const struct sockaddr *at, socklen_t size, char *host, socklen_t host_size,
		char *service, socklen_t service_size, int flags)
{
	struct fib_address a;
	const char *name = NULL;
	int rc;

	if (!fib_virtual_here() || !at || size < sizeof at->sa_family ||
	    (at->sa_family != AF_INET && at->sa_family != AF_INET6))
		return fib_real()->getnameinfo(at, size, host, host_size, service, service_size,
					       flags);
	if (!(flags & NI_NUMERICHOST) && fib_address_read(at, size, at->sa_family, &a) == 0)
		name = name_of(&a);
	if (!name && flags & NI_NAMEREQD)
		return EAI_NONAME;
	rc = fib_real()->getnameinfo(at, size, host, host_size, service, service_size,
				     (flags | NI_NUMERICHOST) & ~NI_NAMEREQD);
	if (rc == 0 && name && host &&
	    (size_t)snprintf(host, host_size, "%s", name) >= (size_t)host_size)
		rc = EAI_OVERFLOW;
	return rc;
}
