/* SPDX-License-Identifier: MIT */
/* test_read_file.c - read files whose length is unknown until their end */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/text/read_file.h"
#include "tests/harness/paths.h"

static void test_slurp_reads_a_file_of_proc_that_says_it_is_empty(void **state)
{
	size_t size = 0;
	char *text;

	(void)state;
	assert_int_equal(ins_read_file("/proc/self/maps", &text, &size), 0);
	assert_true(size > 100);
	assert_int_equal(strlen(text), size);
	assert_non_null(strstr(text, "[stack]"));
	free(text);
}

static void test_slurp_reads_every_length_around_its_steps(void **state)
{
	static const size_t lengths[] = {0,	1,     4095,  4096,   4097,   61439,
					 61440, 65535, 65536, 126976, 131073, 1000000};
	char path[HARNESS_PATH], *made, *text;
	size_t i, k, size;
	FILE *file;

	(void)state;
	harness_file(path, "slurped");
	for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		made = malloc(lengths[i] + 1);
		assert_non_null(made);
		for (k = 0; k < lengths[i]; k++)
			made[k] = (char)(k * 31 + k / 251);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(made, 1, lengths[i], file), lengths[i]);
		fclose(file);
		assert_int_equal(ins_read_file(path, &text, &size), 0);
		assert_int_equal(size, lengths[i]);
		assert_memory_equal(text, made, size + 0);
		assert_int_equal(text[size], 0);
		free(text);
		free(made);
	}
}

static void test_slurp_refuses_what_is_not_there_and_what_has_no_end(void **state)
{
	char path[HARNESS_PATH], *text;
	size_t size;
	int fd;

	(void)state;
	assert_int_equal(ins_read_file("/nonexistent/file", &text, &size), -ENOENT);
	assert_int_equal(ins_read_file("/", &text, &size), -EISDIR);
	fd = open(harness_file(path, "endless"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)INS_READ_FILE_MAX + 1), 0);
	close(fd);
	assert_int_equal(ins_read_file(path, &text, &size), -EFBIG);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slurp_reads_a_file_of_proc_that_says_it_is_empty),
		cmocka_unit_test(test_slurp_reads_every_length_around_its_steps),
		cmocka_unit_test(test_slurp_refuses_what_is_not_there_and_what_has_no_end),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
