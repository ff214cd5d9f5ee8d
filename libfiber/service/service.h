/* SPDX-License-Identifier: MIT */
/*
 * service.h - the one thread beside the carriers
 *
 * It keeps the coarse clock, answers the control socket and, later, watches for long runs. There is one per
 * process, however many runtimes run.
 */
#ifndef FIB_SERVICE_SERVICE_H
#define FIB_SERVICE_SERVICE_H

/*
 * Called by each runtime as it starts and stops; the first starts the thread, the last stops it and
 * removes the socket. path: fiber_runtime_options.control_path (NULL: default, "": none); FIBER_CONTROL and
 * FIBER_CONTROL_PATH in the environment win over it. name: shown by the tools. A control socket that cannot
 * be made is reported in one line on stderr and does not stop the program. 0, -EAGAIN without a thread, -ENOMEM.
 */
int fib_service_enter(const char *path, const char *name);
void fib_service_leave(void);

#endif
