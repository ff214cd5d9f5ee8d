/* SPDX-License-Identifier: MIT */
/*
 * test_context.c - the context layer beside a runtime: generators in fibers, contexts that change
 * threads
 */
#include "carriers.h"

#include <pthread.h>

#define FIBERS 20
#define VALUES 500

/* -- a generator: values from the middle of a function -- */

struct generator {
	struct fiber_context inside, outside;
	struct fiber_stack stack;
	uint64_t from, value;
	bool done;
};

static void count_squares(void *arg)
{
	struct generator *g = arg;
	uint64_t i;

	for (i = g->from; i < g->from + VALUES; i++) {
		g->value = i * i;
		fiber_context_switch(&g->inside, &g->outside);
	}
	g->done = true;
	fiber_context_end(&g->inside, &g->outside);
}

static int generator_open(struct generator *g, uint64_t from)
{
	int rc = fiber_stack_alloc(64 << 10, &g->stack);

	if (rc < 0)
		return rc;
	g->from = from;
	g->done = false;
	fiber_thread_to_context(&g->outside);
	return fiber_context_init(&g->inside, g->stack.base, g->stack.size, count_squares, g);
}

static bool generator_next(struct generator *g, uint64_t *ret)
{
	fiber_context_switch(&g->outside, &g->inside);
	*ret = g->value;
	return !g->done;
}

static void generator_close(struct generator *g)
{
	fiber_context_release(&g->inside);
	fiber_context_release(&g->outside);
	fiber_stack_free(&g->stack);
}

struct reader {
	struct generator generator;
	uint64_t number, values, wrong;
	int rc;
};

/* The fiber waits on its own stack and may resume on another carrier each time. */
static void *read_generator(void *arg)
{
	struct reader *r = arg;
	uint64_t value;

	r->rc = generator_open(&r->generator, r->number * 1000);
	if (r->rc < 0)
		return NULL;
	while (generator_next(&r->generator, &value)) {
		uint64_t wanted = r->number * 1000 + r->values++;

		if (value != wanted * wanted)
			r->wrong++;
		if (r->values % 100 == 0)
			fiber_sleep(100000);
		else
			fiber_yield();
	}
	generator_close(&r->generator);
	return NULL;
}

static struct reader readers[FIBERS];

static void *spawn_readers(void *arg)
{
	struct fiber *fibers[FIBERS];
	unsigned i;

	for (i = 0; i < FIBERS; i++) {
		readers[i] = (struct reader){.number = i};
		fiber_spawn(read_generator, &readers[i], &fibers[i]);
	}
	for (i = 0; i < FIBERS; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return arg;
}

static void assert_all_read(void)
{
	unsigned i;

	for (i = 0; i < FIBERS; i++) {
		assert_int_equal(readers[i].rc, 0);
		assert_int_equal(readers[i].values, VALUES);
		assert_int_equal(readers[i].wrong, 0);
	}
}

static void test_context_generators_run_inside_fibers(void **state)
{
	(void)state;
	carriers_run(spawn_readers, NULL);
	assert_all_read();
}

/* -- one context, many threads -- */

static struct generator shared;
static uint64_t shared_sum;

static void *take_ten(void *arg)
{
	uint64_t value, i;

	/* The generator returns to the thread that last resumed it. */
	fiber_thread_to_context(&shared.outside);
	for (i = 0; i < 10; i++) {
		generator_next(&shared, &value);
		shared_sum += value;
	}
	fiber_context_release(&shared.outside);
	return arg;
}

static void test_context_goes_on_in_a_thread_or_a_fiber(void **state)
{
	uint64_t wanted = 0, i;
	pthread_t thread;

	(void)state;
	shared_sum = 0;
	assert_int_equal(generator_open(&shared, 0), 0);
	for (i = 0; i < 5; i++) {
		assert_int_equal(pthread_create(&thread, NULL, take_ten, NULL), 0);
		pthread_join(thread, NULL);
		carriers_run(take_ten, NULL);
		take_ten(NULL);
	}
	for (i = 0; i < 150; i++)
		wanted += i * i;
	assert_int_equal(shared_sum, wanted);
	generator_close(&shared);
}

/* -- many contexts, on the caller's memory -- */

struct link {
	struct fiber_context context;
	struct fiber_context *next;
	void *memory;
	unsigned visits;
};

static void pass_on(void *arg)
{
	struct link *l = arg;

	for (;;) {
		l->visits++;
		fiber_context_switch(&l->context, l->next);
	}
}

static void *run_ring(void *arg)
{
	const size_t n = carriers_scale(1000);
	struct link *const ring = calloc(n, sizeof *ring);
	struct fiber_context home;
	uint64_t visits = 0;
	size_t i;

	fiber_thread_to_context(&home);
	for (i = 0; i < n; i++) {
		ring[i].memory = malloc(32 << 10);
		ring[i].next = i + 1 < n ? &ring[i + 1].context : &home;
		fiber_context_init(&ring[i].context, ring[i].memory, 32 << 10, pass_on, &ring[i]);
	}
	for (i = 0; i < 10; i++)
		fiber_context_switch(&home, &ring[0].context);
	for (i = 0; i < n; i++) {
		visits += ring[i].visits;
		fiber_context_release(&ring[i].context);
		free(ring[i].memory);
	}
	free(ring);
	fiber_context_release(&home);
	*(bool *)arg = visits == 10 * n;
	return NULL;
}

static void test_context_ring_on_memory_of_the_caller(void **state)
{
	bool well = false;

	(void)state;
	run_ring(&well);
	assert_true(well);
	well = false;
	carriers_run(run_ring, &well);
	assert_true(well);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_context_generators_run_inside_fibers),
		cmocka_unit_test(test_context_goes_on_in_a_thread_or_a_fiber),
		cmocka_unit_test(test_context_ring_on_memory_of_the_caller),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
