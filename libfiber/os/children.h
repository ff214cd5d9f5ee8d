/* SPDX-License-Identifier: MIT */
/* children.h - child processes. Leaves that return the negative errno, like os.h. */
#ifndef FIB_OS_CHILDREN_H
#define FIB_OS_CHILDREN_H

#include <sys/types.h>

/* waitpid(2) that does not wait: the pid and *ret_status, 0 when no child has anything to tell, -ECHILD, -EINVAL. */
int fib_os_child_try(pid_t pid, int *ret_status, int options);

/* Wait until fib_os_child_try() with the same arguments has something to say; takes nothing. 0, or a negative errno,
 * which that will say too. A cancellation point, where whoever is ended leaves everything as it was. */
int fib_os_child_watch(pid_t pid, int options);

/* A descriptor, close-on-exec, of a child that has not been waited for; readable once it has ended. -ESRCH when there is
 * none, -ENOSYS, -EMFILE, ... */
int fib_os_child_open(pid_t pid);

/* fib_os_child_try() for the child behind the descriptor, and for no other that has its pid by now. */
int fib_os_child_try_open(int fd, int *ret_status, int options);

#endif
