/* SPDX-License-Identifier: MIT */
/*
 * verify.c - check that the measured library is the one that is shipped
 *
 * A library without its registry would be faster, but is not the one that users get. So before a
 * measurement fibers wait on a mutex and yield here. Everything that a tool prints about them is
 * then looked up as a tool does it: in the exported layout, at the offsets in it.
 */
#include "bench/libfiber/bench.h"

#include "layout/layout.h"

extern struct fib_layout fiber_registry;

static struct fiber_mutex mutex;
static uint64_t waiter_id, yielder_id;
static const char *missing;

static uint64_t field(const char *record, enum fib_layout_field_id id)
{
	uint64_t value = 0;

	if (fiber_registry.fields[id].size > sizeof(value))
		return 0;
	memcpy(&value, record + fiber_registry.fields[id].offset, fiber_registry.fields[id].size);
	return value;
}

static const char *record_of(uint64_t id)
{
	const char *record = (const char *)(uintptr_t)fiber_registry.records;

	for (uint64_t i = 0; i < fiber_registry.committed;
	     i++, record += fiber_registry.record_size)
		if (field(record, FIB_FIELD_ID) == id)
			return record;
	return NULL;
}

static void *wait_on_mutex(void *arg)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	fiber_mutex_unlock(&mutex);
	return arg;
}

static void *yield_ten_times(void *arg)
{
	for (int i = 0; i < 10; i++)
		fiber_yield();
	return arg;
}

static const char *look(void)
{
	const char *waiter = record_of(waiter_id), *yielder = record_of(yielder_id);
	uint64_t holder = 0;

	if (!waiter || !yielder)
		return "the registry";
	if (field(waiter, FIB_FIELD_STATE) != FIBER_SUSPENDED)
		return "the state of a fiber";
	if (field(waiter, FIB_FIELD_WAIT_KIND) != FIB_WAIT_MUTEX ||
	    field(waiter, FIB_FIELD_WAIT_OBJECT) != (uint64_t)(uintptr_t)&mutex)
		return "the record of a wait";
	if (!field(waiter, FIB_FIELD_SINCE) || !field(waiter, FIB_FIELD_SPAWN_PC))
		return "when a wait began, or where a fiber was spawned";
	/* The number grows by 2 per switch: one to start the fiber, and ten yields. */
	if (field(yielder, FIB_FIELD_SEQ) < 20 || field(waiter, FIB_FIELD_SEQ) < 2)
		return "the sequence number that counts switches";
	if (!field(record_of(fiber_id(fiber_self())), FIB_FIELD_CPU))
		return "the counter of a fiber's time on its carrier";
	memcpy(&holder, (char *)&mutex + fiber_registry.objects[FIB_WAIT_MUTEX].holder.offset,
	       sizeof(holder));
	if (!fiber_registry.objects[FIB_WAIT_MUTEX].holder.size ||
	    (holder & ~FIB_HOLDER_CONTENDED) != fiber_id(fiber_self()))
		return "the holder of a mutex";
	return NULL;
}

static void *verify(void *arg)
{
	struct fiber *waiter, *yielder;
	int64_t until = fiber_after(10000000);

	/* The CPU counter advances in steps of the coarse clock. */
	while (fiber_now() < until)
		;
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	if (fiber_spawn(wait_on_mutex, NULL, &waiter) ||
	    fiber_spawn(yield_ten_times, NULL, &yielder))
		work_die("fiber_spawn");
	waiter_id = fiber_id(waiter);
	yielder_id = fiber_id(yielder);
	/*
	 * Fair scheduling: each yield lets the others run once. The yielder is then dead and not
	 * yet joined.
	 */
	for (int i = 0; i < 40; i++)
		fiber_yield();
	missing = look();
	fiber_mutex_unlock(&mutex);
	fiber_join(waiter, NULL, FIBER_FOREVER);
	fiber_join(yielder, NULL, FIBER_FOREVER);
	return arg;
}

void bench_verify(long count, long arg)
{
	static const enum fib_layout_field_id needed[] = {
		FIB_FIELD_SP,	     FIB_FIELD_PC,	    FIB_FIELD_SEQ,
		FIB_FIELD_SINCE,     FIB_FIELD_STATE,	    FIB_FIELD_WAIT_KIND,
		FIB_FIELD_CARRIER,   FIB_FIELD_WAIT_OBJECT, FIB_FIELD_WAIT_ARG,
		FIB_FIELD_DEADLINE,  FIB_FIELD_CPU,	    FIB_FIELD_ID,
		FIB_FIELD_STACK_LOW, FIB_FIELD_STACK_SIZE,  FIB_FIELD_SPAWN_PC,
	};

	(void)count, (void)arg;
	bench_run(verify, NULL, 1);
	for (size_t i = 0; !missing && i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i] >= fiber_registry.field_count ||
		    !fiber_registry.fields[needed[i]].size)
			missing = "a field of the registry's layout";
	if (!missing) {
		missing = fib_layout_check(&fiber_registry);
	}
	if (missing) {
		fprintf(stderr,
			"bench: this library was built without %s; its numbers would not be "
			"libfiber's\n",
			missing);
		exit(2);
	}
	work_report("verified", 1);
}
