/* SPDX-License-Identifier: MIT */
/* threads.h - count the threads of this process by name */
#ifndef HARNESS_THREADS_H
#define HARNESS_THREADS_H

/*
 * The number of threads of this process with this name. A thread that sets its own name has
 * started. A fork while another thread is starting may leave a lock held forever in the child
 * (watchdog.c).
 */
unsigned harness_threads_called(const char *name);

#endif
