/* SPDX-License-Identifier: MIT */
/* test_hold.c - the lock of a stream is the fiber's, and excludes fibers and threads */
#include "ends.h"

#include "mixed.h"

#define ROUNDS 200

struct locking {
	struct ends *e;
	int go[2]; /* a pipe: the holder waits for a byte */
	int tried;
};

static void *hold_over_a_park(void *arg)
{
	struct locking *l = arg;
	char byte;

	flockfile(l->e->out);
	flockfile(l->e->out);
	fputs("first ", l->e->out);
	funlockfile(l->e->out);
	if (read(l->go[0], &byte, 1) != 1)
		return NULL;
	fputs("half\n", l->e->out);
	funlockfile(l->e->out);
	return arg;
}

static void *write_second(void *arg)
{
	struct locking *l = arg;

	fputs("second\n", l->e->out);
	fflush(l->e->out);
	return arg;
}

static void *try_lock(void *arg)
{
	struct locking *l = arg;

	l->tried = ftrylockfile(l->e->out);
	if (l->tried == 0)
		funlockfile(l->e->out);
	return NULL;
}

/* The same with a file, whose calls never park. */
static void check_lock(struct locking *l)
{
	struct fiber *holder, *writer;
	pthread_t thread;

	holder = inside_suspended(hold_over_a_park, l);
	writer = inside_suspended(write_second, l);
	inside(try_lock, l);
	assert_int_not_equal(l->tried, 0);
	on_a_thread(try_lock, l);
	assert_int_not_equal(l->tried, 0);
	assert_int_equal(pthread_create(&thread, NULL, write_second, l), 0);
	assert_int_equal(write(l->go[1], "g", 1), 1);
	assert_true(inside_join(holder));
	assert_true(inside_join(writer));
	assert_int_equal(pthread_join(thread, NULL), 0);
	inside(try_lock, l);
	assert_int_equal(l->tried, 0);
}

TEST(test_lock_that_is_held_over_a_park_excludes_fibers_and_threads)
{
	struct locking l;
	struct ends e;
	char text[64] = {0};
	FILE *file;

	l.e = &e;
	assert_int_equal(pipe(l.go), 0);
	open_ends(&e);
	check_lock(&l);
	expect_bytes(e.fds[0], "first half\nsecond\nsecond\n");
	close_ends(&e);
	assert_non_null(file = tmpfile());
	e.out = file;
	check_lock(&l);
	rewind(file);
	assert_int_equal(fread(text, 1, sizeof text, file), 25);
	assert_string_equal(text, "first half\nsecond\nsecond\n");
	fclose(file);
	close(l.go[0]), close(l.go[1]);
}

static void *write_lines(void *arg)
{
	FILE *const out = ((struct ends *)arg)->out;

	for (int i = 0; i < ROUNDS; i++) {
		if (i % 2) {
			fprintf(out, "<%d %d %s>\n", i, i, "line");
			continue;
		}
		flockfile(out);
		fprintf(out, "<%d", i);
		if (i % 8 == 0)
			sched_yield();
		fprintf(out, " %d line>\n", i);
		funlockfile(out);
	}
	return NULL;
}

static void *count_lines(void *arg)
{
	struct ends *e = arg;
	char line[64], good[64];
	intptr_t n = 0;
	int i;

	while (fgets(line, sizeof line, e->in)) {
		if (sscanf(line, "<%d", &i) != 1)
			break;
		snprintf(good, sizeof good, "<%d %d line>\n", i, i);
		if (strcmp(line, good) != 0)
			break;
		n++;
	}
	return (void *)n;
}

/*
 * Give both streams buffers. ThreadSanitizer does not see the C library's lock: a buffer that a plain
 * thread has allocated there would look like one that nothing protects.
 */
static void give_buffers(struct ends *e)
{
	static char buffers[2][1024];

	setvbuf(e->in, buffers[0], _IOFBF, sizeof buffers[0]);
	setvbuf(e->out, buffers[1], _IOFBF, sizeof buffers[1]);
}

TEST(test_fibers_and_threads_write_whole_lines)
{
	struct fiber *reader;
	struct ends e;

	open_ends(&e);
	give_buffers(&e);
	reader = inside_spawn(count_lines, &e);
	mixed_run(write_lines, &e);
	fclose(e.out);
	assert_int_equal(inside_join(reader), ROUNDS * (FIBERS + THREADS));
	fclose(e.in);
}

TEST(test_fibers_and_threads_read_each_line_once)
{
	struct ends e;
	struct fiber *f[2];
	pthread_t thread;
	void *there;
	intptr_t n;

	open_ends(&e);
	give_buffers(&e);
	f[0] = inside_spawn(count_lines, &e);
	f[1] = inside_spawn(count_lines, &e);
	assert_int_equal(pthread_create(&thread, NULL, count_lines, &e), 0);
	inside(write_lines, &e);
	fclose(e.out);
	n = inside_join(f[0]) + inside_join(f[1]);
	assert_int_equal(pthread_join(thread, &there), 0);
	assert_int_equal(n + (intptr_t)there, ROUNDS);
	fclose(e.in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_that_is_held_over_a_park_excludes_fibers_and_threads),
		cmocka_unit_test(test_fibers_and_threads_write_whole_lines),
		cmocka_unit_test(test_fibers_and_threads_read_each_line_once),
	};

	ENDS_MAIN(tests);
}
