/* SPDX-License-Identifier: MIT */
/* test_own_rwlock.c - no reader beside a writer, and a waiter that gives up holds no other back */
#include "tests/explore/own.h"

#define FIBERS 3u

enum { READ, WRITE, UNLOCK };

struct test {
	struct fiber_rwlock lock;
	unsigned readers, writers;
};

/* -- the model: the number of readers, or -1 for a writer -- */

static bool step(void *state, const struct fiber_test_call *call)
{
	int64_t *holders = state;

	if (call->op == UNLOCK) {
		if (*holders == 0)
			return false;
		*holders = *holders < 0 ? 0 : *holders - 1;
		return true;
	}
	/* A reader may give up while others read: when a writer waits before it. */
	if (call->end && call->result)
		return *holders != 0 && (call->result == -EBUSY || own_given_up(call->result));
	if (call->op == READ ? *holders < 0 : *holders != 0)
		return false;
	*holders = call->op == READ ? *holders + 1 : -1;
	return true;
}

static const struct fiber_test_model model = {
	.size = sizeof model, .state_size = sizeof(int64_t), .step = step};

static int lock(struct test *t, bool writes)
{
	const bool tries = fiber_test_choose(4, "try") == 3;
	const int64_t deadline = tries ? 0 : own_deadline();
	const unsigned call = fiber_test_call(writes ? WRITE : READ, 0, 0);
	int result;

	if (tries)
		result = writes ? fiber_rwlock_trywrlock(&t->lock)
				: fiber_rwlock_tryrdlock(&t->lock);
	else
		result = writes ? fiber_rwlock_wrlock(&t->lock, deadline)
				: fiber_rwlock_rdlock(&t->lock, deadline);
	fiber_test_return(call, result);
	return result;
}

static void *use_twice(void *arg)
{
	struct test *t = arg;
	unsigned call;

	for (unsigned i = 0; i < 2; i++) {
		const bool writes = fiber_test_choose(2, "write");
		unsigned *number = writes ? &t->writers : &t->readers;

		if (lock(t, writes) < 0)
			continue;
		fiber_test_assert(t->writers == 0 && (!writes || t->readers == 0));
		if (++*number == 2)
			fiber_test_reached("two readers");
		fiber_sleep(fiber_test_choose(2, "hold it") ? 2 * OWN_MS : 0);
		--*number;
		call = fiber_test_call(UNLOCK, 0, 0);
		fiber_rwlock_unlock(&t->lock);
		fiber_test_return(call, 0);
	}
	return NULL;
}

/* arg: whether one is cancelled */
static void exclude(void *arg)
{
	struct test t = {.readers = 0};
	struct fiber *fibers[FIBERS];

	fiber_test_history(&model);
	own_spawn(fibers, FIBERS, use_twice, &t, 0);
	if (arg)
		own_cancel_one(fibers, FIBERS);
	own_join(fibers, FIBERS);
	fiber_test_assert(fiber_rwlock_trywrlock(&t.lock) == 0);
}

static void test_rwlock_has_readers_or_one_writer(void **state)
{
	static const char *const reach[] = {"two readers", NULL};

	(void)state;
	EXPLORE(exclude, NULL, .reach = reach);
}

static void test_cancelled_fibers_do_not_lose_the_rwlock(void **state)
{
	static bool yes = true;

	(void)state;
	EXPLORE_FAULTS(exclude, &yes, FIBER_TEST_FAULT_CANCEL);
}

/* -- reader, writer, reader: in this order -- */

struct line {
	struct fiber_rwlock lock;
	int64_t patience; /* the writer's deadline */
	bool wrote, gave_up, read;
};

static void *write_once(void *arg)
{
	struct line *l = arg;

	if (fiber_rwlock_wrlock(&l->lock, l->patience) < 0) {
		l->gave_up = true;
		return NULL;
	}
	fiber_test_assert(!l->read);
	l->wrote = true;
	fiber_rwlock_unlock(&l->lock);
	return NULL;
}

static void *read_once(void *arg)
{
	struct line *l = arg;

	fiber_test_assert(fiber_rwlock_rdlock(&l->lock, FIBER_FOREVER) == 0);
	fiber_test_assert(l->wrote || l->gave_up);
	l->read = true;
	fiber_rwlock_unlock(&l->lock);
	return NULL;
}

/* The first fiber reads; a writer and then a reader wait. */
static void queue_up(struct line *l, struct fiber *fibers[2])
{
	fiber_rwlock_rdlock(&l->lock, FIBER_FOREVER);
	own_spawn(&fibers[0], 1, write_once, l, 0);
	fiber_test_settle();
	own_spawn(&fibers[1], 1, read_once, l, 0);
	fiber_test_settle();
	fiber_test_assert(!l->wrote && l->read == l->gave_up);
}

static void writer_goes_first(void *arg)
{
	struct line l = {.patience = FIBER_FOREVER};
	struct fiber *fibers[2];

	(void)arg;
	queue_up(&l, fibers);
	fiber_test_assert(fiber_rwlock_tryrdlock(&l.lock) == -EBUSY);
	fiber_rwlock_unlock(&l.lock);
	own_join(fibers, 2);
	fiber_test_assert(l.wrote && l.read);
	fiber_test_assert(fiber_rwlock_trywrlock(&l.lock) == 0);
}

static void test_reader_waits_behind_a_writer(void **state)
{
	(void)state;
	EXPLORE_ALL(writer_goes_first, NULL, .preemptions = 3);
}

/* The reader must not wait for the first fiber, which goes on reading. */
static void writer_gives_up(void *arg)
{
	struct line l = {.patience = fiber_after(OWN_MS)};
	struct fiber *fibers[2];

	(void)arg;
	queue_up(&l, fibers);
	if (fiber_test_choose(2, "cancel"))
		fiber_cancel(fibers[0]);
	own_join(fibers, 2);
	fiber_test_assert(l.gave_up && l.read);
	fiber_test_assert(fiber_rwlock_trywrlock(&l.lock) == -EBUSY);
	fiber_rwlock_unlock(&l.lock);
	fiber_test_assert(fiber_rwlock_trywrlock(&l.lock) == 0);
}

static void test_reader_goes_on_when_the_writer_before_it_gives_up(void **state)
{
	(void)state;
	EXPLORE_ALL(writer_gives_up, NULL, .preemptions = 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rwlock_has_readers_or_one_writer),
		cmocka_unit_test(test_cancelled_fibers_do_not_lose_the_rwlock),
		cmocka_unit_test(test_reader_waits_behind_a_writer),
		cmocka_unit_test(test_reader_goes_on_when_the_writer_before_it_gives_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
