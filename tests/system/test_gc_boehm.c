/* SPDX-License-Identifier: MIT */
/*
 * test_gc_boehm.c - the Boehm collector frees no object that only a fiber holds, and keeps no other
 *
 * Each object has a number. A table that the collector does not look at says which objects are in
 * use. A finalizer that is called for an object in use has found a lost one. All objects are finalized
 * in the end: none has leaked.
 */
#include "carriers.h"

#include "boehm.h"

#include <sys/mman.h>

#define MOST   10000u
#define WORDS  6u
#define ROUNDS 20u
#define STACK  (1u << 20)
#define BLOCK  4096u /* of the collector */

struct object {
	uint64_t number;
	uint64_t words[WORDS]; /* depend on the number */
};

enum { UNUSED, USED, RELEASED, FINALIZED };

static _Atomic unsigned char *uses; /* from malloc(), by number */
static _Atomic unsigned made, finalized, lost, spoilt, collections;
static size_t count;

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return x ^ x >> 29;
}

static void finalize(void *arg, void *data)
{
	const struct object *o = arg;

	(void)data;
	lost += uses[o->number] != RELEASED;
	uses[o->number] = FINALIZED;
	finalized++;
}

/*
 * Not the first object of a block: its address is that of the block, which the collector has in its own
 * frames while it sweeps. The collector is conservative and takes this for a pointer to the object.
 */
static struct object *allocate(void)
{
	struct object *o;

	do
		o = GC_malloc_atomic(sizeof *o);
	while ((uintptr_t)o % BLOCK == 0);
	return o;
}

static __attribute__((noinline)) struct object *make(uint64_t number)
{
	struct object *o = allocate();
	unsigned i;

	o->number = number;
	for (i = 0; i < WORDS; i++)
		o->words[i] = mix(number + i);
	uses[number] = USED;
	GC_register_finalizer_no_order(o, finalize, NULL, NULL, NULL);
	made++;
	return o;
}

/* The object was in use until now. */
static __attribute__((noinline)) void release(const struct object *o, uint64_t number)
{
	unsigned i, wrong = o->number != number;

	for (i = 0; i < WORDS; i++)
		wrong += o->words[i] != mix(number + i);
	spoilt += wrong != 0;
	uses[number] = RELEASED;
}

static bool unlikely(uint64_t *state, unsigned one_in)
{
	*state = mix(*state + 1);
	return *state % one_in == 0;
}

static void collect(void)
{
	GC_gcollect();
	collections++;
}

/* -- a runtime in which something happens, after which every object is garbage -- */

static void begin(size_t n)
{
	count = n;
	uses = calloc(n, 1);
	assert_non_null((void *)(uintptr_t)uses);
	made = finalized = lost = spoilt = collections = 0;
}

static void *collect_all(void *arg)
{
	struct GC_stack_base base;

	GC_get_stack_base(&base);
	GC_register_my_thread(&base);
	GC_gcollect();
	GC_invoke_finalizers();
	GC_unregister_my_thread();
	return arg;
}

/* After the runtime has finished. On stacks that were never used, where no stale pointer is. */
static void end(void)
{
	unsigned i;

	for (i = 0; i < 10 && finalized < made; i++) {
		void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				   -1, 0);
		pthread_attr_t attr;
		pthread_t thread;

		assert_ptr_not_equal(stack, MAP_FAILED);
		pthread_attr_init(&attr);
		pthread_attr_setstack(&attr, stack, STACK);
		assert_int_equal(pthread_create(&thread, &attr, collect_all, NULL), 0);
		pthread_join(thread, NULL);
		pthread_attr_destroy(&attr);
		munmap(stack, STACK);
	}
	free((void *)(uintptr_t)uses);
}

static void assert_all_was_right(size_t n)
{
	assert_int_equal(made, n);
	assert_int_equal(lost, 0);
	assert_int_equal(spoilt, 0);
	assert_int_equal(finalized, n);
}

/* -- on stacks -- */

/* The only pointer to the object is in the frame, or in a register that it saves. */
static void *hold(void *arg)
{
	const uint64_t number = (uint64_t)(uintptr_t)arg;
	uint64_t chance = number;
	struct object *o = make(number);
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		if (unlikely(&chance, 3))
			fiber_sleep((int64_t)(chance / 64 % 2000000));
		else
			fiber_yield();
		if (unlikely(&chance, (unsigned)count * ROUNDS / 40))
			collect();
		GC_malloc_atomic(32);
	}
	release(o, number);
	return NULL;
}

static void *spawn_holders(void *arg)
{
	uintptr_t i;

	for (i = 0; i < count; i++)
		if (fiber_spawn(hold, (void *)i, NULL) < 0)
			spoilt++;
	return arg;
}

static void test_boehm_loses_and_leaks_no_object_that_a_fiber_holds(void **state)
{
	(void)state;
	begin(carriers_scale(MOST));
	carriers_run(spawn_holders, NULL);
	end();
	assert_true(collections > 0);
	assert_all_was_right(count);
}

static void test_boehm_without_the_stacks_of_fibers_loses_objects(void **state)
{
	(void)state;
	begin(1000);
	boehm_left_out = 1u << FIBER_GC_STACK;
	carriers_run(spawn_holders, NULL);
	boehm_left_out = 0;
	end();
	assert_true(lost > 0);
}

/* -- in everything else that libfiber keeps -- */

#define RELAYS 1000u

static struct fiber_chan *chan;
static fiber_key_t key;
static _Atomic size_t moved;

static void *pass_back(void *arg)
{
	GC_malloc_atomic(32);
	return arg;
}

static void check_at_exit(void *arg)
{
	const struct object *o = arg;

	spoilt += o->words[0] != mix(o->number);
}

/* The object comes as the argument, and goes through a value of the fiber to the channel. */
static void *send_on(void *arg)
{
	const void *o;

	fiber_at_exit(check_at_exit, arg);
	fiber_setspecific(key, arg);
	fiber_sleep(100000);
	if (moved++ % 100 == 0)
		collect();
	o = fiber_getspecific(key);
	fiber_setspecific(key, NULL);
	spoilt += fiber_chan_send(chan, &o, FIBER_FOREVER) != 0;
	return NULL;
}

/* It comes from the channel, and goes through a blocking call to the result. */
static void *receive(void *arg)
{
	void *o = arg;

	spoilt += fiber_chan_recv(chan, &o, FIBER_FOREVER) != 0;
	fiber_sleep(100000);
	spoilt += fiber_block(pass_back, o, &o, FIBER_FOREVER) != 0;
	return o;
}

static void *relay(void *arg)
{
	static struct fiber *receivers[RELAYS];

	for (uintptr_t i = 0; i < count; i++) {
		struct fiber *fiber = NULL;

		spoilt += fiber_spawn(send_on, make(i), NULL) != 0;
		spoilt += fiber_spawn(receive, NULL, &fiber) != 0;
		receivers[i] = fiber;
	}
	for (uintptr_t i = 0; i < count; i++) {
		struct fiber_result result = {NULL, 1};
		const struct object *o;

		spoilt += fiber_join(receivers[i], &result, FIBER_FOREVER) != 0;
		o = result.value;
		release(o, o->number);
	}
	return arg;
}

static void test_boehm_loses_and_leaks_no_object_on_its_way_through_the_library(void **state)
{
	(void)state;
	begin(RELAYS);
	assert_int_equal(fiber_key_create(&key, NULL), 0);
	assert_int_equal(fiber_chan_new(sizeof(void *), 8, &chan), 0);
	carriers_run(relay, NULL);
	fiber_chan_unref(chan);
	fiber_key_delete(key);
	end();
	assert_true(collections > 0);
	assert_all_was_right(RELAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boehm_loses_and_leaks_no_object_that_a_fiber_holds),
		cmocka_unit_test(
			test_boehm_loses_and_leaks_no_object_on_its_way_through_the_library),
		cmocka_unit_test(test_boehm_without_the_stacks_of_fibers_loses_objects),
	};

	harness_watchdog(100);
	boehm_begin();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
