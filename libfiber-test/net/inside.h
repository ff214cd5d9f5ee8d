/* SPDX-License-Identifier: MIT */
/*
 * inside.h - whether a descriptor can become ready while no fiber runs
 *
 * It cannot if all its ends are in this process, and the process has no other thread and no child.
 * That is known of internet sockets of the schedule, and of pipes, socket pairs and event
 * descriptors that were made in it and were not passed to another process.
 */
#ifndef FIB_TEST_NET_INSIDE_H
#define FIB_TEST_NET_INSIDE_H

#include <poll.h>
#include <stdbool.h>

void fib_inside_begin(void);

/* These descriptors have just been made. Outside a schedule: nothing. */
void fib_inside_note(const int *fds, unsigned n);

/* Descriptors may leave the process, by a message. */
void fib_inside_opened_up(void);

/* Whether the process is alone: it has one thread and no child, and passed no descriptor on. */
bool fib_inside_alone(void);

/* Whether only this process can make fd ready. */
bool fib_inside_has(int fd);

/* A fiber begins to wait for fd: if another process can make it ready, the schedule uses the outside world. */
void fib_inside_waits(int fd);

#endif
