/* SPDX-License-Identifier: MIT */
/*
 * main.c - fibertest: explore a whole program
 *
 * The exploration happens in the program's own process, by the preloaded libfiber-test.so
 * (preload/start.c). This process waits for it, because a loader that cannot preload only prints a
 * warning. A replay needs no parent that waits: the program takes this process's place, so a debugger
 * that runs fibertest ends up in it.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/options.h"
#include "explore/settings.h"
#include "fibertest/program.h"
#include "preload/preload.h"

#define NAME	"fibertest"
#define LIBRARY "libfiber-test.so"

static const char usage[] = "Usage: %s [OPTION]... [--] PROGRAM [ARG]...\n"
			    "Explore a program that is linked with libfiber.so: each schedule is a "
			    "run of it that must exit with 0.\n"
			    "\n"
			    "%s";

/* The child; 0: not started. */
static volatile pid_t child;

static void set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof text, "%d", value);
	if (setenv(name, text, 1) < 0)
		fib_refuse(NAME, name, strerror(errno));
}

/* The path of the library in the build folder's lib, or where it is installed. */
static void find(char ret[PATH_MAX])
{
	static const char *const folders[] = {"../lib", FIBER_LIBDIR};
	char self[PATH_MAX], path[2 * PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	char *slash;

	if (n < 0)
		fib_refuse(NAME, "/proc/self/exe", strerror(errno));
	self[n] = 0;
	slash = strrchr(self, '/');
	if (slash)
		*slash = 0;
	for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
		if (folders[i][0] == '/')
			snprintf(path, sizeof path, "%s/" LIBRARY, folders[i]);
		else
			snprintf(path, sizeof path, "%s/%s/" LIBRARY, self, folders[i]);
		if (realpath(path, ret))
			return;
	}
	fib_refuse(NAME, path, strerror(errno));
}

/* Put the library before what is preloaded already. */
static void preload(void)
{
	const char *before = getenv("LD_PRELOAD");
	char path[PATH_MAX], *list;

	find(path);
	if (strpbrk(path, " :"))
		fib_refuse(
			NAME, path,
			"the loader takes no path with a blank or a colon; install it elsewhere");
	if (asprintf(&list, "%s%s%s", path, before && *before ? ":" : "", before ? before : "") < 0)
		fib_refuse(NAME, "LD_PRELOAD", strerror(ENOMEM));
	setenv("LD_PRELOAD", list, 1);
	free(list);
}

static void hand_on(char *options[], int n)
{
	char name[64];
	int i;

	set_number(FIB_PRELOAD_OPTIONS, n);
	for (i = 0; i < n; i++) {
		snprintf(name, sizeof name, FIB_PRELOAD_OPTIONS "_%d", i + 1);
		if (setenv(name, options[i], 1) < 0)
			fib_refuse(NAME, name, strerror(errno));
	}
	preload();
}

static _Noreturn void become(const char *path, char *argv[])
{
	execv(path, argv);
	fib_refuse(NAME, path, strerror(errno));
}

/* A terminal sends its signals to the child as well. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (child > 0 && info->si_code != SI_KERNEL)
		kill(child, signal);
}

/* Returns the status of waitpid(). */
static int run(const char *path, char *argv[])
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO}, old[2];
	const pid_t me = getpid();
	sigset_t both, before;
	int status;

	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &before); /* until it is known whom to pass them on to */
	sigaction(SIGINT, &action, &old[0]);
	sigaction(SIGTERM, &action, &old[1]);
	child = fork();
	if (child < 0)
		fib_refuse(NAME, argv[0], strerror(errno));
	if (child == 0) {
		sigaction(SIGINT, &old[0], NULL);
		sigaction(SIGTERM, &old[1], NULL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != me)
			_exit(2);
		become(path, argv);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fib_refuse(NAME, argv[0], strerror(errno));
	return status;
}

static int explore(const char *path, char *argv[])
{
	const int loaded = memfd_create("fibertest", 0);
	int status;

	if (loaded < 0)
		fib_refuse(NAME, argv[0], strerror(errno));
	set_number(FIB_PRELOAD_LOADED, loaded);
	status = run(path, argv);
	if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM))
		return 128 + WTERMSIG(status);
	if (lseek(loaded, 0, SEEK_END) < 1)
		fib_refuse(NAME, argv[0], "libfiber-test.so was not loaded into it");
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, NAME ": %.80s: ended by signal %d (%s)\n", argv[0], WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 2;
}

int main(int argc, char *argv[])
{
	char path[PATH_MAX];
	const char *why;
	int i, n;

	argv[0] = (char *)(uintptr_t)NAME;
	for (i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			printf(usage, NAME, fib_options_help);
			return 0;
		}
		if (strcmp(argv[i], "--version") == 0) {
			puts(NAME " " FIBER_VERSION);
			return 0;
		}
		if (!fib_option_take(argc, argv, &i))
			fib_refuse(NAME, argv[i], "no such option; see --help");
	}
	n = i - 1;
	i += i < argc && strcmp(argv[i], "--") == 0;
	if (i >= argc)
		fib_refuse(NAME, "PROGRAM", "is missing; see --help");
	fib_settings_read_environment();
	why = fib_program_find(argv[i], path);
	if (!why)
		why = fib_program_refusal(path);
	if (why)
		fib_refuse(NAME, argv[i], why);
	hand_on(argv + 1, n);
	if (fib_settings()->replay)
		become(path, argv + i);
	return explore(path, argv + i);
}
