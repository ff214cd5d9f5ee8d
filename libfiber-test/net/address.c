/* SPDX-License-Identifier: MIT */
/* address.c - addresses of the internet families */
#include "net/address.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

#define V6_MIN offsetof(struct sockaddr_in6, sin6_scope_id) /* without the scope: RFC 2133 */

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

static struct fib_address of_v4(uint32_t ip, uint16_t port)
{
	struct fib_address a = {.port = ntohs(port)};

	memcpy(a.ip, v4_prefix, sizeof v4_prefix);
	memcpy(a.ip + sizeof v4_prefix, &ip, sizeof ip);
	return a;
}

struct fib_address fib_address_none(int family)
{
	return family == AF_INET ? of_v4(INADDR_ANY, 0) : (struct fib_address){{0}, 0, 0};
}

struct fib_address fib_address_loopback(int family)
{
	struct fib_address a = {{0}, 0, 0};

	if (family == AF_INET)
		return of_v4(htonl(INADDR_LOOPBACK), 0);
	a.ip[15] = 1;
	return a;
}

int fib_address_read(const struct sockaddr *at, socklen_t size, int family, struct fib_address *ret)
{
	struct sockaddr_in v4;
	struct sockaddr_in6 v6 = {0};

	if (!at || size < sizeof(sa_family_t))
		return -EINVAL;
	if (family == AF_INET) {
		if (size < sizeof v4)
			return -EINVAL;
		memcpy(&v4, at, sizeof v4);
		if (v4.sin_family != AF_INET)
			return -EAFNOSUPPORT;
		*ret = of_v4(v4.sin_addr.s_addr, v4.sin_port);
		return 0;
	}
	if (size < V6_MIN)
		return -EINVAL;
	memcpy(&v6, at, size < sizeof v6 ? size : sizeof v6);
	if (v6.sin6_family != AF_INET6)
		return -EAFNOSUPPORT;
	memcpy(ret->ip, &v6.sin6_addr, sizeof ret->ip);
	ret->port = ntohs(v6.sin6_port);
	ret->scope = v6.sin6_scope_id;
	return 0;
}

void fib_address_write(const struct fib_address *a, int family, struct sockaddr *at,
		       socklen_t *size)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(a->port)};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(a->port), .sin6_scope_id = a->scope};
	const void *from = &v6;
	socklen_t full = sizeof v6;

	if (!at || !size)
		return;
	memcpy(&v6.sin6_addr, a->ip, sizeof a->ip);
	if (family == AF_INET) {
		memcpy(&v4.sin_addr, a->ip + sizeof v4_prefix, sizeof v4.sin_addr);
		from = &v4;
		full = sizeof v4;
	}
	memcpy(at, from, *size < full ? *size : full);
	*size = full;
}

bool fib_address_is_v4(const struct fib_address *a)
{
	return memcmp(a->ip, v4_prefix, sizeof v4_prefix) == 0;
}

bool fib_address_same_ip(const struct fib_address *a, const struct fib_address *b)
{
	return memcmp(a->ip, b->ip, sizeof a->ip) == 0;
}

bool fib_address_is_any(const struct fib_address *a)
{
	const struct fib_address v4 = fib_address_none(AF_INET), v6 = fib_address_none(AF_INET6);

	return fib_address_same_ip(a, &v4) || fib_address_same_ip(a, &v6);
}

bool fib_address_is_loopback(const struct fib_address *a)
{
	const struct fib_address v6 = fib_address_loopback(AF_INET6);

	return fib_address_is_v4(a) ? a->ip[12] == 127 : fib_address_same_ip(a, &v6);
}
