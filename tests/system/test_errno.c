/* SPDX-License-Identifier: MIT */
/*
 * test_errno.c - a fiber that resumes on another thread never sees another thread's errno
 *
 * Half of the fibers overwrite the errno of every thread they run on. The other half go through
 * read, EAGAIN, park, retry, and check each result. The counters show whether fibers migrated while
 * they waited; with one carrier none can.
 */
#include "carriers.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

struct world {
	_Atomic bool over;
	_Atomic long wrong, reads, migrated;
	struct fiber_mutex mutex; /* sometimes held for long */
};

/* Make a system call that fails with an errno that the readers never see. */
static void *spoil(void *arg)
{
	struct world *w = arg;

	while (!w->over) {
		for (int i = 0; i < 20; i++)
			w->wrong += close(-1) != -1;
		fiber_yield();
	}
	return NULL;
}

struct reader {
	struct world *world;
	int fds[2];
};

#define READS 300

static void *feed(void *arg)
{
	struct reader *r = arg;

	for (int i = 0; i < READS; i++) {
		if (i % 3 == 0)
			fiber_yield();
		if (i % 17 == 0)
			fiber_sleep(10000);
		r->world->wrong += fiber_write(r->fds[1], "x", 1, FIBER_FOREVER) != 1;
	}
	fiber_close(r->fds[1]);
	return NULL;
}

/* Compare kernel thread ids: the compiler may treat pthread_self() as constant within a
 * function. */
static void *read_all(void *arg)
{
	struct reader *r = arg;
	struct world *w = r->world;
	char byte;

	for (int i = 0; i < READS; i++) {
		const pid_t thread = gettid();

		/*
		 * Valid results: no byte, or the byte. Invalid: -EAGAIN, -EBADF or another call's
		 * number.
		 */
		ssize_t n = fiber_read(r->fds[0], &byte, 1, fiber_after(5000));

		while (n == -ETIMEDOUT)
			n = fiber_read(r->fds[0], &byte, 1, FIBER_FOREVER);
		w->wrong += n != 1 || byte != 'x';
		w->reads++;
		w->migrated += gettid() != thread;
		w->wrong += fiber_read(-1, &byte, 1, FIBER_FOREVER) != -EBADF;
		w->wrong += fiber_mutex_lock(&w->mutex, FIBER_FOREVER) != 0;
		if (i % 32 == 0)
			fiber_yield();
		w->wrong += fiber_mutex_unlock(&w->mutex) != 0;
	}
	w->wrong += fiber_read(r->fds[0], &byte, 1, FIBER_FOREVER) != 0;
	fiber_close(r->fds[0]);
	return NULL;
}

#define READERS 24

static void *world_main(void *arg)
{
	struct world *w = arg;
	struct reader readers[READERS];
	struct fiber *f[READERS], *spoilers[4];

	for (int i = 0; i < 4; i++)
		w->wrong += fiber_spawn(spoil, w, &spoilers[i]) != 0;
	for (int i = 0; i < READERS; i++) {
		readers[i].world = w;
		w->wrong += socketpair(AF_UNIX, SOCK_STREAM, 0, readers[i].fds) != 0;
		w->wrong += fiber_spawn(read_all, &readers[i], &f[i]) != 0;
		w->wrong += fiber_spawn(feed, &readers[i], NULL) != 0;
	}
	for (int i = 0; i < READERS; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	w->over = true;
	for (int i = 0; i < 4; i++)
		fiber_join(spoilers[i], NULL, FIBER_FOREVER);
	return NULL;
}

static void test_errno_of_another_thread_is_never_a_result(void **state)
{
	long migrated = 0;

	(void)state;
	/* Whether a fiber migrates depends on the machine; repeat until one does. */
	for (int round = 0; round < 20 && (round == 0 || (carriers() > 1 && !migrated)); round++) {
		struct world w = {.wrong = 0};

		carriers_run(world_main, &w);
		assert_int_equal(w.wrong, 0);
		assert_int_equal(w.reads, READERS * READS);
		migrated += w.migrated;
	}
	if (carriers() == 1)
		assert_int_equal(migrated, 0);
	else
		assert_true(migrated > 0);
}

/* -- the program's own errno -- */

static __attribute__((noipa)) int own_errno(void)
{
	return errno;
}

static __attribute__((noipa)) void set_own_errno(int value)
{
	errno = value;
}

static void *sleep_a_little(void *arg)
{
	fiber_sleep(10000);
	return arg;
}

static void *look_at_errno(void *arg)
{
	struct fiber *f;

	set_own_errno(ENOTTY);
	if (fiber_yield() < 0 || fiber_read(-1, NULL, 0, 0) != -EBADF ||
	    fiber_spawn(sleep_a_little, NULL, &f) < 0 || fiber_join(f, NULL, FIBER_FOREVER) < 0)
		return NULL;
	/* Any value will do: results must not depend on it. */
	set_own_errno(own_errno() + 1000);
	return fiber_sem_wait(&(struct fiber_sem){.count = 0}, 0) == -ETIMEDOUT ? arg : NULL;
}

static void test_errno_has_no_part_in_results(void **state)
{
	(void)state;
	assert_non_null(carriers_run(look_at_errno, state).value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errno_of_another_thread_is_never_a_result),
		cmocka_unit_test(test_errno_has_no_part_in_results),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
