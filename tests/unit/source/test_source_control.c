/* SPDX-License-Identifier: MIT */
/*
 * test_source_control.c - answers over a control socket, good ones and hostile ones
 *
 * The test is the other end. It writes the whole answer into the socket before the request, and
 * closes the connection after it, so a short answer is one of a process that died.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/inspect/head.h"
#include "inspect/source/source.h"
#include "tests/harness/inspect/rows.h"
#include "tests/harness/paths.h"
#include "wire/wire.h"

#define ROOM	  65536
#define TIMEOUT	  INT64_C(2000000000)
#define MAPS_LINE "7f0000000000-7f0000001000 r-xp 00000000 08:01 12   /nonexistent/library\n"

static char path[HARNESS_PATH];
static int listener = -1;
static struct {
	unsigned char at[ROOM];
	size_t size;
} answer;
static struct ins_error error;
static struct ins_summary summary;
static struct ins_fiber seen;
static unsigned char seen_stack[64];
static unsigned fibers, stop_at;
static struct ins_source *source;

static void put(const void *bytes, size_t size)
{
	assert_true(answer.size + size <= ROOM);
	memcpy(answer.at + answer.size, bytes, size);
	answer.size += size;
}

/* Put a frame of up to three parts. */
static void frame(uint16_t type, const void *a, size_t na, const void *b, size_t nb, const void *c,
		  size_t nc)
{
	const struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, type,
					  (uint32_t)(na + nb + nc)};

	put(&h, sizeof h);
	put(a, na);
	put(b, nb);
	put(c, nc);
}

static void put_process(void)
{
	const struct fib_wire_process p = {.pid = 42, .fibers = 1, .now = 5000, .name = "remote"};

	frame(FIB_WIRE_PROCESS, &p, sizeof p, "", 0, "", 0);
}

static void put_layout(void)
{
	struct fib_layout layout;

	rows_layout(&layout);
	frame(FIB_WIRE_LAYOUT, &layout, sizeof layout, "", 0, "", 0);
}

static void put_rows(uint32_t row_size, uint32_t count, size_t really)
{
	const struct fib_wire_rows rows = {row_size, count};
	const struct ins_fiber f = rows_fiber(7, "row");
	unsigned char bytes[2048];

	assert_true(really <= sizeof bytes);
	memset(bytes, 0x55, sizeof bytes);
	memcpy(bytes, &f.row, sizeof f.row);
	frame(FIB_WIRE_ROWS, &rows, sizeof rows, bytes, really, "", 0);
}

static void put_stack(uint32_t row_size, uint32_t stack_size, uint32_t flags)
{
	const struct fib_wire_stack s = {row_size, stack_size, flags, 0};
	const struct ins_fiber f = rows_fiber(7, "stacked");

	frame(FIB_WIRE_STACKS, &s, sizeof s, &f.row, sizeof f.row, "0123456789abcdef", 16);
}

static void put_end(uint64_t total, uint64_t shown, uint64_t problems)
{
	const struct fib_wire_end e = {total, shown, 99, problems};

	frame(FIB_WIRE_END, &e, sizeof e, "", 0, "", 0);
}

static int each(void *context, const struct ins_fiber *fiber)
{
	(void)context;
	seen = *fiber;
	memset(seen_stack, 0, sizeof seen_stack);
	if (fiber->stack) /* read all of it, so that ASan detects reads past the frame */
		memcpy(seen_stack, fiber->stack,
		       fiber->stack_size < sizeof seen_stack ? fiber->stack_size
							     : sizeof seen_stack);
	assert_true(memchr(fiber->row.name, 0, sizeof fiber->row.name) != NULL);
	assert_true(memchr(fiber->row.object_name, 0, sizeof fiber->row.object_name) != NULL);
	fibers++;
	return stop_at == fibers ? 77 : 0;
}

static int ask(const struct ins_request *request)
{
	int fd, rc;

	error.text[0] = 0;
	fibers = 0;
	assert_int_equal(ins_source_open_control(path, 0, TIMEOUT, &error, &source), 0);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_int_equal(send(fd, answer.at, answer.size, MSG_NOSIGNAL), answer.size);
	close(fd);
	rc = ins_source_read(source, request, each, NULL, &summary, &error);
	answer.size = 0;
	return rc;
}

static int ask_all(void)
{
	const struct ins_request all = {0};
	int rc = ask(&all);

	ins_source_close(source);
	return rc;
}

static void expect_error(int rc, const char *why)
{
	assert_int_equal(ask_all(), rc);
	if (!strstr(error.text, why))
		print_error("'%s' is not in '%s'\n", why, error.text);
	assert_non_null(strstr(error.text, why));
}

static void test_a_good_answer_gives_fibers_modules_and_numbers(void **state)
{
	const struct ins_request request = {.stacks = true};

	(void)state;
	put_process();
	put_layout();
	frame(FIB_WIRE_MAPS, MAPS_LINE, 30, "", 0, "", 0); /* pieces that end anywhere */
	frame(FIB_WIRE_MAPS, MAPS_LINE + 30, sizeof MAPS_LINE - 31, "", 0, "", 0);
	put_stack(sizeof(struct fib_row), 16, FIB_WIRE_STACK_CUT);
	frame(0x7777, "of a later version", 18, "", 0, "", 0);
	put_end(3, 1, 0);
	assert_int_equal(ask(&request), 0);
	assert_int_equal(fibers, 1);
	assert_int_equal(seen.row.id, 7);
	assert_int_equal(seen.now, 5000);
	assert_int_equal(seen.flags, INS_FIBER_CUT);
	assert_string_equal((const char *)seen_stack, "0123456789abcdef");
	assert_int_equal(summary.total, 3);
	assert_int_equal(summary.shown, 1);
	assert_int_equal(summary.sampled_ns, 99);
	assert_string_equal(source->name, "remote");
	assert_int_equal(source->modules->count, 1);
	assert_int_equal(ins_problems_lines(&source->problems), 0);
	ins_source_close(source);
}

static void test_rows_of_other_versions_are_longer_or_shorter(void **state)
{
	(void)state;
	put_layout();
	put_rows(16, 1, 16);
	put_rows(sizeof(struct fib_row) + 64, 2, 2 * (sizeof(struct fib_row) + 64));
	put_end(3, 3, 0);
	assert_int_equal(ask_all(), 0);
	assert_int_equal(fibers, 3);
}

static void test_what_the_process_could_not_read_is_a_problem(void **state)
{
	const struct ins_request all = {0};
	char text[256];

	(void)state;
	put_layout();
	put_end(2, 0, 2);
	assert_int_equal(ask(&all), 0);
	assert_non_null(
		strstr(ins_problems_text(&source->problems, 0, text, sizeof text), "2 fibers"));
	ins_source_close(source);
}

static void test_frames_that_lie_about_their_contents_are_refused(void **state)
{
	(void)state;
	put_layout();
	put_rows(sizeof(struct fib_row), 2, sizeof(struct fib_row));
	expect_error(-EPROTO, "more rows than bytes");
	put_layout();
	put_rows(0, 1000000, 0);
	expect_error(-EPROTO, "more rows than bytes");
	put_layout();
	put_rows(UINT32_MAX, UINT32_MAX, 100);
	expect_error(-EPROTO, "more rows than bytes");
	put_layout();
	put_stack(sizeof(struct fib_row), 17, 0);
	expect_error(-EPROTO, "larger than its frame");
	put_layout();
	put_stack(sizeof(struct fib_row), UINT32_MAX, 0);
	expect_error(-EPROTO, "larger than its frame");
	put_layout();
	put_stack(UINT32_MAX, 0, 0);
	expect_error(-EPROTO, "larger than its frame");
	put_rows(sizeof(struct fib_row), 1, sizeof(struct fib_row));
	expect_error(-EPROTO, "before the layout");
	put_layout();
	put_end(1, 1, 0);
	expect_error(-EPROTO, "counts other fibers");
	frame(FIB_WIRE_LAYOUT, "short", 5, "", 0, "", 0);
	expect_error(-EPROTO, "short layout");
	frame(FIB_WIRE_PROCESS, "short", 5, "", 0, "", 0);
	expect_error(-EPROTO, "short process");
	frame(FIB_WIRE_END, "short", 5, "", 0, "", 0);
	expect_error(-EPROTO, "short end");
	frame(FIB_WIRE_ERROR, "short", 5, "", 0, "", 0);
	expect_error(-EPROTO, "short error");
	put("this is not a frame at all, but long", 36);
	assert_int_equal(ask_all(), -EPROTO);
}

static void test_a_layout_that_makes_no_sense_is_refused(void **state)
{
	struct fib_layout layout;

	(void)state;
	rows_layout(&layout);
	layout.record_size = 8;
	frame(FIB_WIRE_LAYOUT, &layout, sizeof layout, "", 0, "", 0);
	expect_error(-EPROTO, "record size");
}

static void test_an_answer_cut_anywhere_is_an_error(void **state)
{
	size_t cut, whole = ROOM;

	(void)state;
	for (cut = 0; cut < whole; cut += cut < 64 ? 1 : 131) {
		put_process();
		put_layout();
		put_rows(sizeof(struct fib_row), 1, sizeof(struct fib_row));
		put_end(1, 1, 0);
		whole = answer.size;
		answer.size = cut;
		expect_error(-ECONNRESET, "before the answer was whole");
	}
}

static void test_errors_of_the_process_are_told_harmlessly(void **state)
{
	static const int32_t numbers[] = {-EPERM, 0, 5, INT32_MIN, INT32_MAX};
	const struct ins_request one = {.id = 9};
	struct fib_wire_error e = {-ESRCH, "gone"};
	size_t i;

	(void)state;
	frame(FIB_WIRE_ERROR, &e, sizeof e, "", 0, "", 0);
	assert_int_equal(ask(&one), -ESRCH);
	assert_non_null(strstr(error.text, "fiber 9: no such fiber"));
	ins_source_close(source);
	for (i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		memset(&e, 0, sizeof e);
		e.error = numbers[i];
		frame(FIB_WIRE_ERROR, &e, sizeof e, "", 0, "", 0);
		assert_true(ask_all() < 0);
		assert_non_null(strstr(error.text, path));
	}
	memset(e.text, '\x1b', sizeof e.text); /* no terminating NUL either */
	frame(FIB_WIRE_ERROR, &e, sizeof e, "", 0, "", 0);
	assert_true(ask_all() < 0);
	assert_null(strchr(error.text, '\x1b'));
}

static void test_the_callback_can_end_it(void **state)
{
	(void)state;
	put_layout();
	put_rows(16, 3, 48);
	put_end(3, 3, 0);
	stop_at = 2;
	assert_int_equal(ask_all(), 77);
	assert_int_equal(fibers, 2);
	stop_at = 0;
}

static void test_a_silent_process_is_given_up(void **state)
{
	const struct ins_request all = {0};

	(void)state;
	assert_int_equal(ins_source_open_control(path, 0, 20000000, &error, &source), 0);
	assert_int_equal(ins_source_read(source, &all, each, NULL, &summary, &error), -ETIMEDOUT);
	assert_non_null(strstr(error.text, "try fibertrace"));
	ins_source_close(source);
	close(accept(listener, NULL, NULL));
}

static void test_a_socket_of_nobody_is_named(void **state)
{
	char other[HARNESS_PATH];

	(void)state;
	harness_file(other, "none.sock");
	assert_int_equal(ins_source_open_control(other, 0, TIMEOUT, &error, &source), -ENOENT);
	assert_non_null(strstr(error.text, other));
	/* The path now belongs to another process, which must not get the request. */
	assert_int_equal(ins_source_open_control(path, getppid(), TIMEOUT, &error, &source),
			 -ESTALE);
	assert_non_null(strstr(error.text, "another process listens there by now"));
	close(listener);
	listener = -1;
	assert_int_equal(ins_source_open_control(path, 0, TIMEOUT, &error, &source), -ECONNREFUSED);
	assert_non_null(strstr(error.text, "no process listens there"));
}

static int start(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)state;
	harness_file(path, "c.sock");
	snprintf(at.sun_path, sizeof at.sun_path, "%.100s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(listener, (struct sockaddr *)&at, sizeof at) || listen(listener, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_good_answer_gives_fibers_modules_and_numbers),
		cmocka_unit_test(test_rows_of_other_versions_are_longer_or_shorter),
		cmocka_unit_test(test_what_the_process_could_not_read_is_a_problem),
		cmocka_unit_test(test_frames_that_lie_about_their_contents_are_refused),
		cmocka_unit_test(test_a_layout_that_makes_no_sense_is_refused),
		cmocka_unit_test(test_an_answer_cut_anywhere_is_an_error),
		cmocka_unit_test(test_errors_of_the_process_are_told_harmlessly),
		cmocka_unit_test(test_the_callback_can_end_it),
		cmocka_unit_test(test_a_silent_process_is_given_up),
		cmocka_unit_test(test_a_socket_of_nobody_is_named),
	};

	return HEAD_RUN(tests, start, NULL);
}
