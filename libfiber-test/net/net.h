/* SPDX-License-Identifier: MIT */
/*
 * net.h - the network of a schedule, which has one host and ends with the schedule
 *
 * fib_net_end() closes the sockets that the schedule has left open. By the thread that explores.
 */
#ifndef FIB_TEST_NET_NET_H
#define FIB_TEST_NET_NET_H

void fib_net_begin(void);
/* Close what closed connections keep open (net/open.c). Before descriptors are counted. */
void fib_net_settle(void);
void fib_net_end(void);

#endif
