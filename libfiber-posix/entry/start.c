/* SPDX-License-Identifier: MIT */
/*
 * start.c - start an unmodified program with its threads as fibers
 *
 * fiberize(1) preloads this library and sets FIBERIZE. The C library calls main() through
 * __libc_start_main(), after all constructors. Then main() runs in a fiber, and pthread_create() makes
 * fibers. The first thread waits for them. The system delivers the process's signals to it, because
 * carriers block them.
 *
 * In the shared library alone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/fiber.h>
#include <fiber/runtime.h>
#include <fiber/time.h>

#include "entry/entry.h"
#include "layout/own_tls.h"
#include "system/find.h"
#include "threads/thread.h"

typedef int main_fn(int argc, char **argv, char **envp);

static struct program {
	main_fn *main;
	int argc;
	char **argv;
} program;

/*
 * What fiberize(1) was asked for: "CARRIERS STACK-BYTES [LONG-RUN-NS [CARRIERS-MAX [TRIM-NS]]]". False: nothing.
 */
static bool read_options(struct fiber_runtime_options *ret)
{
	const char *text = getenv("FIBERIZE");

	return text &&
	       sscanf(text, "%u %zu %" SCNd64 " %u %" SCNd64, &ret->carriers, &ret->stack_size,
		      &ret->long_run_ns, &ret->carriers_max, &ret->trim_waiting_ns) >= 2;
}

static _Noreturn void refuse(const char *why)
{
	fprintf(stderr, "fiberize: %s: %s\n", program_invocation_short_name, why);
	_exit(126);
}

static void leave_home(void *arg)
{
	(void)arg;
	fpx_home_leave();
}

/* A return from main() is a call of exit(); one of pthread_exit() leaves the other threads running. */
static void *run_main(void *arg)
{
	fpx_home_serve(fiber_self());
	pthread_cleanup_push(leave_home, NULL);
	exit(program.main(program.argc, program.argv, environ));
	pthread_cleanup_pop(0);
	return arg;
}

static int run_in_fibers(int argc, char **argv, char **envp)
{
	struct fiber_runtime_options options = {.size = sizeof options,
						.pinned_policy = FIBER_PINNED_SILENT,
						.long_run_ns = -1,
						.name = program_invocation_short_name};
	struct fiber_runtime *rt;
	const char *why;
	pthread_t thread;
	int rc;

	(void)envp;
	program.argc = argc;
	program.argv = argv;
	read_options(&options);
	rc = fiber_runtime_start(&options, &rt);
	if (rc < 0)
		refuse(strerror(-rc));
	if (fiber_own_tls_check(&why) < 0)
		refuse(why);
	fpx_thread_adopt(rt, options.stack_size);
	fpx_home_begin();
	rc = fpx_thread_create(&thread, NULL, run_main, NULL);
	if (rc)
		refuse(strerror(rc));
	fiber_set_name(fpx_thread_fiber(thread), "main");
	fpx_home_stay();
	fiber_runtime_finish(rt, FIBER_FOREVER);
	return 0;
}

typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		     void (*loader_fini)(void), void *stack_end);

FPX_ENTRY int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
				void (*fini)(void), void (*loader_fini)(void), void *stack_end);

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*loader_fini)(void), void *stack_end)
{
	start_fn *native = NULL;
	struct fiber_runtime_options options;

	if (!fpx_find("__libc_start_main", &native))
		_exit(126); /* no C library that this library was made for */
	if (read_options(&options)) {
		program.main = main;
		main = run_in_fibers;
	}
	return native(main, argc, argv, init, fini, loader_fini, stack_end);
}
