/* SPDX-License-Identifier: MIT */
/* children.h - child processes; functions return the negative errno, as in os.h */
#ifndef FIB_OS_CHILDREN_H
#define FIB_OS_CHILDREN_H

#include <sys/types.h>

/*
 * waitpid(2) without waiting: the pid and *ret_status; 0: no child has a state to report; -ECHILD,
 * -EINVAL.
 */
int fib_os_child_try(pid_t pid, int *ret_status, int options);

/*
 * Wait until fib_os_child_try() with the same arguments has a result; reaps nothing. 0, or a
 * negative errno, which fib_os_child_try() will return too. A cancellation point: a thread
 * cancelled in it has changed nothing.
 */
int fib_os_child_watch(pid_t pid, int options);

/*
 * Open a descriptor, close-on-exec, of a child that has not been reaped; it is readable once the
 * child has exited. -ESRCH: there is no such child; -ENOSYS, -EMFILE, ...
 */
int fib_os_child_open(pid_t pid);

/*
 * fib_os_child_try() for the child behind the descriptor, not for another process with the same
 * pid.
 */
int fib_os_child_try_open(int fd, int *ret_status, int options);

#endif
