/* SPDX-License-Identifier: MIT */
/* ports.h - which socket has which port */
#ifndef FIB_TEST_NET_PORTS_H
#define FIB_TEST_NET_PORTS_H

#include "net/sockets.h"

/* The first port that is chosen is 40000 again. */
void fib_ports_begin(void);

/* Bind s to *a, whose port may be 0. 0; -EADDRINUSE; -EADDRNOTAVAIL: no such address here. */
int fib_port_bind(struct fib_socket *s, const struct fib_address *a);

/* Bind s to a free port of any address, if it is not bound. 0; -EADDRNOTAVAIL: none is free. */
int fib_port_choose(struct fib_socket *s);

/* Whether another listener has the port of s, so that s may not listen. */
bool fib_port_is_listened(struct fib_socket *s);

/*
 * The socket to which a connection or a datagram from `from` to *a goes: the one with the most
 * exact address. NULL: none.
 */
struct fib_socket *fib_port_find(const struct fib_socket *from, const struct fib_address *a);

/* The address of this host from which *to is reached. */
struct fib_address fib_port_source(const struct fib_address *to);

/*
 * Complete *to, where it is 0.0.0.0 or ::, which mean this host. 0, or -ENETUNREACH: it is not an
 * address of this host, and there is no other one.
 */
int fib_port_reach(const struct fib_socket *s, struct fib_address *to);

/* Choose what s has not chosen yet of its local address, for a peer at *to, and name it. */
int fib_port_choose_for(struct fib_socket *s, int fd, const struct fib_address *to);

#endif
