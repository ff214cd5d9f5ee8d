/* SPDX-License-Identifier: MIT */
/* test_cond.c - a wait releases the mutex and has it again at its end, however the wait ended */
#include <stdlib.h>

#include "queue.h"

struct box {
	struct fiber_mutex m;
	struct fiber_cond c;
	int full;	 /* protected by m */
	unsigned served; /* protected by m */
};

/* Whether the caller holds the mutex, so that a wait may release it. */
static bool holds(struct fiber_mutex *m)
{
	return (fib_load(&m->owner) & ~FIB_HOLDER_CONTENDED) == fib_caller();
}

static void *wait_full(void *arg)
{
	struct box *b = arg;
	int rc = 0;

	fiber_mutex_lock(&b->m, FIBER_FOREVER);
	while (!b->full && rc == 0)
		rc = fiber_cond_wait(&b->c, &b->m, FIBER_FOREVER);
	if (rc == 0 && !holds(&b->m))
		rc = -EPERM;
	else
		fiber_mutex_unlock(&b->m);
	return (void *)(intptr_t)rc;
}

static void fill(struct box *b)
{
	fiber_mutex_lock(&b->m, FIBER_FOREVER);
	b->full = 1;
	fiber_cond_signal(&b->c);
	fiber_mutex_unlock(&b->m);
}

static void *fill_fiber(void *arg)
{
	queue_await(&((struct box *)arg)->c.waiters, 1);
	fill(arg);
	return NULL;
}

static void test_cond_signal_of_a_thread_reaches_a_fiber(void **state)
{
	struct box b = {0};
	struct fiber *f = queue_spawn(wait_full, &b);

	(void)state;
	queue_await(&b.c.waiters, 1);
	fill(&b);
	assert_int_equal(queue_join(f), 0);
	assert_int_equal(fib_load(&b.m.owner), 0);
}

static void test_cond_signal_of_a_fiber_reaches_a_thread(void **state)
{
	struct box b = {0};
	struct fiber *f = queue_spawn(fill_fiber, &b);

	(void)state;
	assert_int_equal((intptr_t)wait_full(&b), 0);
	queue_join(f);
}

struct place {
	struct box *box;
	unsigned turn;
};

static void *stand(void *arg)
{
	struct place *p = arg;
	struct box *b = p->box;

	fiber_mutex_lock(&b->m, FIBER_FOREVER);
	if (fiber_cond_wait(&b->c, &b->m, FIBER_FOREVER) == 0)
		p->turn = ++b->served;
	fiber_mutex_unlock(&b->m);
	return NULL;
}

static unsigned served(struct box *b)
{
	unsigned n;

	fiber_mutex_lock(&b->m, FIBER_FOREVER);
	n = b->served;
	fiber_mutex_unlock(&b->m);
	return n;
}

#define LINE 6u

/* Let fibers wait for the condition, one after another. */
static void line_up(struct box *b, struct place places[LINE], struct fiber *fibers[LINE])
{
	for (unsigned i = 0; i < LINE; i++) {
		places[i] = (struct place){b, 0};
		fibers[i] = queue_spawn(stand, &places[i]);
		queue_await(&b->c.waiters, i + 1);
	}
}

static void test_cond_signal_wakes_one_in_the_order_they_came(void **state)
{
	struct box b = {0};
	struct place places[6];
	struct fiber *fibers[6];
	unsigned i;

	(void)state;
	line_up(&b, places, fibers);
	for (i = 0; i < 6; i++) {
		assert_int_equal(fiber_cond_signal(&b.c), 0);
		assert_int_equal(queue_length(&b.c.waiters), 5 - i);
		queue_join(fibers[i]);
		assert_int_equal(places[i].turn, i + 1);
		assert_int_equal(served(&b), i + 1);
	}
}

static void test_cond_broadcast_wakes_all_that_wait(void **state)
{
	struct box b = {0};
	struct place places[6];
	struct fiber *fibers[5];
	pthread_t thread;
	unsigned i;

	(void)state;
	for (i = 0; i < 6; i++) {
		places[i] = (struct place){&b, 0};
		if (i < 5)
			fibers[i] = queue_spawn(stand, &places[i]);
		else
			assert_int_equal(pthread_create(&thread, NULL, stand, &places[i]), 0);
	}
	queue_await(&b.c.waiters, 6);
	assert_int_equal(fiber_cond_broadcast(&b.c), 0);
	for (i = 0; i < 5; i++)
		queue_join(fibers[i]);
	pthread_join(thread, NULL);
	assert_int_equal(b.served, 6);
	assert_int_equal(queue_length(&b.c.waiters), 0);
}

/* What a fiber waits for, and on which object. */
static bool waits_for(struct fiber *f, enum fib_wait_kind kind, const void *object)
{
	return fib_load(&f->wait_kind) == kind && f->wait_object == (uint64_t)(uintptr_t)object;
}

static void test_cond_broadcast_under_the_mutex_moves_fibers_to_its_queue(void **state)
{
	struct box b = {0};
	struct place places[6];
	struct fiber *fibers[6];
	unsigned i;

	(void)state;
	line_up(&b, places, fibers);
	fiber_mutex_lock(&b.m, FIBER_FOREVER);
	assert_int_equal(fiber_cond_broadcast(&b.c), 0);
	/* All of them at once: none has run. */
	assert_int_equal(queue_length(&b.c.waiters), 0);
	assert_int_equal(queue_length(&b.m.waiters), 6);
	for (i = 0; i < 6; i++)
		assert_true(waits_for(fibers[i], FIB_WAIT_MUTEX, &b.m));
	fiber_mutex_unlock(&b.m);
	for (i = 0; i < 6; i++) {
		queue_join(fibers[i]);
		assert_int_equal(places[i].turn, i + 1);
	}
	assert_int_equal(fib_load(&b.m.owner), 0);
}

struct pair {
	struct fiber_cond *cond;
	struct fiber_mutex m;
};

static void *stand_with_own_mutex(void *arg)
{
	struct pair *p = arg;
	int rc;

	fiber_mutex_lock(&p->m, FIBER_FOREVER);
	rc = fiber_cond_wait(p->cond, &p->m, FIBER_FOREVER);
	if (rc == 0 && !holds(&p->m))
		rc = -EPERM;
	fiber_mutex_unlock(&p->m);
	return (void *)(intptr_t)rc;
}

static void test_cond_broadcast_to_waiters_with_different_mutexes_gives_each_its_own(void **state)
{
	struct fiber_cond cond = {.waiters = {0}};
	struct pair pairs[3] = {{.cond = &cond}, {.cond = &cond}, {.cond = &cond}};
	struct fiber *fibers[3];
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++) {
		fibers[i] = queue_spawn(stand_with_own_mutex, &pairs[i]);
		queue_await(&cond.waiters, i + 1);
	}
	fiber_mutex_lock(&pairs[0].m, FIBER_FOREVER);
	assert_int_equal(fiber_cond_broadcast(&cond), 0);
	assert_int_equal(queue_join(fibers[1]), 0);
	assert_int_equal(queue_join(fibers[2]), 0);
	fiber_mutex_unlock(&pairs[0].m);
	assert_int_equal(queue_join(fibers[0]), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(fib_load(&pairs[i].m.owner), 0);
}

static void test_cond_broadcast_under_the_mutex_wakes_threads(void **state)
{
	struct box b = {0};
	struct place places[3];
	struct fiber *fibers[2];
	pthread_t thread;
	unsigned i;

	(void)state;
	for (i = 0; i < 3; i++)
		places[i] = (struct place){&b, 0};
	fibers[0] = queue_spawn(stand, &places[0]);
	queue_await(&b.c.waiters, 1);
	assert_int_equal(pthread_create(&thread, NULL, stand, &places[1]), 0);
	queue_await(&b.c.waiters, 2);
	fibers[1] = queue_spawn(stand, &places[2]);
	queue_await(&b.c.waiters, 3);
	fiber_mutex_lock(&b.m, FIBER_FOREVER);
	fiber_cond_broadcast(&b.c);
	/* The thread arrives there by itself. */
	queue_await(&b.m.waiters, 3);
	fiber_mutex_unlock(&b.m);
	for (i = 0; i < 2; i++)
		queue_join(fibers[i]);
	pthread_join(thread, NULL);
	assert_int_equal(b.served, 3);
}

struct hurried {
	struct box *box;
	int64_t wait;
	int rc, next;
};

/* Wait once; *next: the result of a wait after it. */
static void *wait_once(void *arg)
{
	struct hurried *h = arg;

	fiber_mutex_lock(&h->box->m, FIBER_FOREVER);
	h->rc = fiber_cond_wait(&h->box->c, &h->box->m, fiber_after(h->wait));
	h->next = holds(&h->box->m) ? fiber_sleep_until(fiber_after(MS)) : -EPERM;
	fiber_mutex_unlock(&h->box->m);
	return NULL;
}

static void test_cond_broadcast_decides_the_wait_while_the_mutex_is_held(void **state)
{
	struct box b = {0};
	struct hurried h[2] = {{&b, 20 * MS, 1, 1}, {&b, 60000 * MS, 1, 1}};
	struct fiber *fibers[2];

	(void)state;
	fiber_mutex_lock(&b.m, FIBER_FOREVER);
	fibers[0] = queue_spawn(wait_once, &h[0]);
	queue_await(&b.m.waiters, 1);
	fibers[1] = queue_spawn(wait_once, &h[1]);
	queue_await(&b.m.waiters, 2);
	fiber_mutex_unlock(&b.m);
	queue_await(&b.c.waiters, 2);
	fiber_mutex_lock(&b.m, FIBER_FOREVER);
	fiber_cond_broadcast(&b.c);
	/* One deadline passes and one fiber is cancelled: both have been woken before. */
	fiber_cancel(fibers[1]);
	fiber_sleep_until(fiber_after(40 * MS));
	assert_int_equal(queue_length(&b.m.waiters), 2);
	fiber_mutex_unlock(&b.m);
	fiber_join(fibers[0], NULL, FIBER_FOREVER);
	fiber_join(fibers[1], NULL, FIBER_FOREVER);
	assert_int_equal(h[0].rc, 0);
	assert_int_equal(h[0].next, 0);
	assert_int_equal(h[1].rc, 0);
	assert_int_equal(h[1].next, -ECANCELED);
}

struct shared {
	struct fiber_cond c;
	struct fiber_mutex *m; /* outlives this struct */
	int left, impatient;   /* under *m: the last to leave frees it; the next waits until soon */
};

static void *wait_and_free(void *arg)
{
	struct shared *s = arg;
	struct fiber_mutex *const m = s->m;
	bool last;

	fiber_mutex_lock(m, FIBER_FOREVER);
	fiber_cond_wait(&s->c, m, s->impatient++ ? FIBER_FOREVER : fiber_after(MS / 10));
	last = --s->left == 0;
	fiber_mutex_unlock(m);
	if (last)
		free(s);
	return NULL;
}

/*
 * For the sanitizers: the caller does not hold the mutex, and one of the waiters times out during
 * the broadcast.
 */
static void test_cond_broadcast_is_done_with_it_when_the_last_waiter_leaves(void **state)
{
	struct fiber_mutex m = {0};
	struct fiber *fibers[3];
	pthread_t thread;
	int i, k;

	(void)state;
	for (i = 0; i < 200; i++) {
		struct shared *s = calloc(1, sizeof *s);
		uint32_t waiting = 0;

		assert_non_null(s);
		s->m = &m;
		s->left = 4;
		for (k = 0; k < 3; k++)
			fibers[k] = queue_spawn(wait_and_free, s);
		assert_int_equal(pthread_create(&thread, NULL, wait_and_free, s), 0);
		/* Three waiters wait until they are woken; the fourth waits for a short time. */
		while (waiting < 3) {
			fiber_mutex_lock(&m, FIBER_FOREVER);
			waiting = s->impatient == 4 ? queue_length(&s->c.waiters) : 0;
			fiber_mutex_unlock(&m);
		}
		fiber_cond_broadcast(&s->c);
		for (k = 0; k < 3; k++)
			queue_join(fibers[k]);
		pthread_join(thread, NULL);
	}
}

static void test_cond_signal_to_nobody_is_not_kept(void **state)
{
	struct box b = {0};

	(void)state;
	fiber_cond_signal(&b.c);
	fiber_cond_broadcast(&b.c);
	fiber_mutex_lock(&b.m, 0);
	assert_int_equal(fiber_cond_wait(&b.c, &b.m, fiber_after(MS)), -ETIMEDOUT);
	assert_true(holds(&b.m));
	fiber_mutex_unlock(&b.m);
}

static void test_cond_wait_with_deadline_passed_keeps_the_mutex(void **state)
{
	struct box b = {0};

	(void)state;
	fiber_mutex_lock(&b.m, 0);
	assert_int_equal(fiber_cond_wait(&b.c, &b.m, 0), -ETIMEDOUT);
	assert_int_equal(fiber_cond_wait(&b.c, &b.m, fiber_now()), -ETIMEDOUT);
	assert_true(holds(&b.m));
	assert_int_equal(queue_length(&b.c.waiters), 0);
	fiber_mutex_unlock(&b.m);
}

struct late {
	struct box b;
	_Atomic bool waiting, holding;
};

static void *wait_late(void *arg)
{
	struct late *l = arg;
	int rc;

	fiber_mutex_lock(&l->b.m, FIBER_FOREVER);
	fib_store_release(&l->waiting, true);
	rc = fiber_cond_wait(&l->b.c, &l->b.m, fiber_after(100 * MS));
	if (!holds(&l->b.m))
		return (void *)(intptr_t)-EPERM;
	fib_store_release(&l->holding, true);
	fiber_mutex_unlock(&l->b.m);
	return (void *)(intptr_t)rc;
}

/* The deadline expires while another fiber holds the mutex: the wait ends only with the mutex. */
static void test_cond_wait_that_timed_out_returns_with_the_mutex(void **state)
{
	struct late l = {0};
	struct fiber *f = queue_spawn(wait_late, &l);

	(void)state;
	while (!fib_load_acquire(&l.waiting))
		sched_yield();
	fiber_mutex_lock(&l.b.m, FIBER_FOREVER);
	queue_await(&l.b.m.waiters, 1);
	assert_int_equal(queue_length(&l.b.c.waiters), 0);
	assert_false(fib_load_acquire(&l.holding));
	fiber_mutex_unlock(&l.b.m);
	assert_int_equal(queue_join(f), -ETIMEDOUT);
}

static void *wait_pinned(void *arg)
{
	struct box *b = arg;
	int rc;

	fiber_mutex_lock(&b->m, FIBER_FOREVER);
	fiber_pin();
	rc = fiber_cond_wait(&b->c, &b->m, FIBER_FOREVER);
	fiber_unpin();
	if (!holds(&b->m))
		return (void *)(intptr_t)-EPERM;
	fiber_mutex_unlock(&b->m);
	return (void *)(intptr_t)rc;
}

static void test_cond_wait_of_a_pinned_fiber_follows_the_policy(void **state)
{
	struct box b = {0};
	struct fiber *f;

	(void)state;
	fiber_set_pinned_policy(rt, FIBER_PINNED_ERROR);
	assert_int_equal(queue_join(queue_spawn(wait_pinned, &b)), -EDEADLK);
	assert_int_equal(queue_length(&b.c.waiters), 0);
	fiber_set_pinned_policy(rt, FIBER_PINNED_SILENT);
	f = queue_spawn(wait_pinned, &b);
	queue_await(&b.c.waiters, 1);
	fiber_cond_signal(&b.c);
	assert_int_equal(queue_join(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cond_signal_of_a_thread_reaches_a_fiber),
		cmocka_unit_test(test_cond_signal_of_a_fiber_reaches_a_thread),
		cmocka_unit_test(test_cond_signal_wakes_one_in_the_order_they_came),
		cmocka_unit_test(test_cond_broadcast_wakes_all_that_wait),
		cmocka_unit_test(test_cond_broadcast_under_the_mutex_moves_fibers_to_its_queue),
		cmocka_unit_test(
			test_cond_broadcast_to_waiters_with_different_mutexes_gives_each_its_own),
		cmocka_unit_test(test_cond_broadcast_under_the_mutex_wakes_threads),
		cmocka_unit_test(test_cond_broadcast_decides_the_wait_while_the_mutex_is_held),
		cmocka_unit_test(test_cond_broadcast_is_done_with_it_when_the_last_waiter_leaves),
		cmocka_unit_test(test_cond_signal_to_nobody_is_not_kept),
		cmocka_unit_test(test_cond_wait_with_deadline_passed_keeps_the_mutex),
		cmocka_unit_test(test_cond_wait_that_timed_out_returns_with_the_mutex),
		cmocka_unit_test(test_cond_wait_of_a_pinned_fiber_follows_the_policy),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, queue_start, queue_stop);
}
