/* SPDX-License-Identifier: MIT */
/* address.h - addresses of the internet families, IPv4 as part of IPv6 */
#ifndef FIB_TEST_NET_ADDRESS_H
#define FIB_TEST_NET_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct fib_address {
	uint8_t ip[16]; /* IPv4: ::ffff:a.b.c.d */
	uint16_t port;	/* of this machine's byte order */
	uint32_t scope;
};

/* The address of a socket of this family that is not bound: 0.0.0.0 or ::, port 0. */
struct fib_address fib_address_none(int family);
struct fib_address fib_address_loopback(int family);

/*
 * Read an address that the program passed for a socket of this family. 0; -EINVAL: too short;
 * -EAFNOSUPPORT: of another family.
 */
int fib_address_read(const struct sockaddr *at, socklen_t size, int family,
		     struct fib_address *ret);

/* Write it for the program, cut to *size bytes; *size is then its full length. at NULL: nothing. */
void fib_address_write(const struct fib_address *a, int family, struct sockaddr *at,
		       socklen_t *size);

bool fib_address_is_v4(const struct fib_address *a);
bool fib_address_is_any(const struct fib_address *a); /* 0.0.0.0 or :: */
bool fib_address_is_loopback(const struct fib_address *a);
bool fib_address_same_ip(const struct fib_address *a, const struct fib_address *b);

#endif
