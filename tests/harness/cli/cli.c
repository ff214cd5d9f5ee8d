/* SPDX-License-Identifier: MIT */
/* cli.c - run the tools and the fixtures in tests of the command line */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"

#define MOST_ARGUMENTS 16

/* Build an argv of MOST_ARGUMENTS + 2 entries from a variadic call; path is a buffer for the
 * program's path. */
static void collect(const char **argv, char *path, const char *program, va_list ap)
{
	int n = 1;

	argv[0] = *program == '/' ? program : harness_program(path, program);
	while ((argv[n] = va_arg(ap, const char *)))
		assert_true(++n <= MOST_ARGUMENTS);
}

struct harness_process *cli_run(const char *program, ...)
{
	const char *argv[MOST_ARGUMENTS + 2];
	char path[HARNESS_PATH];
	va_list ap;

	va_start(ap, program);
	collect(argv, path, program, ap);
	va_end(ap);
	return harness_run(argv, NULL, CLI_SECONDS);
}

struct harness_process *cli_run_how(const struct harness_how *how, const char *program, ...)
{
	const char *argv[MOST_ARGUMENTS + 2];
	char path[HARNESS_PATH];
	va_list ap;

	va_start(ap, program);
	collect(argv, path, program, ap);
	va_end(ap);
	return harness_run(argv, how, CLI_SECONDS);
}

struct harness_process *cli_start(const struct harness_how *how, const char *ready,
				  const char *program, ...)
{
	const char *argv[MOST_ARGUMENTS + 2];
	struct harness_process *p;
	char path[HARNESS_PATH];
	va_list ap;

	va_start(ap, program);
	collect(argv, path, program, ap);
	va_end(ap);
	p = harness_start(argv, how);
	if (!harness_wait_line(p, ready, CLI_SECONDS)) {
		print_error("%s never said '%s'\n%s%s", argv[0], ready, p->out.bytes, p->err.bytes);
		fail();
	}
	return p;
}

/* The end of a long answer says what is missing in it. */
static const char *last_of(const struct harness_text *text, size_t most)
{
	return text->bytes + (text->size > most ? text->size - most : 0);
}

void cli_expect(const struct harness_process *p, int code)
{
	if (harness_exit_code(p) == code)
		return;
	print_error("exit status %d instead of %d%s\n", harness_exit_code(p), code,
		    p->timed_out ? ", after its time was over" : "");
	print_error("--- stderr\n%s\n", last_of(&p->err, 900));
	print_error("--- the end of stdout\n%s\n---\n", last_of(&p->out, 900));
	assert_int_equal(harness_exit_code(p), code);
}

void cli_contains(const char *text, const char *what)
{
	if (strstr(text, what))
		return;
	print_error("'%s' is not in:\n%.4000s\n", what, text);
	fail();
}

void cli_ended(struct harness_process *p, int code)
{
	cli_expect(p, code);
	harness_free(p);
}

void cli_expect_error(struct harness_process *p, int code, const char *tool, const char *what)
{
	char prefix[64];

	cli_expect(p, code);
	snprintf(prefix, sizeof(prefix), "%s: ", tool);
	cli_contains(p->err.bytes, prefix);
	cli_contains(p->err.bytes, what);
	harness_free(p);
}

const char *cli_gone(void)
{
	struct harness_process *p = harness_run((const char *[]){"true", NULL}, NULL, 10);
	const char *const number = cli_number((uint64_t)p->pid);

	harness_free(p);
	return number;
}

struct harness_process *cli_without_fibers(void)
{
	return harness_start((const char *[]){"sleep", "100", NULL}, NULL);
}

const char *cli_number(uint64_t number)
{
	static char text[8][24];
	static unsigned turn;

	turn = (turn + 1) % 8;
	snprintf(text[turn], sizeof(text[turn]), "%" PRIu64, number);
	return text[turn];
}

char cli_state(pid_t pid)
{
	char path[64], letter = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &letter), 1);
	fclose(file);
	return letter;
}

bool cli_stopped(void *pid)
{
	return cli_state(*(pid_t *)pid) == 'T';
}

void cli_skip(const char *why)
{
	print_message("# skipped: %s\n", why);
	skip();
}

void cli_core(pid_t pid, const char *name, char *buf)
{
	char base[HARNESS_PATH], made[HARNESS_PATH + 16];
	const char *const argv[] = {"gcore", "-o", harness_file(base, name),
				    cli_number((uint64_t)pid), NULL};
	struct harness_process *p = harness_run(argv, NULL, CLI_SECONDS);

	/* gcore appends the pid to the file name; its exit status is meaningless. */
	snprintf(made, sizeof(made), "%s.%d", base, pid);
	if (access(made, R_OK)) {
		print_error("gcore made no core:\n%s%s", p->out.bytes, p->err.bytes);
		fail();
	}
	assert_int_equal(rename(made, base), 0);
	strcpy(buf, base);
	harness_free(p);
}

int cli_attach(pid_t pid)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char path[HARNESS_PATH], name[64];
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(name, sizeof(name), "fiber/%d.sock", pid);
	harness_file(path, name);
	assert_true(strlen(path) < sizeof(at.sun_path));
	strcpy(at.sun_path, path);
	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}
