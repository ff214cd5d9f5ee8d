/* SPDX-License-Identifier: MIT */
/* test_own_cancel.c - a cancellation ends every wait, leaves nothing behind, and waits for the end of a mask */
#include "tests/explore/own.h"

/* What is waited for: nothing happens before the first fiber lets go. */
struct test {
	struct fiber_mutex mutex;
	struct fiber_rwlock read, written;
	struct fiber_cond cond;
	struct fiber_mutex cond_lock;
	struct fiber_sem sem;
	struct fiber_event event;
	struct fiber_barrier barrier;
	struct fiber_waitgroup group;
	struct fiber_chan *empty, *full;
	struct fiber_timer *timer;
	struct fiber *other;
	bool ready;
};

static int wait_mutex(struct test *t)
{
	const int rc = fiber_mutex_lock(&t->mutex, FIBER_FOREVER);

	if (rc == 0)
		fiber_mutex_unlock(&t->mutex);
	return rc;
}

static int wait_write(struct test *t)
{
	const int rc = fiber_rwlock_wrlock(&t->read, FIBER_FOREVER);

	if (rc == 0)
		fiber_rwlock_unlock(&t->read);
	return rc;
}

static int wait_read(struct test *t)
{
	const int rc = fiber_rwlock_rdlock(&t->written, FIBER_FOREVER);

	if (rc == 0)
		fiber_rwlock_unlock(&t->written);
	return rc;
}

static int wait_cond(struct test *t)
{
	int rc = fiber_mutex_lock(&t->cond_lock, FIBER_FOREVER);

	if (rc < 0)
		return rc;
	while (rc == 0 && !t->ready)
		rc = fiber_cond_wait(&t->cond, &t->cond_lock, FIBER_FOREVER);
	fiber_mutex_unlock(&t->cond_lock);
	return rc;
}

static int wait_sem(struct test *t)
{
	return fiber_sem_wait(&t->sem, FIBER_FOREVER);
}

static int wait_event(struct test *t)
{
	return fiber_event_wait(&t->event, FIBER_FOREVER);
}

static int wait_barrier(struct test *t)
{
	const int rc = fiber_barrier_wait(&t->barrier, FIBER_FOREVER);

	return rc == FIBER_BARRIER_LAST ? 0 : rc;
}

static int wait_group(struct test *t)
{
	return fiber_waitgroup_wait(&t->group, FIBER_FOREVER);
}

static int wait_receive(struct test *t)
{
	return fiber_chan_recv(t->empty, NULL, FIBER_FOREVER);
}

static int wait_send(struct test *t)
{
	return fiber_chan_send(t->full, NULL, FIBER_FOREVER);
}

static int wait_select(struct test *t)
{
	struct fiber_select_case cases[] = {{.op = FIBER_SELECT_RECV, .chan = t->empty},
					    {.op = FIBER_SELECT_SEND, .chan = t->full}};
	const int rc = fiber_select(cases, OWN_COUNT(cases), FIBER_FOREVER);

	return rc < 0 ? rc : 0;
}

static int wait_timer(struct test *t)
{
	uint64_t n;

	return fiber_timer_wait(t->timer, &n, FIBER_FOREVER);
}

static int wait_sleep(struct test *t)
{
	(void)t;
	return fiber_sleep(OWN_MS);
}

static int wait_park(struct test *t)
{
	(void)t;
	return fiber_park(FIBER_FOREVER);
}

static bool is_ready(void *arg)
{
	return *(const bool *)arg;
}

static int wait_until(struct test *t)
{
	return fiber_wait_until(is_ready, &t->ready, FIBER_FOREVER);
}

#define EVENT 5u /* in waits */

static const struct wait {
	const char *name;
	int (*call)(struct test *);
} waits[] = {
	{"mutex", wait_mutex},	   {"write", wait_write},   {"read", wait_read},
	{"cond", wait_cond},	   {"sem", wait_sem},	    {"event", wait_event},
	{"barrier", wait_barrier}, {"group", wait_group},   {"receive", wait_receive},
	{"send", wait_send},	   {"select", wait_select}, {"timer", wait_timer},
	{"sleep", wait_sleep},	   {"park", wait_park},	    {"until", wait_until},
};

static void begin(struct test *t)
{
	fiber_mutex_lock(&t->mutex, FIBER_FOREVER);
	fiber_rwlock_rdlock(&t->read, FIBER_FOREVER);
	fiber_rwlock_wrlock(&t->written, FIBER_FOREVER);
	fiber_barrier_init(&t->barrier, 2);
	fiber_waitgroup_add(&t->group, 1);
	fiber_test_assert(fiber_chan_new(0, 1, &t->empty) == 0);
	fiber_test_assert(fiber_chan_new(0, 1, &t->full) == 0);
	fiber_chan_send(t->full, NULL, FIBER_FOREVER);
	fiber_test_assert(fiber_timer_new(&t->timer) == 0);
}

/* After a cancellation no fiber waits, and nothing was taken: the first fiber can use all of it. */
static void use_all(struct test *t)
{
	uint64_t n;

	fiber_mutex_unlock(&t->mutex);
	fiber_test_assert(fiber_mutex_trylock(&t->mutex) == 0);
	fiber_rwlock_unlock(&t->read);
	fiber_test_assert(fiber_rwlock_trywrlock(&t->read) == 0);
	fiber_rwlock_unlock(&t->written);
	fiber_test_assert(fiber_rwlock_trywrlock(&t->written) == 0);
	fiber_test_assert(fiber_mutex_trylock(&t->cond_lock) == 0);
	fiber_sem_post(&t->sem);
	fiber_test_assert(fiber_sem_value(&t->sem) == 1);
	fiber_test_assert(fiber_barrier_wait(&t->barrier, 0) == -ETIMEDOUT);
	fiber_test_assert(fiber_waitgroup_wait(&t->group, 0) == -ETIMEDOUT);
	fiber_test_assert(fiber_chan_length(t->empty) == 0 && fiber_chan_length(t->full) == 1);
	fiber_test_assert(fiber_chan_send(t->empty, NULL, 0) == 0);
	fiber_test_assert(fiber_chan_recv(t->full, NULL, 0) == 0);
	fiber_test_assert(fiber_chan_length(t->empty) == 1 && fiber_chan_length(t->full) == 0);
	fiber_timer_arm(t->timer, fiber_now(), 0);
	fiber_test_assert(fiber_timer_wait(t->timer, &n, FIBER_FOREVER) == 0 && n == 1);
}

static void end(struct test *t)
{
	fiber_chan_unref(t->empty);
	fiber_chan_unref(t->full);
	fiber_timer_free(t->timer);
}

struct waiting {
	struct test *test;
	unsigned which;
	bool masks, done;
	int result, again; /* of the wait, of another one after it */
};

static void *wait_for_it(void *arg)
{
	struct waiting *w = arg;

	if (w->masks)
		fiber_cancel_mask();
	w->result = waits[w->which].call(w->test);
	if (w->masks)
		fiber_cancel_unmask();
	w->done = true;
	w->again = fiber_sleep(OWN_MS);
	return NULL;
}

/* -- without a mask -- */

static void cancel_each_wait(void *arg)
{
	struct test t = {.ready = false};
	struct waiting w = {.test = &t, .which = fiber_test_choose(OWN_COUNT(waits), "wait")};
	struct fiber_result result;
	struct fiber *f;

	(void)arg;
	begin(&t);
	own_spawn(&f, 1, wait_for_it, &w, 0);
	fiber_test_point("it may wait");
	fiber_cancel(f);
	fiber_test_assert(fiber_join(f, &result, FIBER_FOREVER) == 0);
	/* A sleep may have ended before. */
	if (waits[w.which].call != wait_sleep)
		fiber_test_assert(w.result == -ECANCELED && w.again == -ECANCELED &&
				  result.error == -ECANCELED);
	if (w.result == -ECANCELED)
		fiber_test_reached(waits[w.which].name);
	use_all(&t);
	end(&t);
}

static void test_cancellation_ends_every_kind_of_wait_and_leaves_nothing(void **state)
{
	const char *reach[OWN_COUNT(waits) + 1] = {NULL};

	(void)state;
	for (unsigned i = 0; i < OWN_COUNT(waits); i++)
		reach[i] = waits[i].name;
	EXPLORE(cancel_each_wait, NULL, .reach = reach);
	EXPLORE_ALL(cancel_each_wait, NULL, .preemptions = 1, .reach = reach);
}

/* -- as a fault: one after the other, at each -- */

static void *wait_for_all(void *arg)
{
	struct waiting *w = arg;
	bool cancelled = false;
	int rc;

	for (unsigned i = 0; i < OWN_COUNT(waits); i++) {
		rc = waits[i].call(w->test);
		if (rc == -ECANCELED && !cancelled) {
			fiber_test_reached(waits[i].name);
			cancelled = true;
		}
		fiber_test_assert(rc == 0 || (rc == -ECANCELED && cancelled));
	}
	fiber_test_assert(cancelled == fiber_cancelled());
	w->done = true;
	return NULL;
}

/* Whatever it waits for happens, sooner or later. */
static void let_go(struct test *t, struct fiber *f)
{
	fiber_sleep(OWN_MS);
	fiber_mutex_unlock(&t->mutex);
	fiber_sleep(OWN_MS);
	fiber_rwlock_unlock(&t->read);
	fiber_sleep(OWN_MS);
	fiber_rwlock_unlock(&t->written);
	fiber_sleep(OWN_MS);
	fiber_mutex_lock(&t->cond_lock, FIBER_FOREVER);
	t->ready = true;
	fiber_cond_signal(&t->cond);
	fiber_mutex_unlock(&t->cond_lock);
	fiber_sleep(OWN_MS);
	fiber_sem_post(&t->sem);
	fiber_sleep(OWN_MS);
	fiber_event_set(&t->event);
	fiber_sleep(OWN_MS);
	fiber_barrier_wait(&t->barrier, fiber_after(10 * OWN_MS));
	fiber_sleep(OWN_MS);
	fiber_waitgroup_done(&t->group);
	fiber_sleep(OWN_MS);
	fiber_chan_send(t->empty, NULL, 0);
	fiber_sleep(OWN_MS);
	fiber_chan_recv(t->full, NULL, 0);
	fiber_sleep(OWN_MS);
	fiber_chan_send(t->empty, NULL, 0);
	fiber_chan_recv(t->full, NULL, 0);
	fiber_sleep(OWN_MS);
	fiber_timer_arm(t->timer, fiber_now(), 0);
	fiber_sleep(OWN_MS);
	fiber_unpark(f);
}

static void cancel_at_any_wait(void *arg)
{
	struct test t = {.ready = false};
	struct waiting w = {.test = &t};
	struct fiber *f;

	(void)arg;
	begin(&t);
	own_spawn(&f, 1, wait_for_all, &w, 0);
	let_go(&t, f);
	own_join(&f, 1);
	fiber_test_assert(w.done);
	end(&t);
}

static void test_fault_cancels_at_each_kind_of_wait(void **state)
{
	/* "until" does not wait any more, and "sleep" may be over. */
	const char *reach[OWN_COUNT(waits) + 1] = {NULL};
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < OWN_COUNT(waits); i++)
		if (waits[i].call != wait_until)
			reach[n++] = waits[i].name;
	EXPLORE(cancel_at_any_wait, NULL, .slack = -1, .strategy = "each-fault", .reach = reach,
		.faults = FIBER_TEST_FAULT_CANCEL);
}

/* -- with a mask -- */

static void cancel_a_masked_wait(void *arg)
{
	struct test t = {.ready = false};
	struct waiting w = {.test = &t, .masks = true, .which = EVENT};
	struct fiber *f;

	(void)arg;
	begin(&t);
	own_spawn(&f, 1, wait_for_it, &w, 0);
	fiber_test_point("it may wait");
	fiber_cancel(f);
	fiber_test_settle();
	fiber_test_assert(!w.done);
	fiber_event_set(&t.event);
	own_join(&f, 1);
	fiber_test_assert(w.result == 0 && w.again == -ECANCELED);
	use_all(&t);
	end(&t);
}

static void test_cancellation_waits_for_the_end_of_a_mask(void **state)
{
	(void)state;
	EXPLORE_ALL(cancel_a_masked_wait, NULL, .preemptions = 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cancellation_ends_every_kind_of_wait_and_leaves_nothing),
		cmocka_unit_test(test_fault_cancels_at_each_kind_of_wait),
		cmocka_unit_test(test_cancellation_waits_for_the_end_of_a_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
