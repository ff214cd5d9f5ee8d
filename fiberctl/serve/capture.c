/* SPDX-License-Identifier: MIT */
/*
 * capture.c - run a command of the tools in a child process and keep its output
 *
 * A command of fiberctl is not executed as a new program: the child is a copy of this process, which
 * calls the same main function. So an answer over HTTP is by construction the answer on the command
 * line. What a command leaks or breaks ends with its process.
 */
#include "fiberctl/serve/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/main.h"

#define MEMORY_MOST (UINT64_C(2) << 30) /* address space of a child; it maps the program's files */

int serve_capture_file(const char *name)
{
	const int fd = memfd_create(name, MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* -- in the child -- */

void serve_capture_close_from(int first, int keep)
{
	unsigned from = (unsigned)first;

	if (keep >= first) {
		if (keep > first)
			syscall(SYS_close_range, from, (unsigned)keep - 1, 0);
		from = (unsigned)keep + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

void serve_capture_settle(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD};
	sigset_t none;
	size_t i;

	for (i = 0; i < sizeof signals / sizeof signals[0]; i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* A terminal's Ctrl-C is for the server, which ends its children. */
	setpgid(0, 0);
}

static void limit(int what, uint64_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0 || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(what, &limit);
}

/* Execute the other tool, which is in the same folder. */
static void execute(char *const argv[])
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	char *name = NULL;

	path[n > 0 ? n : 0] = 0;
	name = strrchr(path, '/');
	if (name && name + 1 + strlen(argv[0]) < path + sizeof path) {
		memcpy(name + 1, argv[0], strlen(argv[0]) + 1);
		execv(path, argv);
	}
	fprintf(stderr, "%s: %s: %s\n", tool->name, path, strerror(errno));
	_exit(2);
}

static void run_child(const struct serve_capture *c, int end, serve_capture_fn *run, void *context,
		      size_t most)
{
	const int null = open("/dev/null", O_RDONLY);
	int code;

	dup2(null, STDIN_FILENO);
	dup2(c->out, STDOUT_FILENO);
	dup2(c->err, STDERR_FILENO);
	serve_capture_close_from(STDERR_FILENO + 1, end);
	serve_capture_settle();
	limit(RLIMIT_FSIZE, most);
	limit(RLIMIT_CORE, 0);
	signal(SIGXFSZ, SIG_IGN); /* a write then fails, and the command reports it */
	code = run(context);
	fflush(stdout);
	_exit(code);
}

/* The address space of this process, bytes; 0: unknown. */
static uint64_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (file && fscanf(file, "%lu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static int run_command(void *context)
{
	char **argv = context;
	int argc = 0;

	if (strcmp(argv[0], tool->name) != 0)
		execute(argv);
	/* A sanitizer has reserved more than that, and could not take any of it. */
	if (address_space() < MEMORY_MOST)
		limit(RLIMIT_AS, MEMORY_MOST);
	while (argv[argc])
		argc++;
	optind = 0; /* getopt starts again */
	return tool_main(tool, argc, argv);
}

/* -- in the parent -- */

int serve_capture_call(struct serve_capture *ret, serve_capture_fn *run, void *context, size_t most)
{
	int end[2];

	*ret = SERVE_NO_CAPTURE;
	ret->out = serve_capture_file("answer");
	ret->err = serve_capture_file("errors");
	if (ret->out < 0 || ret->err < 0 || pipe2(end, 0) < 0) {
		serve_capture_drop(ret);
		return -EMFILE;
	}
	fcntl(end[0], F_SETFD, FD_CLOEXEC);
	fflush(NULL);
	ret->pid = fork();
	if (ret->pid == 0)
		run_child(ret, end[1], run, context, most);
	close(end[1]);
	ret->end = end[0];
	if (ret->pid < 0) {
		ret->pid = 0;
		serve_capture_drop(ret);
		return -EAGAIN;
	}
	return 0;
}

int serve_capture_start(struct serve_capture *ret, char *const argv[], size_t most)
{
	return serve_capture_call(ret, run_command, (void *)(uintptr_t)argv, most);
}

static int reap(struct serve_capture *c)
{
	struct stat file;
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	if (fstat(c->out, &file) == 0 && file.st_size >= (off_t)SERVE_OUTPUT_MOST)
		return -EFBIG;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -ECHILD;
}

int serve_capture_wait(struct serve_capture *c, int64_t timeout)
{
	const int64_t until = ins_duration_now() + timeout;
	struct pollfd ended = {.fd = c->end, .events = POLLIN};
	int64_t left;
	int rc;

	do {
		left = until - ins_duration_now();
		rc = poll(&ended, 1, left > 0 ? (int)(left / 1000000) + 1 : 0);
	} while (rc < 0 && errno == EINTR);
	if (rc > 0)
		return reap(c);
	kill(c->pid, SIGKILL);
	reap(c);
	return -ETIMEDOUT;
}

char *serve_capture_read(int fd, size_t *ret_size)
{
	struct stat file = {0};
	char *bytes;
	ssize_t n = 1;
	size_t size = 0, all;

	*ret_size = 0;
	if (fstat(fd, &file) < 0)
		return NULL;
	all = (size_t)file.st_size;
	bytes = malloc(all + 1);
	while (bytes && size < all && n > 0) {
		n = pread(fd, bytes + size, all - size, (off_t)size);
		size += n > 0 ? (size_t)n : 0;
	}
	if (bytes)
		bytes[size] = 0;
	*ret_size = size;
	return bytes;
}

const char *serve_capture_line(const char *printed, char *buf, size_t size)
{
	char line[1024];

	snprintf(line, sizeof line, "%.*s", (int)strcspn(printed, "\n"), printed);
	return ins_escape(line, buf, size);
}

static void shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void serve_capture_drop(struct serve_capture *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		reap(c);
	}
	shut(&c->out);
	shut(&c->err);
	shut(&c->end);
}
