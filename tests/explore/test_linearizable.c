/* SPDX-License-Identifier: MIT */
/*
 * test_linearizable.c - fiber_test_linearizable() against a search that knows no short cut
 *
 * The other search tries every order of the calls, remembers nothing and shares no code.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <fiber.h>
#include <fiber/test.h>

#define HISTORIES 10000u
#define CALLS_MAX 6u
#define STATE_MAX 128u

/* -- models -- */

enum { PUT, TAKE, WRITE, READ, SWAP, ADD };

struct line {
	int64_t n, value[8];
};

static bool queue_step(void *state, const struct fiber_test_call *call)
{
	struct line *q = state;
	int64_t taken;

	if (call->op == PUT) {
		if (q->n == 8)
			return false;
		q->value[q->n++] = call->arg;
		return !call->end || call->result == 0;
	}
	taken = q->n ? q->value[0] : -1;
	if (q->n) {
		memmove(q->value, q->value + 1, sizeof q->value - sizeof *q->value);
		q->value[--q->n] = 0;
		q->value[7] = 0;
	}
	return !call->end || call->result == taken;
}

static bool stack_step(void *state, const struct fiber_test_call *call)
{
	struct line *s = state;
	int64_t taken;

	if (call->op == PUT) {
		if (s->n == 8)
			return false;
		s->value[s->n++] = call->arg;
		return !call->end || call->result == 0;
	}
	taken = s->n ? s->value[s->n - 1] : -1;
	if (s->n)
		s->value[--s->n] = 0;
	return !call->end || call->result == taken;
}

/* Three registers; a swap writes and returns the value before. */
static bool registers_step(void *state, const struct fiber_test_call *call)
{
	int64_t *r = (int64_t *)state + call->key % 3;
	const int64_t before = *r;

	if (call->op == READ)
		return !call->end || call->result == before;
	*r = call->arg;
	return !call->end || call->result == (call->op == SWAP ? before : 0);
}

static void counter_init(void *state)
{
	*(int64_t *)state = 7;
}

static bool counter_step(void *state, const struct fiber_test_call *call)
{
	int64_t *sum = state;
	const int64_t before = *sum;

	*sum += call->arg;
	return !call->end || call->result == before;
}

static const struct kind {
	struct fiber_test_model model;
	unsigned op, ops, keys, args;
} kinds[] = {
	{{sizeof kinds->model, sizeof(struct line), NULL, queue_step, NULL, false}, PUT, 2, 1, 3},
	{{sizeof kinds->model, sizeof(struct line), NULL, stack_step, NULL, false}, PUT, 2, 1, 3},
	{{sizeof kinds->model, 24, NULL, registers_step, NULL, false}, WRITE, 3, 2, 3},
	{{sizeof kinds->model, 24, NULL, registers_step, NULL, true}, WRITE, 3, 2, 3},
	{{sizeof kinds->model, 8, counter_init, counter_step, NULL, false}, ADD, 1, 1, 3},
};

#define KINDS (sizeof kinds / sizeof *kinds)

static void init(const struct fiber_test_model *model, void *state)
{
	memset(state, 0, STATE_MAX);
	if (model->init)
		model->init(state);
}

/* -- random histories -- */

static uint64_t random_state;

static unsigned below(unsigned n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)((random_state >> 33) % n);
}

/* The result that the model wants now, found by trying. */
static int64_t wanted(const struct fiber_test_model *model, void *state,
		      const struct fiber_test_call *call)
{
	unsigned char before[STATE_MAX];
	struct fiber_test_call done = *call;

	memcpy(before, state, STATE_MAX);
	done.end = 1;
	for (done.result = -1; done.result < 64; done.result++) {
		memcpy(state, before, STATE_MAX);
		if (model->step(state, &done))
			return done.result;
	}
	memcpy(state, before, STATE_MAX);
	return 0;
}

/* Calls that take effect at random times, one by one; then a result or a time may be made wrong. */
static unsigned make(const struct kind *k, struct fiber_test_call calls[])
{
	_Alignas(16) unsigned char state[STATE_MAX];
	const unsigned n = below(CALLS_MAX + 1);
	unsigned i;

	init(&k->model, state);
	for (i = 0; i < n; i++) {
		const unsigned before = below(25), after = below(25);
		const unsigned at = 30 + 10 * i;

		calls[i] = (struct fiber_test_call){.op = k->op + below(k->ops),
						    .key = below(k->keys),
						    .arg = 1 + below(k->args)};
		calls[i].begin = at - before;
		calls[i].result = wanted(&k->model, state, &calls[i]);
		calls[i].end = at + after;
		if (below(5) == 0) {
			calls[i].end = 0;
			calls[i].result = below(3);
		}
	}
	if (n && below(3) == 0)
		calls[below(n)].result = (int64_t)below(4) - 1;
	if (n && below(3) == 0) {
		i = below(n);
		calls[i].begin = below(90);
		if (calls[i].end)
			calls[i].end = calls[i].begin + below(30) + 1;
	}
	/* Their places say nothing. */
	for (i = n; i > 1; i--) {
		const unsigned other = below(i);
		const struct fiber_test_call call = calls[i - 1];

		calls[i - 1] = calls[other];
		calls[other] = call;
	}
	return n;
}

/* -- the other search -- */

static bool precedes(const struct fiber_test_call *a, const struct fiber_test_call *b)
{
	return a->end && a->end < b->begin;
}

static bool may_be_next(const struct fiber_test_call calls[], unsigned n, unsigned done, unsigned i)
{
	unsigned k;

	if (done >> i & 1)
		return false;
	for (k = 0; k < n; k++)
		if (!(done >> k & 1) && k != i && precedes(&calls[k], &calls[i]))
			return false;
	return true;
}

static bool some_order(const struct fiber_test_model *model, const struct fiber_test_call calls[],
		       unsigned n, unsigned done, const void *state)
{
	_Alignas(16) unsigned char next[STATE_MAX];
	bool all = true;
	unsigned i;

	for (i = 0; i < n; i++)
		all &= (done >> i & 1) || !calls[i].end;
	for (i = 0; i < n && !all; i++) {
		if (!may_be_next(calls, n, done, i))
			continue;
		memcpy(next, state, STATE_MAX);
		if (model->step(next, &calls[i]))
			all = some_order(model, calls, n, done | 1u << i, next);
	}
	return all;
}

/* Play the order on the model, and compare it with the times. */
static void expect_order(const struct fiber_test_model *model, const struct fiber_test_call calls[],
			 size_t n, const uint32_t order[])
{
	_Alignas(16) unsigned char state[STATE_MAX];
	static bool seen[100000];
	size_t i, k, happened = 0;

	memset(seen, 0, n);
	for (i = 0; i < n; i++) {
		assert_true(order[i] < n);
		assert_false(seen[order[i]]);
		seen[order[i]] = true;
		if (calls[order[i]].end)
			happened = i + 1;
	}
	for (i = 0; i < n; i++)
		for (k = i + 1; k < n; k++)
			assert_false(precedes(&calls[order[k]], &calls[order[i]]));
	init(model, state);
	for (i = 0; i < happened; i++)
		assert_true(model->step(state, &calls[order[i]]));
}

static void compare(const struct kind *kind, unsigned counts[2])
{
	_Alignas(16) unsigned char state[STATE_MAX];
	struct fiber_test_call calls[CALLS_MAX];
	uint32_t order[CALLS_MAX];
	const unsigned n = make(kind, calls);
	bool expected;

	init(&kind->model, state);
	expected = some_order(&kind->model, calls, n, 0, state);
	assert_int_equal(fiber_test_linearizable(&kind->model, calls, n, order), expected);
	if (expected)
		expect_order(&kind->model, calls, n, order);
	counts[expected]++;
}

static void test_answers_are_those_of_a_search_without_short_cuts(void **state)
{
	unsigned kind, i;

	(void)state;
	random_state = 1;
	for (kind = 0; kind < KINDS; kind++) {
		unsigned counts[2] = {0, 0};

		for (i = 0; i < HISTORIES; i++)
			compare(&kinds[kind], counts);
		assert_true(counts[0] > HISTORIES / 10 && counts[1] > HISTORIES / 10);
	}
}

static void test_keys_apart_or_together_give_the_same_answers(void **state)
{
	struct fiber_test_call calls[CALLS_MAX];
	struct fiber_test_model together = kinds[2].model, apart = kinds[3].model;
	uint32_t order[CALLS_MAX];
	unsigned i, n, good = 0;
	int rc;

	(void)state;
	random_state = 2;
	for (i = 0; i < HISTORIES; i++) {
		n = make(&kinds[2], calls);
		rc = fiber_test_linearizable(&together, calls, n, NULL);
		assert_int_equal(fiber_test_linearizable(&apart, calls, n, order), rc);
		if (rc == 1)
			expect_order(&apart, calls, n, order);
		good += rc == 1;
	}
	assert_true(good > HISTORIES / 10 && good < HISTORIES - HISTORIES / 10);
}

/* -- longer histories -- */

#define FIBERS 4u
#define LONG   1000u

struct long_line {
	uint32_t n;
	uint8_t value[64]; /* unused ones are 0 */
};

static bool long_queue_step(void *state, const struct fiber_test_call *call)
{
	struct long_line *q = state;
	int64_t taken = -1;

	if (call->op == PUT) {
		if (q->n == sizeof q->value)
			return false;
		q->value[q->n++] = (uint8_t)call->arg;
		return !call->end || call->result == 0;
	}
	if (q->n) {
		taken = q->value[0];
		memmove(q->value, q->value + 1, --q->n);
		q->value[q->n] = 0;
	}
	return !call->end || call->result == taken;
}

static const struct fiber_test_model long_queue = {
	sizeof long_queue, sizeof(struct long_line), NULL, long_queue_step, NULL, false};

/*
 * Each fiber makes its calls one after another; a call takes effect at a random time between its
 * begin and its end. op: of call number i of a fiber.
 */
static unsigned play(const struct fiber_test_model *model, unsigned each,
		     unsigned (*op)(unsigned i), struct fiber_test_call calls[])
{
	_Alignas(16) unsigned char state[STATE_MAX];
	unsigned phase[FIBERS] = {0}, made[FIBERS] = {0}, at[FIBERS] = {0};
	unsigned n = 0, left = FIBERS * each;
	uint64_t clock = 0;

	init(model, state);
	while (left) {
		const unsigned f = below(FIBERS);
		struct fiber_test_call *call = &calls[at[f]];

		if (phase[f] == 0 && made[f] < each) {
			at[f] = n;
			calls[n++] = (struct fiber_test_call){
				.op = op(made[f]++), .arg = n % 60, .begin = ++clock};
		} else if (phase[f] == 1) {
			call->result = wanted(model, state, call);
		} else if (phase[f] == 2) {
			call->end = ++clock;
			left--;
		} else {
			continue;
		}
		phase[f] = (phase[f] + 1) % 3;
	}
	return n;
}

static unsigned mixed(unsigned i)
{
	(void)i;
	return below(2) ? PUT : TAKE;
}

static unsigned puts_first(unsigned i)
{
	return i < 5 ? PUT : TAKE;
}

static void test_forty_calls_of_four_fibers_on_a_queue_have_an_order(void **state)
{
	struct fiber_test_call calls[40];
	uint32_t order[40];
	unsigned i, n;

	(void)state;
	random_state = 3;
	for (i = 0; i < 200; i++) {
		n = play(&long_queue, 10, i % 2 ? mixed : puts_first, calls);
		assert_int_equal(n, 40);
		assert_int_equal(fiber_test_linearizable(&long_queue, calls, n, order), 1);
		expect_order(&long_queue, calls, n, order);
	}
}

/* 63 was never put. */
static void test_wrong_result_at_the_end_of_forty_calls_has_no_order(void **state)
{
	struct fiber_test_call calls[41];
	unsigned i, n;

	(void)state;
	random_state = 4;
	for (i = 0; i < 50; i++) {
		n = play(&long_queue, 10, mixed, calls);
		calls[n] = (struct fiber_test_call){TAKE, 0, 0, 63, 1000, 1001};
		assert_int_equal(fiber_test_linearizable(&long_queue, calls, n + 1, NULL), 0);
	}
}

/* The order of 20 puts is not known before the first take: 24^5 orders if nothing guides the search. */
static void test_puts_that_overlap_are_ordered_by_the_takes(void **state)
{
	struct fiber_test_call calls[40];
	uint32_t order[40];
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++) {
		calls[i] = (struct fiber_test_call){PUT, 0, i + 1, 0, 1 + i / 4, 1 + i / 4};
		/* The last one of each four is taken first. */
		calls[20 + i] = (struct fiber_test_call){
			TAKE, 0, 0, (i / 4) * 4 + 4 - i % 4, 100 + i, 100 + i};
	}
	assert_int_equal(fiber_test_linearizable(&long_queue, calls, 40, order), 1);
	expect_order(&long_queue, calls, 40, order);
}

static void test_many_pending_calls_are_left_out_or_used(void **state)
{
	struct fiber_test_call calls[60];
	uint32_t order[60];
	unsigned i;

	(void)state;
	for (i = 0; i < 40; i++)
		calls[i] = (struct fiber_test_call){PUT, 0, i % 5 + 1, 0, 1, 0};
	for (i = 40; i < 60; i++)
		calls[i] = (struct fiber_test_call){TAKE, 0, 0, i % 5 + 1, i, i};
	assert_int_equal(fiber_test_linearizable(&long_queue, calls, 60, order), 1);
	expect_order(&long_queue, calls, 60, order);
}

static void test_pending_call_happens_once_only(void **state)
{
	struct fiber_test_call calls[20];
	unsigned i;

	(void)state;
	/* Six puts of each of two items, and up to seven takes of one. */
	for (i = 0; i < 12; i++)
		calls[i] = (struct fiber_test_call){PUT, 0, i % 2 + 1, 0, 1, 0};
	for (i = 12; i < 19; i++)
		calls[i] = (struct fiber_test_call){TAKE, 0, 0, 1, i, i};
	assert_int_equal(fiber_test_linearizable(&long_queue, calls, 18, NULL), 1);
	assert_int_equal(fiber_test_linearizable(&long_queue, calls, 19, NULL), 0);
}

static unsigned writes_and_reads(unsigned i)
{
	return i % 2 ? READ : WRITE;
}

static void test_thousand_calls_on_a_register_are_wrong_only_at_the_end(void **state)
{
	static struct fiber_test_call calls[LONG + 1];
	static uint32_t order[LONG + 1];
	unsigned n;

	(void)state;
	random_state = 5;
	n = play(&kinds[2].model, LONG / FIBERS, writes_and_reads, calls);
	assert_int_equal(n, LONG);
	assert_int_equal(fiber_test_linearizable(&kinds[2].model, calls, n, order), 1);
	expect_order(&kinds[2].model, calls, n, order);
	calls[n] = (struct fiber_test_call){READ, 0, 0, -2, 100000, 100000};
	assert_int_equal(fiber_test_linearizable(&kinds[2].model, calls, n + 1, NULL), 0);
}

static void test_order_of_many_keys_keeps_real_time(void **state)
{
	static struct fiber_test_call calls[LONG];
	static uint32_t order[LONG];
	struct fiber_test_model apart = kinds[3].model;
	int64_t value[3] = {0};
	unsigned i, key;

	(void)state;
	random_state = 6;
	for (i = 0; i < LONG; i++) {
		key = below(3);
		calls[i] = (struct fiber_test_call){.op = below(2) ? READ : SWAP,
						    .key = key,
						    .arg = i,
						    .result = value[key],
						    .begin = 100 + i - below(30),
						    .end = 100 + i + below(30)};
		if (calls[i].op == SWAP)
			value[key] = i;
	}
	assert_int_equal(fiber_test_linearizable(&apart, calls, LONG, order), 1);
	expect_order(&apart, calls, LONG, order);
	calls[LONG / 2].result = -1;
	assert_int_equal(fiber_test_linearizable(&apart, calls, LONG, order), 0);
}

/* -- arguments and limits -- */

static void test_calls_that_touch_at_one_time_overlap(void **state)
{
	const struct fiber_test_model *queue = &kinds[0].model;
	struct fiber_test_call calls[] = {{TAKE, 0, 0, 7, 1, 5}, {PUT, 0, 7, 0, 5, 9}};

	(void)state;
	assert_int_equal(fiber_test_linearizable(queue, calls, 2, NULL), 1);
	calls[1].begin = 6;
	assert_int_equal(fiber_test_linearizable(queue, calls, 2, NULL), 0);
}

static void test_history_without_calls_has_an_order(void **state)
{
	const struct fiber_test_call pending = {TAKE, 0, 0, 0, 1, 0};
	uint32_t order[1] = {17};

	(void)state;
	assert_int_equal(fiber_test_linearizable(&kinds[0].model, NULL, 0, NULL), 1);
	assert_int_equal(fiber_test_linearizable(&kinds[0].model, NULL, 0, order), 1);
	assert_int_equal(order[0], 17);
	assert_int_equal(fiber_test_linearizable(&kinds[0].model, &pending, 1, order), 1);
	assert_int_equal(order[0], 0);
}

static void test_wrong_arguments_are_refused(void **state)
{
	const struct fiber_test_call good = {TAKE, 0, 0, -1, 1, 2};
	struct fiber_test_call calls[2] = {good, {TAKE, 0, 0, -1, 5, 4}};
	struct fiber_test_model model = kinds[0].model;
	struct {
		struct fiber_test_model model;
		uint64_t later;
	} newer = {model, 0};
	uint32_t order[2];

	(void)state;
	assert_int_equal(fiber_test_linearizable(NULL, &good, 1, order), -EINVAL);
	assert_int_equal(fiber_test_linearizable(&model, NULL, 1, order), -EINVAL);
	assert_int_equal(fiber_test_linearizable(&model, calls, 2, order), -EINVAL);
	assert_int_equal(fiber_test_linearizable(&model, &good, (1u << 20) + 1, order), -EINVAL);
	model.size = 0;
	assert_int_equal(fiber_test_linearizable(&model, &good, 1, order), -EINVAL);
	model.size = offsetof(struct fiber_test_model, step);
	assert_int_equal(fiber_test_linearizable(&model, &good, 1, order), -EINVAL);
	/* An older program, which knows no fields after step. */
	model.size = offsetof(struct fiber_test_model, print);
	assert_int_equal(fiber_test_linearizable(&model, &good, 1, order), 1);
	model.size = sizeof model;
	model.step = NULL;
	assert_int_equal(fiber_test_linearizable(&model, &good, 1, order), -EINVAL);
	model.step = queue_step;
	model.state_size = (1u << 20) + 1;
	assert_int_equal(fiber_test_linearizable(&model, &good, 1, order), -EINVAL);
	/* A newer one, with a field that is not known here. */
	newer.model.size = sizeof newer;
	assert_int_equal(fiber_test_linearizable(&newer.model, &good, 1, order), 1);
	newer.later = 1;
	assert_int_equal(fiber_test_linearizable(&newer.model, &good, 1, order), -EINVAL);
}

/* 2^20 sets of calls, each with a state of 1 MiB: more than the 256 MiB of the search. */
static bool sum_step(void *state, const struct fiber_test_call *call)
{
	*(int64_t *)state |= call->arg;
	return !call->end || call->result == 0;
}

static void test_search_without_an_answer_is_an_error(void **state)
{
	const struct fiber_test_model model = {sizeof model, 1u << 20, NULL, sum_step, NULL, false};
	struct fiber_test_call calls[21];
	unsigned i;

	(void)state;
	for (i = 0; i < 20; i++)
		calls[i] = (struct fiber_test_call){0, 0, 1 << i, 0, 1, 2};
	calls[20] = (struct fiber_test_call){0, 0, 0, 1, 3, 4};
	assert_int_equal(fiber_test_linearizable(&model, calls, 21, NULL), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_are_those_of_a_search_without_short_cuts),
		cmocka_unit_test(test_keys_apart_or_together_give_the_same_answers),
		cmocka_unit_test(test_forty_calls_of_four_fibers_on_a_queue_have_an_order),
		cmocka_unit_test(test_wrong_result_at_the_end_of_forty_calls_has_no_order),
		cmocka_unit_test(test_puts_that_overlap_are_ordered_by_the_takes),
		cmocka_unit_test(test_many_pending_calls_are_left_out_or_used),
		cmocka_unit_test(test_pending_call_happens_once_only),
		cmocka_unit_test(test_thousand_calls_on_a_register_are_wrong_only_at_the_end),
		cmocka_unit_test(test_order_of_many_keys_keeps_real_time),
		cmocka_unit_test(test_calls_that_touch_at_one_time_overlap),
		cmocka_unit_test(test_history_without_calls_has_an_order),
		cmocka_unit_test(test_wrong_arguments_are_refused),
		cmocka_unit_test(test_search_without_an_answer_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
