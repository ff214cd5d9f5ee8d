/* SPDX-License-Identifier: MIT */
/* test_stdio.c - streams of stdio in fibers: on a pipe they park, and give what they give in a thread */
#include "ends.h"

#include <signal.h>

#define ROUNDS 200
#define LARGE  (1 << 20)

/* -- reading -- */

struct reading {
	FILE *in;
	char text[256];
	size_t size;
	ssize_t n;
	int error;
};

static void *get_line(void *arg)
{
	struct reading *r = arg;
	const char *const got = fgets(r->text, sizeof r->text, r->in);

	r->error = errno;
	return (void *)(intptr_t)(got != NULL);
}

static void *get_char(void *arg)
{
	return (void *)(intptr_t)getc(((struct reading *)arg)->in);
}

static void *get_char_unlocked(void *arg)
{
	return (void *)(intptr_t)getc_unlocked(((struct reading *)arg)->in);
}

static void *get_delim(void *arg)
{
	struct reading *r = arg;
	char *line = NULL;
	size_t size = 0;

	r->n = getline(&line, &size, r->in);
	if (r->n > 0 && r->n < (ssize_t)sizeof r->text)
		memcpy(r->text, line, (size_t)r->n + 1);
	free(line);
	return NULL;
}

static void *get_items(void *arg)
{
	struct reading *r = arg;

	/* Not the last call: a jump would come from libfiber. */
	r->n = (ssize_t)fread(r->text, 2, r->size / 2, r->in);
	return (void *)r->n;
}

TEST(test_fgets_and_getline_park_until_the_line_is_whole)
{
	fiber_fn *const reads[] = {get_line, get_delim};

	for (size_t i = 0; i < 2; i++) {
		struct reading r = {0};
		struct ends e;
		struct fiber *f;

		open_ends(&e);
		r.in = e.in;
		f = inside_suspended(reads[i], &r);
		for (const char *at = "a li"; *at; at++) {
			assert_int_equal(write(e.fds[1], at, 1), 1);
			harness_await_suspended(f);
		}
		assert_int_equal(write(e.fds[1], "ne\nrest", 7), 7);
		inside_join(f);
		assert_string_equal(r.text, "a line\n");
		assert_int_equal(__freadable(e.in), 1);
		fclose(e.out);
		/* The rest has no end of line. */
		inside(reads[i], &r);
		assert_string_equal(r.text, "rest");
		assert_int_equal(feof(e.in), 1);
		fclose(e.in);
	}
}

TEST(test_getc_and_fread_park_until_bytes_come)
{
	struct reading r = {.size = 6};
	struct ends e;
	struct fiber *f;

	open_ends(&e);
	r.in = e.in;
	f = inside_suspended(get_char, &r);
	assert_int_equal(write(e.fds[1], "x", 1), 1);
	assert_int_equal(inside_join(f), 'x');
	f = inside_suspended(get_char_unlocked, &r);
	assert_int_equal(write(e.fds[1], "y123", 4), 4);
	assert_int_equal(inside_join(f), 'y');
	f = inside_suspended(get_items, &r);
	assert_int_equal(write(e.fds[1], "456", 3), 3);
	assert_int_equal(inside_join(f), 3);
	assert_memory_equal(r.text, "123456", 6);
	close_ends(&e);
}

/* What a plain thread gets from the same stream, a fiber gets too. */
static void *read_all_ways(void *arg)
{
	struct reading *r = arg;
	char line[8];
	size_t n = 0;

#define SAY(...) (n += (size_t)snprintf(r->text + n, sizeof r->text - n, __VA_ARGS__))
	SAY("%d ", ungetc('u', r->in));
	SAY("%d %d ", getc(r->in), getc(r->in));
	SAY("%d %d %d ", ungetc('p', r->in), ungetc('q', r->in), getc(r->in));
	SAY("%s", fgets(line, 5, r->in));
	SAY("%zu ", fread(line, 1, 3, r->in));
	SAY("%d%d ", fgets(line, 1, r->in) != NULL, fgets(line, 0, r->in) != NULL);
	SAY("%d ", fseek(r->in, 0, SEEK_SET));
	SAY("%s", fgets(line, 8, r->in) ? line : "-");
	SAY("%zu %d%d ", fread(line, 3, 2, r->in), feof(r->in) != 0, ferror(r->in) != 0);
	SAY("%d %d ", getc(r->in), fputc('x', r->in));
	clearerr(r->in);
	SAY("%d %d", getc(r->in), feof(r->in) != 0);
#undef SAY
	return NULL;
}

TEST(test_results_are_those_of_a_plain_thread)
{
	static const int modes[] = {_IOFBF, _IOLBF, _IONBF};
	struct reading there = {0}, here = {0};
	struct ends e;

	for (size_t i = 0; i < 6; i++) {
		struct reading *r = i % 2 ? &here : &there;

		open_ends(&e);
		r->in = e.in;
		setvbuf(e.in, NULL, modes[i / 2], 16);
		assert_int_equal(write(e.fds[1], "abcdefghijk\nlast", 16), 16);
		fclose(e.out);
		if (i % 2)
			inside(read_all_ways, r);
		else
			on_a_thread(read_all_ways, r);
		fclose(e.in);
		if (i % 2)
			assert_string_equal(here.text, there.text);
	}
}

TEST(test_cancelled_fiber_leaves_fgets)
{
	struct reading r = {0};
	struct ends e;
	struct fiber *f;

	open_ends(&e);
	r.in = e.in;
	f = inside_suspended(get_line, &r);
	fiber_cancel(f);
	assert_int_equal(inside_join_cancelled(f), 0);
	assert_int_equal(r.error, ECANCELED);
	assert_true(ferror(e.in));
	/* The stream goes on. */
	clearerr(e.in);
	assert_int_equal(write(e.fds[1], "on\n", 3), 3);
	assert_int_equal(inside(get_line, &r), 1);
	assert_string_equal(r.text, "on\n");
	close_ends(&e);
}

TEST(test_non_blocking_stream_gives_eagain)
{
	struct reading r = {0};
	struct ends e;

	open_ends(&e);
	r.in = e.in;
	set_nonblocking(e.fds[0]);
	assert_int_equal(inside(get_line, &r), 0);
	assert_int_equal(r.error, EAGAIN);
	assert_true(ferror(e.in));
	close_ends(&e);
}

/* -- writing -- */

static void *put_line(void *arg)
{
	struct ends *e = arg;
	const int n = fprintf(e->out, "%s %d\n", "number", 7);

	return (void *)(intptr_t)(n == 9 && fflush(e->out) == 0 ? 0 : errno);
}

static void *talk(void *arg)
{
	FILE **pair = arg; /* in, out */
	char line[32];
	int n = 0;

	while (n < ROUNDS) {
		if (!fgets(line, sizeof line, pair[0]))
			break;
		n = atoi(line) + 1;
		fprintf(pair[1], "%d\n", n);
		fflush(pair[1]);
	}
	return (void *)(intptr_t)n;
}

TEST(test_two_fibers_talk_over_pipes)
{
	struct ends a, b;
	struct fiber *one, *two;

	open_ends(&a);
	open_ends(&b);
	one = inside_spawn(talk, (FILE *[]){a.in, b.out});
	two = inside_spawn(talk, (FILE *[]){b.in, a.out});
	assert_int_equal(write(a.fds[1], "0\n", 2), 2);
	assert_true(inside_join(one) >= ROUNDS);
	/* The one that said the last number has ended; the other one gets it. */
	assert_true(inside_join(two) >= ROUNDS);
	close_ends(&a);
	close_ends(&b);
}

/* One stream for both directions. */
static void *talk_both_ways(void *arg)
{
	FILE *const both = arg;

	return talk((FILE *[]){both, both});
}

TEST(test_two_fibers_talk_over_a_socket)
{
	FILE *streams[2];
	struct fiber *one, *two;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	for (size_t i = 0; i < 2; i++)
		assert_non_null(streams[i] = fdopen(fds[i], "r+"));
	one = inside_suspended(talk_both_ways, streams[0]);
	two = inside_suspended(talk_both_ways, streams[1]);
	assert_int_equal(write(fds[0], "0\n", 2), 2);
	assert_true(inside_join(one) >= ROUNDS);
	assert_true(inside_join(two) >= ROUNDS);
	fclose(streams[0]);
	fclose(streams[1]);
}

/* A terminal gives a line when it is whole. */
TEST(test_fgets_of_a_terminal_parks)
{
	struct reading r = {0};
	struct fiber *f;
	const int far = posix_openpt(O_RDWR | O_NOCTTY);

	assert_true(far >= 0 && grantpt(far) == 0 && unlockpt(far) == 0);
	assert_non_null(r.in = fdopen(open(ptsname(far), O_RDWR | O_NOCTTY), "r+"));
	f = inside_suspended(get_line, &r);
	assert_int_equal(write(far, "typed\n", 6), 6);
	assert_int_equal(inside_join(f), 1);
	assert_string_equal(r.text, "typed\n");
	fclose(r.in);
	close(far);
}

static char large[LARGE];

static void *put_large(void *arg)
{
	struct ends *e = arg;
	const size_t n = fwrite(large, 1, LARGE, e->out);

	return (void *)(intptr_t)(fflush(e->out) == 0 ? n : 0);
}

static void *check_large(void *arg)
{
	struct ends *e = arg;
	intptr_t good = 0;
	int c;

	while (good < LARGE && (c = getc(e->in)) != EOF && (char)c == large[good])
		good++;
	return (void *)good;
}

TEST(test_fwrite_larger_than_the_pipe_parks)
{
	static const int modes[] = {_IOFBF, _IOLBF, _IONBF};

	for (size_t i = 0; i < LARGE; i++)
		large[i] = (char)(i % 251);
	for (size_t i = 0; i < 3; i++) {
		struct fiber *f;
		struct ends e;

		open_ends(&e);
		setvbuf(e.out, NULL, modes[i], 0);
		f = inside_suspended(put_large, &e);
		assert_int_equal(inside(check_large, &e), LARGE);
		assert_int_equal(inside_join(f), LARGE);
		close_ends(&e);
	}
}

static int broken;

static void count_broken(int signal)
{
	(void)signal;
	__atomic_fetch_add(&broken, 1, __ATOMIC_SEQ_CST);
}

TEST(test_pipe_without_a_reader_gives_epipe_and_a_signal)
{
	struct sigaction action = {.sa_handler = count_broken}, before;
	struct ends e;

	open_ends(&e);
	fclose(e.in);
	broken = 0;
	sigaction(SIGPIPE, &action, &before);
	assert_int_equal(inside(put_line, &e), EPIPE);
	while (!__atomic_load_n(&broken, __ATOMIC_SEQ_CST))
		sched_yield();
	assert_true(ferror(e.out));
	__fpurge(e.out);
	fclose(e.out);
	sigaction(SIGPIPE, &before, NULL);
}

static void *flush_all(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)fflush(NULL);
}

TEST(test_fflush_of_all_streams_parks)
{
	struct fiber *f;
	struct ends e;
	int full;

	open_ends(&e);
	full = fill_pipe(e.fds);
	fputs("all", e.out);
	f = inside_suspended(flush_all, NULL);
	read_away(e.fds[0], full);
	assert_int_equal(inside_join(f), 0);
	expect_bytes(e.fds[0], "all");
	close_ends(&e);
}

static void *print_out(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)(printf("to %s", "stdout") == 9 && putchar('\n') == '\n' &&
				  puts("and on") > 0 && fflush(stdout) == 0);
}

TEST(test_stdout_on_a_full_pipe_parks)
{
	int full;
	struct fiber *f;
	int fds[2], kept;

	assert_int_equal(pipe(fds), 0);
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	assert_int_equal(dup2(fds[1], STDOUT_FILENO), STDOUT_FILENO);
	full = fill_pipe(fds);
	f = inside_suspended(print_out, NULL);
	read_away(fds[0], full);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
	expect_bytes(fds[0], "to stdout\nand on\n");
	close(kept);
	close(fds[0]), close(fds[1]);
}

static void *ask(void *arg)
{
	char line[8];

	fputs("name? ", stdout);
	return (void *)(intptr_t)(fgets(line, sizeof line, arg) != NULL);
}

/* As on a terminal: what is in a stdout that is buffered by lines is shown before the input. */
TEST(test_input_without_a_full_buffer_writes_stdout)
{
	struct fiber *f;
	struct ends e;
	int fds[2], kept;

	assert_int_equal(pipe(fds), 0);
	open_ends(&e);
	setvbuf(e.in, NULL, _IONBF, 0);
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	assert_int_equal(dup2(fds[1], STDOUT_FILENO), STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	f = inside_suspended(ask, e.in);
	expect_bytes(fds[0], "name? ");
	assert_int_equal(write(e.fds[1], "me\n", 3), 3);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(dup2(kept, STDOUT_FILENO), STDOUT_FILENO);
	close(kept);
	close(fds[0]), close(fds[1]);
	close_ends(&e);
}

static void *print_fd(void *arg)
{
	return (void *)(intptr_t)dprintf(*(int *)arg, "%05d|", 42);
}

TEST(test_dprintf_parks)
{
	int full;
	struct fiber *f;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	full = fill_pipe(fds);
	f = inside_suspended(print_fd, &fds[1]);
	read_away(fds[0], full);
	assert_int_equal(inside_join(f), 6);
	expect_bytes(fds[0], "00042|");
	close(fds[0]), close(fds[1]);
}

/* -- scanning -- */

struct scanning {
	FILE *in;
	int number, next, n;
	char word[16];
};

static void *scan_two(void *arg)
{
	struct scanning *s = arg;

	s->n = fscanf(s->in, "%d %15[a-z]", &s->number, s->word);
	s->next = getc(s->in);
	return NULL;
}

TEST(test_fscanf_parks_and_leaves_the_byte_that_ends_it)
{
	struct scanning s[2];
	struct fiber *f[2];
	struct ends e[2];

	for (size_t i = 0; i < 2; i++) {
		open_ends(&e[i]);
		s[i] = (struct scanning){.in = e[i].in};
		f[i] = inside_suspended(scan_two, &s[i]);
		assert_int_equal(write(e[i].fds[1], "12", 2), 2);
		harness_await_suspended(f[i]);
	}
	/* The first one ends first, though it began first. */
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(write(e[i].fds[1], "34 wor", 6), 6);
		harness_await_suspended(f[i]);
		assert_int_equal(write(e[i].fds[1], "d.", 2), 2);
		inside_join(f[i]);
		assert_int_equal(s[i].n, 2);
		assert_int_equal(s[i].number, 1234);
		assert_string_equal(s[i].word, "word");
		assert_int_equal(s[i].next, '.');
		close_ends(&e[i]);
	}
}

/* -- other streams -- */

static void *use_others(void *arg)
{
	char text[32] = "", *made = NULL, line[32];
	size_t size;
	FILE *memory = fmemopen(text, sizeof text, "w"), *grows = open_memstream(&made, &size),
	     *file = tmpfile();
	intptr_t good = 0;

	(void)arg;
	good += fprintf(memory, "in %s", "memory") == 9 && fclose(memory) == 0 &&
		strcmp(text, "in memory") == 0;
	good += fputs("grown", grows) >= 0 && fclose(grows) == 0 && strcmp(made, "grown") == 0;
	free(made);
	good += fprintf(file, "%d\nx", 5) == 3 && fseek(file, 0, SEEK_SET) == 0;
	good += fgets(line, sizeof line, file) && strcmp(line, "5\n") == 0;
	good += getc(file) == 'x' && getc(file) == EOF && feof(file) != 0;
	good += ftell(file) == 3 && fclose(file) == 0;
	return (void *)good;
}

TEST(test_files_and_memory_are_the_c_librarys)
{
	assert_int_equal(inside(use_others, NULL), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fgets_and_getline_park_until_the_line_is_whole),
		cmocka_unit_test(test_getc_and_fread_park_until_bytes_come),
		cmocka_unit_test(test_results_are_those_of_a_plain_thread),
		cmocka_unit_test(test_cancelled_fiber_leaves_fgets),
		cmocka_unit_test(test_non_blocking_stream_gives_eagain),
		cmocka_unit_test(test_two_fibers_talk_over_pipes),
		cmocka_unit_test(test_two_fibers_talk_over_a_socket),
		cmocka_unit_test(test_fgets_of_a_terminal_parks),
		cmocka_unit_test(test_fwrite_larger_than_the_pipe_parks),
		cmocka_unit_test(test_pipe_without_a_reader_gives_epipe_and_a_signal),
		cmocka_unit_test(test_fflush_of_all_streams_parks),
		cmocka_unit_test(test_stdout_on_a_full_pipe_parks),
		cmocka_unit_test(test_input_without_a_full_buffer_writes_stdout),
		cmocka_unit_test(test_dprintf_parks),
		cmocka_unit_test(test_fscanf_parks_and_leaves_the_byte_that_ends_it),
		cmocka_unit_test(test_files_and_memory_are_the_c_librarys),
	};

	ENDS_MAIN(tests);
}
