/* SPDX-License-Identifier: MIT */
/* terminal.c - run a tool on a pseudoterminal */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include "tests/harness/cli/terminal.h"
#include "tests/harness/clock.h"

#define MOST_ARGUMENTS 16

static void become(const struct terminal *t, const char *kind, const char *const argv[])
{
	/* The tool ends when the test ends. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(t->keys);
	if (login_tty(t->lines) || setenv("TERM", kind, 1) ||
	    setenv("XDG_RUNTIME_DIR", harness_folder(), 1))
		_exit(126);
	execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(127);
}

struct terminal *terminal_start(const char *kind, const char *program, ...)
{
	const struct winsize size = {.ws_row = 40, .ws_col = 120};
	struct terminal *t = calloc(1, sizeof(*t));
	const char *argv[MOST_ARGUMENTS + 2];
	char path[HARNESS_PATH];
	va_list ap;
	int n = 1;

	assert_non_null(t);
	argv[0] = *program == '/' ? program : harness_program(path, program);
	va_start(ap, program);
	while ((argv[n] = va_arg(ap, const char *)))
		assert_true(++n <= MOST_ARGUMENTS);
	va_end(ap);
	assert_int_equal(openpty(&t->keys, &t->lines, NULL, NULL, &size), 0);
	assert_int_equal(tcgetattr(t->lines, &t->before), 0);
	t->pid = fork();
	assert_true(t->pid >= 0);
	if (!t->pid)
		become(t, kind, argv);
	return t;
}

void terminal_resize(struct terminal *t, unsigned short rows, unsigned short columns)
{
	const struct winsize size = {.ws_row = rows, .ws_col = columns};

	assert_int_equal(ioctl(t->keys, TIOCSWINSZ, &size), 0);
}

void terminal_type(struct terminal *t, const char *keys)
{
	const ssize_t n = (ssize_t)strlen(keys);

	assert_int_equal(write(t->keys, keys, (size_t)n), n);
}

void terminal_forget(struct terminal *t)
{
	t->used = 0;
}

bool terminal_has(const struct terminal *t, const char *text)
{
	return memmem(t->seen, t->used, text, strlen(text)) != NULL;
}

bool terminal_look(struct terminal *t, int ms)
{
	struct pollfd in = {.fd = t->keys, .events = POLLIN};
	ssize_t n;

	if (poll(&in, 1, ms) <= 0 || !(in.revents & POLLIN))
		return false;
	assert_true(t->used < TERMINAL_SEEN);
	n = read(t->keys, t->seen + t->used, TERMINAL_SEEN - t->used);
	if (n > 0)
		t->used += (size_t)n;
	return n > 0;
}

void terminal_await(struct terminal *t, const char *text)
{
	const time_t end = time(NULL) + harness_seconds(CLI_SECONDS);

	while (!terminal_has(t, text)) {
		terminal_look(t, 100);
		if (time(NULL) < end)
			continue;
		print_error("never drawn: %s\n--- what was:\n%.*s\n", text, (int)t->used, t->seen);
		fail();
	}
}

/* Compare field by field: the struct's padding is not initialized. */
static void expect_mode(const struct termios *now, const struct termios *before)
{
	assert_int_equal(now->c_iflag, before->c_iflag);
	assert_int_equal(now->c_oflag, before->c_oflag);
	assert_int_equal(now->c_cflag, before->c_cflag);
	assert_int_equal(now->c_lflag, before->c_lflag);
	assert_memory_equal(now->c_cc, before->c_cc, sizeof(now->c_cc));
}

void terminal_expect_mode(const struct terminal *t)
{
	struct termios now;

	assert_int_equal(tcgetattr(t->lines, &now), 0);
	expect_mode(&now, &t->before);
}

int terminal_end_saying(struct terminal *t, const char *last)
{
	const time_t end = time(NULL) + harness_seconds(CLI_SECONDS);
	int status;
	pid_t pid;

	/* Keep reading: the tool may write more than the terminal holds. */
	while ((pid = waitpid(t->pid, &status, WNOHANG)) == 0) {
		terminal_look(t, 20);
		if (time(NULL) < end)
			continue;
		kill(t->pid, SIGKILL);
		print_error("it did not end\n--- what it drew:\n%.*s\n", (int)t->used, t->seen);
		fail();
	}
	assert_int_equal(pid, t->pid);
	while (terminal_look(t, 0))
		;
	if (!terminal_has(t, last))
		print_error("not said: %s\n--- but:\n%.*s\n", last, (int)t->used, t->seen);
	assert_true(terminal_has(t, last));
	terminal_expect_mode(t);
	close(t->keys);
	close(t->lines);
	free(t);
	return status;
}

int terminal_end(struct terminal *t)
{
	return terminal_end_saying(t, "");
}
