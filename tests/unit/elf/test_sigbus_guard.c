/* SPDX-License-Identifier: MIT */
/* test_sigbus_guard.c - a file truncated while it is read ends the tool with a message */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/inspect/elf_bytes.h"
#include "tests/harness/inspect/head.h"
#include "inspect/elf/modules.h"
#include "inspect/elf/sigbus_guard.h"
#include "tests/harness/paths.h"

#define BASE UINT64_C(0x7f0000000000)

/* Child process: read a file's bytes, truncate the file, read again. */
static void read_what_is_gone(const char *path, int err)
{
	struct ins_problems problems = {0};
	struct ins_modules *modules;
	char bytes[8];

	dup2(err, STDERR_FILENO);
	ins_sigbus_guard("tool");
	if (ins_modules_new(0, NULL, NULL, &problems, &modules) < 0 ||
	    ins_modules_add(modules, BASE, BASE + 0x8000, 0, 1, path) < 0 ||
	    ins_modules_read(modules, BASE + 0x4000, bytes, sizeof bytes, false) < 0)
		_exit(10);
	if (truncate(path, 64) < 0)
		_exit(11);
	ins_modules_read(modules, BASE + 0x4000, bytes, sizeof bytes, false);
	_exit(12);
}

static void test_a_file_that_is_cut_is_said_and_ends_with_2(void **state)
{
	static struct elf_bytes elf;
	char path[HARNESS_PATH], said[256];
	int ends[2], status;
	pid_t child;
	ssize_t n;

	(void)state;
	elf_start(&elf, ET_DYN);
	elf_append(&elf, NULL, 0x8000);
	elf_add(&elf, PT_LOAD, 0, 0, elf.size);
	elf_write(&elf, harness_file(path, "library.so"), elf.size);
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0)
		read_what_is_gone(path, ends[1]);
	close(ends[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 2);
	n = read(ends[0], said, sizeof said - 1);
	assert_true(n > 0);
	/* The message arrives in pieces. */
	while (n < (ssize_t)sizeof said - 1) {
		const ssize_t more = read(ends[0], said + n, sizeof said - 1 - (size_t)n);

		if (more <= 0)
			break;
		n += more;
	}
	close(ends[0]);
	said[n] = 0;
	assert_int_equal(strncmp(said, "tool: ", 6), 0);
	assert_non_null(strstr(said, "cut while it was read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_that_is_cut_is_said_and_ends_with_2),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
