/* SPDX-License-Identifier: MIT */
/*
 * child.c - run code that aborts, faults or exceeds a limit in a child process
 *
 * A limit is the current use plus a margin: a sanitizer's shadow alone takes terabytes of address
 * space.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/child.h"
#include "tests/harness/clock.h"

static void give_up(const char *what)
{
	fprintf(stderr, "# harness: %s: %s\n", what, strerror(errno));
	abort();
}

static _Noreturn void live(int (*fn)(void *arg), void *arg, int err)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGTERM};
	const struct rlimit none = {0, 0};
	sigset_t empty;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		signal(faults[i], SIG_DFL);
	sigemptyset(&empty);
	sigprocmask(SIG_SETMASK, &empty, NULL);
	if (dup2(err, STDERR_FILENO) < 0)
		_exit(255);
	close(err);
	_exit(fn(arg));
}

/* Read fd until its end. False if the end did not come within `seconds`. */
static bool collect(int fd, int seconds, char *text, size_t size)
{
	const time_t until = time(NULL) + harness_seconds(seconds);
	struct pollfd p = {fd, POLLIN, 0};
	char rest[512];
	size_t at = 0;

	for (;;) {
		const time_t left = until - time(NULL);
		ssize_t n;

		if (left <= 0)
			return false;
		if (poll(&p, 1, (int)left * 1000) <= 0)
			continue;
		n = at < size - 1 ? read(fd, text + at, size - 1 - at)
				  : read(fd, rest, sizeof(rest));
		if (n == 0)
			return true;
		if (n > 0 && at < size - 1)
			at += (size_t)n;
	}
}

void harness_child(int (*fn)(void *arg), void *arg, int seconds, struct harness_child *ret)
{
	int fds[2], status;
	pid_t pid;

	memset(ret, 0, sizeof(*ret));
	fflush(NULL);
	if (pipe(fds))
		give_up("pipe");
	pid = fork();
	if (pid < 0)
		give_up("fork");
	if (pid == 0) {
		close(fds[0]);
		live(fn, arg, fds[1]);
	}
	close(fds[1]);
	if (!collect(fds[0], seconds, ret->text, sizeof(ret->text))) {
		fprintf(stderr, "# harness: the child is still running after %d s: killed\n",
			seconds);
		kill(pid, SIGKILL);
	}
	close(fds[0]);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			give_up("waitpid");
	ret->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* The value of a field of /proc/self/status, in bytes. */
static size_t used(const char *name)
{
	FILE *const file = fopen("/proc/self/status", "re");
	size_t kilobytes = 0, length = strlen(name);
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, name, length))
			kilobytes = strtoull(line + length, NULL, 10);
	if (!file || !kilobytes)
		give_up(name);
	fclose(file);
	return kilobytes * 1024;
}

static void limit(int resource, const char *name, size_t more)
{
	struct rlimit limits;

	if (getrlimit(resource, &limits))
		give_up(name);
	limits.rlim_cur = more == SIZE_MAX ? limits.rlim_max : used(name) + more;
	if (setrlimit(resource, &limits))
		give_up(name);
}

void harness_limit_space(size_t more)
{
	limit(RLIMIT_AS, "VmSize:", more);
}

void harness_limit_data(size_t more)
{
	limit(RLIMIT_DATA, "VmData:", more);
}
