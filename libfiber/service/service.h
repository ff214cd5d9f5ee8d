/* SPDX-License-Identifier: MIT */
/*
 * service.h - the service thread: the one thread beside the carriers
 *
 * It keeps the coarse clock, answers the control socket and runs the watchdog for long runs. There
 * is one per process, for all runtimes.
 */
#ifndef FIB_SERVICE_SERVICE_H
#define FIB_SERVICE_SERVICE_H

/*
 * Called by each runtime as it starts and stops. The first starts the thread; the last stops it and
 * removes the socket. path: fiber_runtime_options.control_path (NULL: default, "": none);
 * FIBER_CONTROL and FIBER_CONTROL_PATH in the environment override it. name: shown by the tools. If
 * the control socket cannot be made, one line is printed on stderr and the program goes on. 0,
 * -EAGAIN (no thread), -ENOMEM.
 */
int fib_service_enter(const char *path, const char *name);
void fib_service_leave(void);

#endif
