/* SPDX-License-Identifier: MIT */
/* test_idle_fibers.c - idle fibers beside descriptors, sleeps and the runtime's end */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_uint spins;
static atomic_bool over;

static struct fiber *spawn_with(unsigned flags, fiber_fn *fn, void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = flags};
	struct fiber *f = NULL;

	if (fiber_spawn_attr(&attr, fn, arg, &f) < 0)
		abort();
	return f;
}

/* A typical idle fiber: it works in small pieces as long as there is work. */
static void *spins_until_over(void *arg)
{
	while (!over) {
		spins++;
		fiber_yield();
	}
	return arg;
}

static void start_spinning(struct fiber *f[], size_t n)
{
	over = false;
	for (size_t i = 0; i < n; i++)
		f[i] = spawn_with(FIBER_IDLE | (i % 2 ? FIBER_BOUND : 0), spins_until_over, NULL);
}

static void stop_spinning(struct fiber *f[], size_t n)
{
	over = true;
	for (size_t i = 0; i < n; i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
}

struct echo {
	int fd[2];
	int rc;
};

static void *echoes(void *arg)
{
	struct echo *e = arg;
	char c;

	while (fiber_read(e->fd[1], &c, 1, FIBER_FOREVER) == 1)
		if (fiber_write(e->fd[1], &c, 1, FIBER_FOREVER) != 1)
			break;
	return NULL;
}

static void *talks_beside_idle_ones(void *arg)
{
	struct echo *e = arg;
	struct fiber *idle[8], *peer;
	char c = 0;

	start_spinning(idle, COUNT(idle));
	fiber_spawn(echoes, e, &peer);
	for (int i = 0; i < 500 && e->rc == 0; i++) {
		if (fiber_write(e->fd[0], &c, 1, FIBER_FOREVER) != 1 ||
		    fiber_read(e->fd[0], &c, 1, FIBER_FOREVER) != 1)
			e->rc = -EIO;
		if (i % 100 == 0)
			e->rc = fiber_sleep(MS);
	}
	fiber_close(e->fd[0]);
	fiber_join(peer, NULL, FIBER_FOREVER);
	stop_spinning(idle, COUNT(idle));
	return NULL;
}

static void test_idle_fibers_let_descriptors_and_sleepers_go_first(void **state)
{
	struct echo e = {.rc = 0};

	(void)state;
	spins = 0;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, e.fd), 0);
	assert_int_equal(carriers_run(talks_beside_idle_ones, &e).error, 0);
	assert_int_equal(e.rc, 0);
	assert_true(spins > 0);
	close(e.fd[1]);
}

/* -- from outside -- */

static atomic_uint woken;

static void *parks_often(void *arg)
{
	for (int i = 0; i < 500; i++) {
		woken++;
		fiber_park(FIBER_FOREVER);
	}
	return arg;
}

static void test_idle_fibers_are_woken_by_threads_whoever_sleeps(void **state)
{
	struct fiber_runtime *rt = carriers_start();

	(void)state;
	for (unsigned flags = FIBER_IDLE; flags <= (FIBER_IDLE | FIBER_BOUND);
	     flags += FIBER_BOUND) {
		const struct fiber_attr attr = {.size = sizeof attr, .flags = flags};
		struct fiber *f;

		woken = 0;
		assert_int_equal(fiber_runtime_spawn(rt, &attr, parks_often, NULL, &f), 0);
		for (unsigned i = 0; i < 500; i++) {
			while (woken == i)
				sched_yield();
			fiber_unpark(f);
		}
		assert_int_equal(fiber_join(f, NULL, FIBER_FOREVER), 0);
	}
	carriers_finish(rt);
}

/* -- everything that an ordinary fiber does -- */

static struct fiber_mutex mutex;
static struct fiber_sem sem;
static struct fiber_chan *chan;
static int sum;

static void *works_like_any(void *arg)
{
	int n = (int)(intptr_t)arg, got;

	for (int i = 0; i < 50; i++) {
		fiber_mutex_lock(&mutex, FIBER_FOREVER);
		sum++;
		if (i % 8 == 0)
			fiber_yield();
		fiber_mutex_unlock(&mutex);
		if (n % 2)
			fiber_chan_send(chan, &n, FIBER_FOREVER);
		else
			fiber_chan_recv(chan, &got, FIBER_FOREVER);
		if (i % 16 == 0)
			fiber_sleep(10000);
		fiber_sem_post(&sem);
		fiber_sem_wait(&sem, FIBER_FOREVER);
	}
	return NULL;
}

static void *mixes(void *arg)
{
	static const unsigned flags[] = {0, FIBER_IDLE, FIBER_IDLE | FIBER_BOUND, FIBER_BOUND};
	struct fiber *f[64];

	if (fiber_chan_new(sizeof(int), 0, &chan) < 0)
		return NULL;
	for (size_t i = 0; i < COUNT(f); i++)
		f[i] = spawn_with(flags[i / 2 % 4], works_like_any, (void *)(intptr_t)i);
	for (size_t i = 0; i < COUNT(f); i++)
		fiber_join(f[i], NULL, FIBER_FOREVER);
	fiber_chan_unref(chan);
	return arg;
}

static void test_idle_fibers_share_everything_with_others(void **state)
{
	(void)state;
	sum = 0;
	carriers_run(mixes, NULL);
	assert_int_equal(sum, 64 * 50);
}

/* -- the end of the runtime -- */

static void *spins_and_ends(void *arg)
{
	for (int i = 0; i < 1000; i++)
		fiber_yield();
	*(atomic_bool *)arg = true;
	return NULL;
}

static void *leaves_an_idle_one(void *arg)
{
	const struct fiber_attr attr = {.size = sizeof attr, .flags = FIBER_IDLE};

	fiber_spawn_attr(&attr, spins_and_ends, arg, NULL);
	return NULL;
}

static void test_idle_fiber_keeps_its_runtime_alive(void **state)
{
	atomic_bool ended = false;

	(void)state;
	carriers_run(leaves_an_idle_one, &ended);
	assert_true(ended);
}

static void *spins_for_ever(void *arg)
{
	for (;;) {
		++*(atomic_uint *)arg;
		fiber_yield();
	}
	return NULL;
}

static void *sees_the_end(void *arg)
{
	while (!fiber_cancelled())
		fiber_yield();
	*(atomic_bool *)arg = true;
	return NULL;
}

struct left_behind {
	atomic_uint spun;
	atomic_bool told;
};

static void *leaves_background_ones(void *arg)
{
	struct left_behind *l = arg;
	const struct fiber_attr attr = {.size = sizeof attr,
					.flags = FIBER_IDLE | FIBER_BACKGROUND};

	fiber_spawn_attr(&attr, spins_for_ever, &l->spun, NULL);
	fiber_spawn_attr(&attr, sees_the_end, &l->told, NULL);
	while (!l->spun)
		fiber_sleep(MS / 10);
	return NULL;
}

static void test_idle_background_fibers_end_with_their_runtime(void **state)
{
	struct left_behind l = {0};

	(void)state;
	carriers_run(leaves_background_ones, &l);
	assert_true(l.spun > 0);
	assert_true(l.told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_fibers_let_descriptors_and_sleepers_go_first),
		cmocka_unit_test(test_idle_fibers_are_woken_by_threads_whoever_sleeps),
		cmocka_unit_test(test_idle_fibers_share_everything_with_others),
		cmocka_unit_test(test_idle_fiber_keeps_its_runtime_alive),
		cmocka_unit_test(test_idle_background_fibers_end_with_their_runtime),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
