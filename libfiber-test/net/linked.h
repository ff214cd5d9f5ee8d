/* SPDX-License-Identifier: MIT */
/*
 * linked.h - files that take the place of functions of libc are linked in any case
 *
 * A linker takes a file from an archive only for a symbol that nothing before it defines, and the
 * library of a sanitizer, which comes first, defines many of libc's functions. So each such file
 * defines one more name, for which net.c asks.
 */
#ifndef FIB_TEST_NET_LINKED_H
#define FIB_TEST_NET_LINKED_H

extern const char fib_net_checked, fib_net_connect, fib_net_endpoint, fib_net_hosts,
	fib_net_multiplex, fib_net_open, fib_net_options, fib_net_transfer;

#endif
