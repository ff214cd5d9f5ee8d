/* SPDX-License-Identifier: MIT */
/* child.c - wait for child processes */
#include <sys/wait.h>

#include <fiber/io.h>
#include <fiber/posix.h>
#include <fiber/time.h>

#include "call/park.h"
#include "system/system.h"

pid_t fiber_posix_waitpid(pid_t pid, int *ret_status, int options)
{
	if (options & WNOHANG || !fpx_parks())
		return fpx_system.waitpid(pid, ret_status, options);
	return (pid_t)fpx_result(fiber_waitpid(pid, ret_status, options, FIBER_FOREVER));
}

pid_t fiber_posix_wait(int *ret_status)
{
	return fpx_parks() ? fiber_posix_waitpid(-1, ret_status, 0) : fpx_system.wait(ret_status);
}
