/* SPDX-License-Identifier: MIT */
/* test_progress.c - the progress line appears on a terminal after a second, and nowhere else */
#include "inspect/text/progress.h"

#include <pty.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"

static int behind, saved;

/* Make stderr a terminal or a pipe; its output can be read from `behind`. */
static void redirect(bool terminal)
{
	int ends[2];

	if (terminal)
		assert_int_equal(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
	else
		assert_int_equal(pipe(ends), 0);
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	behind = ends[0];
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
}

static const char *restore(char *buf, size_t size)
{
	size_t used = 0;
	ssize_t n;

	fprintf(stderr, "."); /* an end mark: a terminal may return less than was written */
	fflush(stderr);
	while (!used || buf[used - 1] != '.') {
		n = read(behind, buf + used, size - 1 - used);
		assert_true(n > 0);
		used += (size_t)n;
	}
	buf[used] = 0;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(behind);
	return buf;
}

/* Draw the progress. due: it is time for the next line. */
static void draw(struct ins_progress *p, bool due)
{
	int i;

	if (due)
		p->next = 0;
	for (i = 0; i < 200; i++)
		ins_progress_fibers(p, 423000, 1000000);
}

static void test_a_terminal_gets_one_line_that_goes_again(void **state)
{
	struct ins_progress p;
	char buf[1024];

	(void)state;
	redirect(true);
	ins_progress_begin(&p, "");
	draw(&p, true);
	ins_progress_end(&p);
	assert_string_equal(restore(buf, sizeof buf),
			    "\r423,000 of 1,000,000 fibers\033[K\r\033[K.");
}

static void test_what_is_soon_done_draws_nothing(void **state)
{
	struct ins_progress p;
	char buf[1024];

	(void)state;
	redirect(true);
	ins_progress_begin(&p, "");
	draw(&p, false);
	ins_progress_bytes(&p, 1 << 20);
	ins_progress_end(&p);
	assert_string_equal(restore(buf, sizeof buf), ".");
}

static void test_a_pipe_gets_nothing(void **state)
{
	struct ins_progress p;
	char buf[1024];

	(void)state;
	redirect(false);
	ins_progress_begin(&p, "unpacking");
	draw(&p, true);
	ins_progress_bytes(&p, 1 << 20);
	ins_progress_end(&p);
	assert_string_equal(restore(buf, sizeof buf), ".");
}

/* Other output goes to the same terminal, in whole lines or not, and elsewhere. */
static void test_what_is_printed_goes_before_it(void **state)
{
	struct ins_progress p;
	char buf[1024];

	(void)state;
	redirect(true);
	ins_progress_begin(&p, "");
	p.shared = true;
	draw(&p, true);
	ins_progress_give_way(&p, true);
	ins_progress_give_way(&p, true);
	fputs("printed ", stderr);
	draw(&p, true);
	ins_progress_give_way(&p, false);
	draw(&p, true);
	ins_progress_end(&p);
	assert_string_equal(restore(buf, sizeof buf),
			    "\r423,000 of 1,000,000 fibers\033[K\r\033[Kprinted "
			    "\r423,000 of 1,000,000 fibers\033[K\r\033[K.");
	redirect(true);
	ins_progress_begin(&p, "");
	p.shared = false;
	draw(&p, true);
	ins_progress_give_way(&p, false);
	assert_string_equal(restore(buf, sizeof buf), "\r423,000 of 1,000,000 fibers\033[K.");
}

static void test_bytes_are_counted_too(void **state)
{
	struct ins_progress p;
	char buf[1024];

	(void)state;
	redirect(true);
	ins_progress_begin(&p, "unpacking");
	p.next = 0;
	ins_progress_bytes(&p, UINT64_C(1234) << 20);
	ins_progress_end(&p);
	assert_string_equal(restore(buf, sizeof buf), "\runpacking: 1,234 MiB\033[K\r\033[K.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_terminal_gets_one_line_that_goes_again),
		cmocka_unit_test(test_what_is_soon_done_draws_nothing),
		cmocka_unit_test(test_a_pipe_gets_nothing),
		cmocka_unit_test(test_what_is_printed_goes_before_it),
		cmocka_unit_test(test_bytes_are_counted_too),
	};

	return HEAD_RUN(tests, NULL, NULL);
}
