/* SPDX-License-Identifier: MIT */
/* test_sync_more.c - rwlock, event, barrier, once and waitgroup, shared by fibers and threads */
#include "carriers.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#define FIBERS	12
#define THREADS 3
#define ALL	(FIBERS + THREADS)

/* Run fn(&args[i]) in fibers and threads at once and add up the return values. */
static long everywhere(fiber_fn *fn, void *args, size_t size)
{
	struct fiber_runtime *rt = carriers_start();
	struct fiber *fibers[FIBERS];
	pthread_t threads[THREADS];
	long sum = 0;

	for (int i = 0; i < FIBERS; i++)
		assert_int_equal(fiber_runtime_spawn(rt, NULL, fn, (char *)args + (size_t)i * size,
						     &fibers[i]),
				 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, fn,
						(char *)args + (size_t)(FIBERS + i) * size),
				 0);
	for (int i = 0; i < FIBERS; i++) {
		struct fiber_result r = {NULL, 1};

		assert_int_equal(fiber_join(fibers[i], &r, FIBER_FOREVER), 0);
		sum += (intptr_t)r.value;
	}
	for (int i = 0; i < THREADS; i++) {
		void *value;

		pthread_join(threads[i], &value);
		sum += (intptr_t)value;
	}
	carriers_finish(rt);
	return sum;
}

/* -- readers and writers -- */

struct table {
	struct fiber_rwlock lock;
	_Atomic int readers, writers, most, wrong;
	long a, b; /* equal except while a writer is inside */
	int rounds;
	bool impatient;
};

static void look(struct table *t, int i)
{
	const int now = ++t->readers;
	int most = t->most;

	while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now))
		;
	t->wrong += t->writers != 0 || t->a != t->b;
	/* All read first, so a second reader can always join the first. */
	while (i == 0 && t->most < 2)
		carriers_pause();
	if (i % 4 == 0)
		carriers_pause();
	t->wrong += t->writers != 0 || t->a != t->b;
	t->readers--;
}

static void change(struct table *t, int i)
{
	t->wrong += t->writers++ != 0 || t->readers != 0;
	t->a++;
	if (i % 3 == 0)
		carriers_pause();
	t->b++;
	t->writers--;
}

static void *read_and_write(void *arg)
{
	struct table *t = *(struct table **)arg;
	intptr_t written = 0;

	for (int i = 0; i < t->rounds; i++) {
		const bool writes = i % 4 == 1;
		const int64_t deadline =
			t->impatient && i % 2 ? fiber_after((i % 3) * 20000) : FIBER_FOREVER;
		const int rc =
			(writes ? fiber_rwlock_wrlock : fiber_rwlock_rdlock)(&t->lock, deadline);

		if (rc < 0) {
			t->wrong += rc != -ETIMEDOUT || deadline == FIBER_FOREVER;
			continue;
		}
		if (writes)
			change(t, i);
		else
			look(t, i);
		written += writes;
		fiber_rwlock_unlock(&t->lock);
	}
	return (void *)written;
}

static void readers_and_writers(bool impatient)
{
	struct table t = {.rounds = (int)carriers_scale(2000), .impatient = impatient};
	struct table *args[ALL];
	long written;

	for (int i = 0; i < ALL; i++)
		args[i] = &t;
	written = everywhere(read_and_write, args, sizeof args[0]);
	assert_int_equal(t.wrong, 0);
	assert_int_equal(t.a, written);
	assert_int_equal(t.b, written);
	if (!impatient)
		assert_int_equal(written, (long)ALL * ((t.rounds + 2) / 4));
	assert_true(t.most > 1);
	/* The lock is free and has no waiters. */
	assert_int_equal(fiber_rwlock_wrlock(&t.lock, 0), 0);
	fiber_rwlock_unlock(&t.lock);
}

static void test_sync_rwlock_lets_in_readers_together_and_writers_alone(void **state)
{
	(void)state;
	readers_and_writers(false);
}

static void test_sync_rwlock_with_deadlines_is_left_free(void **state)
{
	(void)state;
	readers_and_writers(true);
}

/* -- phases -- */

struct phases {
	struct fiber_barrier barrier;
	_Atomic int at[ALL], last, wrong;
	int rounds;
};

struct walker {
	struct phases *p;
	int number;
};

/* No fiber is more than one phase ahead of another, and each phase has exactly one last arrival. */
static void *walk(void *arg)
{
	struct walker *w = arg;
	struct phases *p = w->p;

	for (int i = 1; i <= p->rounds; i++) {
		int rc;

		p->at[w->number] = i;
		rc = fiber_barrier_wait(&p->barrier, FIBER_FOREVER);
		p->wrong += rc != 0 && rc != FIBER_BARRIER_LAST;
		p->last += rc == FIBER_BARRIER_LAST;
		for (int k = 0; k < ALL; k++)
			p->wrong += p->at[k] != i && p->at[k] != i + 1;
	}
	return NULL;
}

static void test_sync_barrier_keeps_all_in_step(void **state)
{
	struct phases p = {.rounds = 200};
	struct walker walkers[ALL];

	(void)state;
	assert_int_equal(fiber_barrier_init(&p.barrier, ALL), 0);
	for (int i = 0; i < ALL; i++)
		walkers[i] = (struct walker){&p, i};
	everywhere(walk, walkers, sizeof walkers[0]);
	assert_int_equal(p.wrong, 0);
	assert_int_equal(p.last, p.rounds);
}

struct meeting {
	struct fiber_barrier barrier;
	_Atomic int passed, last, wrong;
	int rounds;
};

static void *meet_or_not(void *arg)
{
	struct meeting *m = *(struct meeting **)arg;

	for (int i = 0; i < m->rounds; i++) {
		const int rc = fiber_barrier_wait(&m->barrier, fiber_after(i % 5 * 20000));

		m->passed += rc >= 0;
		m->last += rc == FIBER_BARRIER_LAST;
		m->wrong += rc < 0 && rc != -ETIMEDOUT;
	}
	return NULL;
}

/* Only groups of three pass, no matter how many waiters time out. */
static void test_sync_barrier_with_deadlines_lets_go_none_but_whole_groups(void **state)
{
	struct meeting m = {.rounds = (int)carriers_scale(2000) / 2};
	struct meeting *args[ALL];

	(void)state;
	fiber_barrier_init(&m.barrier, 3);
	for (int i = 0; i < ALL; i++)
		args[i] = &m;
	everywhere(meet_or_not, args, sizeof args[0]);
	assert_int_equal(m.wrong, 0);
	assert_true(m.last > 0);
	assert_int_equal(m.passed, 3 * m.last);
}

/* -- once -- */

struct lazily {
	struct fiber_once once[64];
	_Atomic int runs[64];
	int made[64]; /* each set by the one that ran */
	_Atomic int wrong;
};

struct making {
	struct lazily *l;
	int i;
};

static void make(void *arg)
{
	struct making *m = arg;

	carriers_pause();
	/* A fiber exits inside the first run of every second fiber_once. */
	if (m->l->runs[m->i]++ == 0 && m->i % 2 && fiber_self())
		fiber_exit(NULL);
	m->l->made[m->i] = m->i + 1;
}

static void *use(void *arg)
{
	struct lazily *l = *(struct lazily **)arg;

	for (int i = 0; i < 64; i++) {
		struct making m = {l, i};

		l->wrong += fiber_once(&l->once[i], make, &m) != 0;
		l->wrong += l->made[i] != i + 1;
	}
	return NULL;
}

static void *use_again_and_again(void *arg)
{
	for (int i = 0; i < 64; i++) {
		struct fiber *fiber;

		/* The child may exit inside; the other fibers and the threads get through. */
		if (fiber_self() && fiber_spawn(use, arg, &fiber) == 0)
			fiber_join(fiber, NULL, FIBER_FOREVER);
	}
	return use(arg);
}

static void test_sync_once_is_done_once_whoever_ends_in_it(void **state)
{
	struct lazily l = {.wrong = 0};
	struct lazily *args[ALL];

	(void)state;
	for (int i = 0; i < ALL; i++)
		args[i] = &l;
	everywhere(use_again_and_again, args, sizeof args[0]);
	assert_int_equal(l.wrong, 0);
	for (int i = 0; i < 64; i++) {
		assert_int_equal(l.made[i], i + 1);
		assert_in_range(l.runs[i], 1, i % 2 ? 2 : 1);
	}
}

/* -- a gate, and a count of those done -- */

struct race {
	struct fiber_event start;
	struct fiber_waitgroup runners;
	_Atomic int started, early, finished;
	_Atomic bool open;
};

static void *run_race(void *arg)
{
	struct race *r = arg;

	r->early += fiber_event_wait(&r->start, FIBER_FOREVER) != 0 || !r->open;
	r->started++;
	carriers_pause();
	r->finished++;
	fiber_waitgroup_done(&r->runners);
	return NULL;
}

static void *hold_race(void *arg)
{
	struct race *r = arg;

	for (int round = 0; round < 20; round++) {
		fiber_waitgroup_add(&r->runners, 50);
		for (int i = 0; i < 50; i++)
			fiber_spawn(run_race, r, NULL);
		fiber_yield();
		r->open = true;
		fiber_event_set(&r->start);
		fiber_waitgroup_wait(&r->runners, FIBER_FOREVER);
		r->early += r->finished != 50 * (round + 1);
		fiber_event_reset(&r->start);
		r->open = false;
	}
	return NULL;
}

static void test_sync_event_opens_and_waitgroup_closes_each_round(void **state)
{
	struct race r = {.started = 0};

	(void)state;
	carriers_run(hold_race, &r);
	assert_int_equal(r.early, 0);
	assert_int_equal(r.finished, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sync_rwlock_lets_in_readers_together_and_writers_alone),
		cmocka_unit_test(test_sync_rwlock_with_deadlines_is_left_free),
		cmocka_unit_test(test_sync_barrier_keeps_all_in_step),
		cmocka_unit_test(test_sync_barrier_with_deadlines_lets_go_none_but_whole_groups),
		cmocka_unit_test(test_sync_once_is_done_once_whoever_ends_in_it),
		cmocka_unit_test(test_sync_event_opens_and_waitgroup_closes_each_round),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
