/* SPDX-License-Identifier: MIT */
/*
 * start.c - take a program over before its main(); only in libfiber-test.so
 *
 * The C library starts a program by __libc_start_main(), which the program calls by name, so a
 * preloaded definition goes before. Ours hands on a main() that explores the program's. It is called
 * after all constructors, in the one process that everything is then forked from.
 *
 * A program that is not linked with libfiber.so is started as ever: a debugger or a shell that was
 * given LD_PRELOAD for another program keeps it for that one.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fiber/test.h>

#include "api/options.h"
#include "explore/whole.h"
#include "preload/preload.h"

typedef int main_fn(int argc, char **argv, char **envp);
typedef int start_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void),
		     void *);

/* The program. */
static struct {
	main_fn *main;
	int argc;
	char **argv, **envp;
} program;

static int is_libfiber(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *slash = strrchr(info->dlpi_name, '/');

	(void)size;
	(void)arg;
	return strncmp(slash ? slash + 1 : info->dlpi_name, "libfiber.so.", 12) == 0;
}

static void run_program(void *arg)
{
	(void)arg;
	exit(program.main(program.argc, program.argv, program.envp));
}

/* The program's own processes are not explored: take this library out of LD_PRELOAD. */
static void leave_preload(void)
{
	char *list = getenv("LD_PRELOAD"), *rest, *at = NULL, *one;
	Dl_info self;
	size_t size;
	FILE *out;

	if (!list || !dladdr(&program, &self))
		return;
	list = strdup(list);
	out = list ? open_memstream(&rest, &size) : NULL;
	if (!out)
		fib_refuse("fibertest", "LD_PRELOAD", strerror(ENOMEM));
	for (one = strtok_r(list, ": ", &at); one; one = strtok_r(NULL, ": ", &at))
		if (strcmp(one, self.dli_fname) != 0)
			fprintf(out, "%s%s", ftell(out) ? ":" : "", one);
	fclose(out);
	if (size)
		setenv("LD_PRELOAD", rest, 1);
	else
		unsetenv("LD_PRELOAD");
	free(rest);
	free(list);
}

/* Tell fibertest that the library was loaded. */
static void report_in(void)
{
	const char *fd = getenv(FIB_PRELOAD_LOADED);

	if (!fd)
		return;
	if (write(atoi(fd), "", 1) != 1)
		fib_refuse("fibertest", program.argv[0], strerror(errno));
	close(atoi(fd));
	unsetenv(FIB_PRELOAD_LOADED);
}

/* The options that fibertest was given, after its name. */
static char **take_options(int *ret_n)
{
	const char *count = getenv(FIB_PRELOAD_OPTIONS), *value;
	const int n = count ? atoi(count) : 0;
	char **options = calloc((size_t)n + 2, sizeof *options), name[64];
	int i;

	if (!options)
		fib_refuse("fibertest", program.argv[0], strerror(ENOMEM));
	options[0] = (char *)(uintptr_t) "fibertest";
	for (i = 1; i <= n; i++) {
		snprintf(name, sizeof name, FIB_PRELOAD_OPTIONS "_%d", i);
		value = getenv(name);
		options[i] = value ? strdup(value) : NULL;
		if (!options[i])
			fib_refuse("fibertest", name, "is missing");
		unsetenv(name);
	}
	unsetenv(FIB_PRELOAD_OPTIONS);
	*ret_n = n + 1;
	return options;
}

static int count_threads(void)
{
	DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;
	int n = 0;

	while (threads && (entry = readdir(threads)))
		n += entry->d_name[0] != '.';
	if (threads)
		closedir(threads);
	return n;
}

static int explore(int argc, char **argv, char **envp)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .flags = FIBER_TEST_ISOLATE};
	const char *const slash = strrchr(argv[0], '/');
	struct fiber_test_case whole = {
		.name = slash ? slash + 1 : argv[0],
		.fn = run_program,
		.options = &options,
	};
	char **words;
	int n;

	program.argc = argc;
	program.argv = argv;
	program.envp = envp;
	report_in();
	words = take_options(&n);
	leave_preload();
	if (count_threads() > 1)
		fib_refuse("fibertest", argv[0],
			   "it has more than one thread before main(), and only one is forked");
	fib_whole_set();
	return fiber_test_main(n, words, &whole, 1);
}

int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);
__attribute__((visibility("default"))) int __libc_start_main(main_fn *main, int argc, char **argv,
							     void (*init)(void), void (*fini)(void),
							     void (*rtld_fini)(void),
							     void *stack_end)
{
	start_fn *start = (start_fn *)(uintptr_t)dlsym(RTLD_NEXT, "__libc_start_main");
	const bool explored = getenv(FIB_PRELOAD_OPTIONS) || dl_iterate_phdr(is_libfiber, NULL);

	if (!start)
		abort();
	program.main = main;
	return start(explored ? explore : main, argc, argv, init, fini, rtld_fini, stack_end);
}
