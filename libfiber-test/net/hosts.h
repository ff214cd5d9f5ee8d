/* SPDX-License-Identifier: MIT */
/* hosts.h - the names and addresses of the network in which a schedule lives */
#ifndef FIB_TEST_NET_HOSTS_H
#define FIB_TEST_NET_HOSTS_H

#include "net/address.h"

/* Forget what fiber_test_host() has named. */
void fib_hosts_clear(void);

/* Whether this host has the address: a loopback one, or one that fiber_test_host() has named. */
bool fib_hosts_has(const struct fib_address *a);

#endif
