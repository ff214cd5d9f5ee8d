/* SPDX-License-Identifier: MIT */
/*
 * registry.c - fiber records in one reserved range
 *
 * The address space for all records is reserved at the start, and made readable in chunks as it is
 * needed. It is never released, so a reader needs no lock: every address below `committed` can
 * always be read, and a record with id 0 is free.
 *
 * If address space is limited (RLIMIT_AS), the range is only a part of the limit, since stacks need
 * the most, and is halved until it fits. A smaller registry is full earlier; then a spawn fails.
 */
#include "core/registry.h"

#include <errno.h>
#include <string.h>

#include <fiber/group.h>

#include "base/log.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/slabs.h"

#define CAPACITY_MOST  (UINT64_C(1) << 24)
#define CHUNK	       4096u /* records */
#define CAPACITY_LEAST CHUNK
#define LIMIT_PART     32u /* of a limit of address space: a record for a stack of 16 KiB */

FIBER_API struct fib_layout fiber_registry = {.version = FIB_LAYOUT_VERSION};

/* The same object under a name that cannot be interposed: note.S needs a fixed distance. */
extern struct fib_layout fib_registry_here
	__attribute__((alias("fiber_registry"), visibility("hidden"), used));

/* A reference, so that a program that links the registry from the archive also links the note. */
extern const char fib_registry_note[] __attribute__((visibility("hidden")));
static const char *const note __attribute__((used)) = fib_registry_note;

/* Not in a cache line with the clock, which every switch reads. */
static struct {
	_Atomic uint32_t lock;
	bool started;		/* L */
	struct fiber *free;	/* L: the first batch: put_batch() */
	uint64_t used;		/* L: number of records ever used */
	_Atomic uint64_t taken; /* written under L: number of records that are not free */
	int64_t waiting;	/* L: threads that wait for a fiber to act */
	bool hooked;		/* L: an idle hook may make fibers runnable */
} registry fib_aligned(FIB_CACHE_LINE);

_Atomic int64_t fib_coarse_clock fib_aligned(FIB_CACHE_LINE);

_Atomic uint64_t fib_registry_ids fib_aligned(FIB_CACHE_LINE);

static void field(enum fib_layout_field_id id, size_t offset, size_t size)
{
	fiber_registry.fields[id].offset = (uint16_t)offset;
	fiber_registry.fields[id].size = (uint16_t)size;
}

#define FIELD(id, member) \
	field(id, offsetof(struct fiber, member), sizeof(((struct fiber *)0)->member))

static void describe_fields(void)
{
	FIELD(FIB_FIELD_SP, context.sp);
	FIELD(FIB_FIELD_FP, context.fp);
	FIELD(FIB_FIELD_PC, context.pc);
	FIELD(FIB_FIELD_SEQ, seq);
	FIELD(FIB_FIELD_SINCE, since);
	FIELD(FIB_FIELD_STATE, state);
	FIELD(FIB_FIELD_WAIT_KIND, wait_kind);
	FIELD(FIB_FIELD_FLAGS, flags);
	FIELD(FIB_FIELD_CARRIER, carrier);
	FIELD(FIB_FIELD_PINS, pins);
	FIELD(FIB_FIELD_WAIT_OBJECT, wait_object);
	FIELD(FIB_FIELD_WAIT_ARG, wait_arg);
	FIELD(FIB_FIELD_DEADLINE, wait_deadline);
	FIELD(FIB_FIELD_CPU, cpu);
	FIELD(FIB_FIELD_ID, id);
	FIELD(FIB_FIELD_PARENT, parent);
	FIELD(FIB_FIELD_STACK_LOW, stack.low);
	FIELD(FIB_FIELD_STACK_SIZE, stack.size);
	FIELD(FIB_FIELD_SPAWN_PC, spawn_pc);
	FIELD(FIB_FIELD_ENTRY, fn);
	FIELD(FIB_FIELD_NAME, name);
	FIELD(FIB_FIELD_FAILURE, failure);
	FIELD(FIB_FIELD_LABELS, labels);
	FIELD(FIB_FIELD_RUNNABLE, runnable);
	FIELD(FIB_FIELD_WAITED, waited);
	FIELD(FIB_FIELD_BORN, born);
	FIELD(FIB_FIELD_CANCELLED, asked);
	FIELD(FIB_FIELD_GUARD, stack.guard);
	FIELD(FIB_FIELD_MASKED, masks);
	FIELD(FIB_FIELD_READS, reads);
	FIELD(FIB_FIELD_READS_MORE, reads_more);
	FIELD(FIB_FIELD_ERROR, result.error);
	FIELD(FIB_FIELD_HELD, held_last);
	FIELD(FIB_FIELD_HELD_AT, held_at);
	FIELD(FIB_FIELD_JOINER, thread_joiner.word);
	FIELD(FIB_FIELD_RUNTIME, sched);
	FIELD(FIB_FIELD_PINNED_WAITS, pinned_waits);
	FIELD(FIB_FIELD_POLLED, polled);
	fiber_registry.field_count = FIB_FIELD_COUNT;
}

static void object(enum fib_wait_kind kind, size_t name_size, size_t holder_at, size_t holder_size)
{
	fiber_registry.objects[kind].name.size = (uint16_t)name_size;
	fiber_registry.objects[kind].holder.offset = (uint16_t)holder_at;
	fiber_registry.objects[kind].holder.size = (uint16_t)holder_size;
}

/*
 * Whether an object has waiters is published of objects whose waiters are in its queue until they are
 * woken, and that the program owns. These are also the objects that record who signals them (touch.h).
 */
static void waiters(enum fib_wait_kind kind, size_t queue_at)
{
	fiber_registry.waiters[kind].offset =
		(uint16_t)(queue_at + offsetof(struct fiber_wait_queue, head));
	fiber_registry.waiters[kind].size = sizeof(((struct fiber_wait_queue *)0)->head);
	fiber_registry.touchers[kind].offset =
		(uint16_t)(queue_at + offsetof(struct fiber_wait_queue, own));
	fiber_registry.touchers[kind].size = sizeof(((struct fiber_wait_queue *)0)->own);
}

/* Every object begins with its name. */
static void describe_objects(void)
{
	object(FIB_WAIT_MUTEX, sizeof(((struct fiber_mutex *)0)->name),
	       offsetof(struct fiber_mutex, owner), sizeof(((struct fiber_mutex *)0)->owner));
	object(FIB_WAIT_COND, sizeof(((struct fiber_cond *)0)->name), 0, 0);
	object(FIB_WAIT_SEM, sizeof(((struct fiber_sem *)0)->name), 0, 0);
	object(FIB_WAIT_GROUP, sizeof(((struct fiber_group *)0)->name), 0, 0);
	object(FIB_WAIT_TIMER, sizeof(((struct fiber_mutex *)0)->name), 0, 0);
	object(FIB_WAIT_RWLOCK_READ, sizeof(((struct fiber_rwlock *)0)->name),
	       offsetof(struct fiber_rwlock, owner), sizeof(((struct fiber_rwlock *)0)->owner));
	object(FIB_WAIT_RWLOCK_WRITE, sizeof(((struct fiber_rwlock *)0)->name),
	       offsetof(struct fiber_rwlock, owner), sizeof(((struct fiber_rwlock *)0)->owner));
	fiber_registry.readers.offset = offsetof(struct fiber_rwlock, state);
	fiber_registry.readers.size = sizeof(((struct fiber_rwlock *)0)->state);
	object(FIB_WAIT_EVENT, sizeof(((struct fiber_event *)0)->name), 0, 0);
	object(FIB_WAIT_BARRIER, sizeof(((struct fiber_barrier *)0)->name), 0, 0);
	object(FIB_WAIT_ONCE, sizeof(((struct fiber_once *)0)->name),
	       offsetof(struct fiber_once, runner), sizeof(((struct fiber_once *)0)->runner));
	object(FIB_WAIT_WAITGROUP, sizeof(((struct fiber_waitgroup *)0)->name), 0, 0);
	object(FIB_WAIT_CHAN_SEND, sizeof(((struct fiber_sem *)0)->name), 0, 0);
	object(FIB_WAIT_CHAN_RECV, sizeof(((struct fiber_sem *)0)->name), 0, 0);
	object(FIB_WAIT_SELECT, sizeof(((struct fiber_sem *)0)->name), 0, 0);
	/* libfiber-posix writes the owner there (threads/mutex.c). */
	object(FIB_WAIT_PTHREAD_MUTEX, 0, FIB_LAYOUT_PTHREAD_OWNER, sizeof(uint64_t));
	waiters(FIB_WAIT_COND, offsetof(struct fiber_cond, waiters));
	waiters(FIB_WAIT_SEM, offsetof(struct fiber_sem, waiters));
	waiters(FIB_WAIT_EVENT, offsetof(struct fiber_event, waiters));
	/* The waits of life/offload.c lead to the word itself. */
	fiber_registry.worker.size = sizeof(uint64_t);
}

#define WAITER(to, member)                                            \
	((to).offset = (uint16_t)offsetof(struct fib_waiter, member), \
	 (to).size = (uint16_t)sizeof(((struct fib_waiter *)0)->member))

static void describe_thread_wait(void)
{
	struct fib_layout_thread_wait *t = &fiber_registry.thread_wait;

	WAITER(t->word, own.word);
	WAITER(t->who, who);
	WAITER(t->kind, kind);
	WAITER(t->object, object);
	WAITER(t->arg, arg);
}

static void describe_names(void)
{
	static const char states[][16] = {"created", "runnable", "running", "suspended", "dead"};
	static const char waits[FIB_WAIT_COUNT][16] = {FIB_LAYOUT_WAIT_NAMES};

	_Static_assert(sizeof states <= sizeof fiber_registry.state_names, "layout.h");
	_Static_assert(sizeof waits <= sizeof fiber_registry.wait_names, "layout.h");
	memcpy(fiber_registry.state_names, states, sizeof states);
	memcpy(fiber_registry.wait_names, waits, sizeof waits);
	fiber_registry.state_count = fib_countof(states);
	fiber_registry.wait_count = FIB_WAIT_COUNT;
	strncpy(fiber_registry.program, fib_os_program(), sizeof fiber_registry.program - 1);
	strncpy(fiber_registry.port, fib_arch_name, sizeof fiber_registry.port - 1);
}

/*
 * The Makefile puts the code of libfiber into one section. It cannot if the compiler leaves code
 * generation to the linker (-flto) or names sections itself (-ffunction-sections). Then the range
 * lacks this function, and publishing a part would be wrong.
 */
void fib_registry_publish_code(void)
{
	const char *here = (const char *)(uintptr_t)fib_registry_init;

	if (here < __start_fiber_text || here >= __stop_fiber_text)
		return;
	fiber_registry.code[0].low = (uint64_t)(uintptr_t)__start_fiber_text;
	fiber_registry.code[0].high = (uint64_t)(uintptr_t)__stop_fiber_text;
}

/* The number of records to try first. */
static uint64_t capacity_wanted(void)
{
	const uint64_t limit = fib_os_space_limit();
	uint64_t capacity = CAPACITY_MOST;

	while (capacity > CAPACITY_LEAST && capacity * sizeof(struct fiber) > limit / LIMIT_PART)
		capacity /= 2;
	return capacity;
}

static void say_no_room(uint64_t wanted)
{
	fib_log("no address space for the registry of fibers: %llu bytes were wanted, %llu are "
		"needed at least, the limit (ulimit -v) is %llu",
		(unsigned long long)(wanted * sizeof(struct fiber)),
		(unsigned long long)(CAPACITY_LEAST * sizeof(struct fiber)),
		(unsigned long long)fib_os_space_limit());
}

static int reserve(void)
{
	const uint64_t wanted = capacity_wanted();
	uint64_t capacity;
	void *at;

	for (capacity = wanted; capacity >= CAPACITY_LEAST; capacity /= 2) {
		if (fib_os_reserve(capacity * sizeof(struct fiber), &at) == 0) {
			fiber_registry.records = (uint64_t)(uintptr_t)at;
			fiber_registry.capacity = capacity;
			return 0;
		}
	}
	say_no_room(wanted);
	return -ENOMEM;
}

static int start(void)
{
	int rc = reserve();

	if (rc < 0)
		return rc;
	fiber_registry.size = sizeof fiber_registry;
	fiber_registry.machine = fib_arch_machine;
	fiber_registry.recipe = fib_arch_recipe;
	fiber_registry.record_size = sizeof(struct fiber);
	fiber_registry.stacks = fib_slabs_table();
	fiber_registry.clock = (uint64_t)(uintptr_t)&fib_coarse_clock;
	fib_arch_entry_range(&fiber_registry.entry_low, &fiber_registry.entry_high);
	fib_registry_publish_code();
	describe_fields();
	describe_objects();
	describe_thread_wait();
	describe_names();
	/* A reader outside may read at any moment: the magic, written last, says that the rest is
	 * there. */
	fib_fence_release();
	memcpy(fiber_registry.magic, FIB_LAYOUT_MAGIC, sizeof fiber_registry.magic);
	return 0;
}

int fib_registry_init(void)
{
	int rc = 0;

	fib_spin_lock(&registry.lock);
	if (!registry.started)
		rc = start(); /* after an error the limit may be raised and a later call succeed */
	if (rc == 0)
		registry.started = true;
	fib_spin_unlock(&registry.lock);
	return rc;
}

/* Make the next chunk readable. Called under the lock. */
static int grow(void)
{
	uint64_t committed = fiber_registry.committed;
	char *at = (char *)(uintptr_t)fiber_registry.records + committed * sizeof(struct fiber);

	if (committed == fiber_registry.capacity)
		return -EAGAIN;
	if (fib_os_commit(at, CHUNK * sizeof(struct fiber)) < 0)
		return -ENOMEM;
	/* Readers outside must not see the number before the pages. */
	fib_fence_release();
	fib_publish(&fiber_registry.committed, committed + CHUNK);
	return 0;
}

/*
 * Free records are in batches, as they were given back: the caller of a take gets the batch of another
 * carrier without reading its records, whose lines are in that carrier's cache. In the first record of
 * a batch `before` is the next batch, `wait_arg` the number of records, `wait_deadline` the last one.
 */
static void put_batch(struct fiber *first, const struct fiber *last, uint64_t n)
{
	first->before = registry.free;
	first->wait_arg = n;
	first->wait_deadline = (int64_t)(intptr_t)last;
	registry.free = first;
}

/* Take at most n records of the first batch. Returns the number; *ret_last: the last of them. */
static unsigned take_batch(unsigned n, struct fiber **ret_last)
{
	struct fiber *first = registry.free, *last = (struct fiber *)(intptr_t)first->wait_deadline;
	const uint64_t size = first->wait_arg;
	unsigned i;

	registry.free = first->before;
	if (size > n) {
		*ret_last = first;
		for (i = 1; i < n; i++)
			*ret_last = (*ret_last)->link;
		put_batch((*ret_last)->link, last, size - n);
		return n;
	}
	*ret_last = last;
	return (unsigned)size;
}

int fib_registry_take(unsigned n, struct fiber **ret, unsigned *ret_count)
{
	struct fiber *first = NULL, **at = &first, *last;
	unsigned count = 0;
	int rc = 0;

	fib_spin_lock(&registry.lock);
	/* Half is enough: to split a batch is to read its records. */
	while (registry.free && (!count || count < n / 2)) {
		*at = registry.free;
		count += take_batch(n - count, &last);
		at = &last->link;
	}
	/* In the order of addresses, so that walking a list of fibers walks the range. */
	while (!registry.free && count < n) {
		if (registry.used == fiber_registry.committed && (rc = grow()) < 0)
			break;
		*at = fib_registry_at(registry.used++);
		at = &(*at)->link;
		count++;
	}
	*at = NULL;
	fib_store(&registry.taken, fib_load(&registry.taken) + count);
	fib_spin_unlock(&registry.lock);
	if (!count)
		return rc;
	*ret = first;
	*ret_count = count;
	return 0;
}

void fib_registry_give(struct fiber *first, struct fiber *last, unsigned n)
{
	fib_spin_lock(&registry.lock);
	put_batch(first, last, n);
	fib_store(&registry.taken, fib_load(&registry.taken) - n);
	fib_spin_unlock(&registry.lock);
}

uint64_t fib_registry_taken(void)
{
	return fib_load(&registry.taken);
}

void fib_registry_thread_waits(bool enter)
{
	fib_spin_lock(&registry.lock);
	registry.waiting += enter ? 1 : -1;
	if (!registry.hooked)
		fib_publish(&fiber_registry.waiting_threads,
			    (uint32_t)(registry.waiting > 0 ? registry.waiting : 0));
	fib_spin_unlock(&registry.lock);
}

void fib_registry_offload(uint32_t threads, uint32_t queued, int64_t since)
{
	fib_publish(&fiber_registry.offload_threads, threads);
	fib_publish(&fiber_registry.offload_queued, queued);
	fib_publish(&fiber_registry.offload_since, (uint64_t)since);
}

void fib_registry_recording_lost(uint64_t events)
{
	fib_publish(&fiber_registry.recording_lost, events);
}

void fib_registry_hooked(void)
{
	fib_spin_lock(&registry.lock);
	registry.hooked = true;
	fib_publish(&fiber_registry.waiting_threads, 0);
	fib_spin_unlock(&registry.lock);
}

void fib_registry_lock(void)
{
	fib_spin_lock(&registry.lock);
}

void fib_registry_unlock(void)
{
	fib_spin_unlock(&registry.lock);
}

/* Find a record that is in use, or NULL. */
static struct fiber *first_in_use(void)
{
	uint64_t i;

	for (i = 0; i < registry.used; i++)
		if (fib_registry_at(i)->id)
			return fib_registry_at(i);
	return NULL;
}

void fib_registry_forget(void)
{
	void *records = fib_registry_at(0);
	struct fiber *fiber = first_in_use();

	/* Pages that were never touched are zero, and so is a record that was never used. But an
	 * emulator may ignore the discard, and locked memory keeps its contents. */
	fib_os_discard(records, registry.used * sizeof(struct fiber));
	if (fiber && fiber->id)
		memset(records, 0, registry.used * sizeof(struct fiber));
	registry.free = NULL;
	registry.used = 0;
	fib_store(&registry.taken, 0);
	registry.waiting = 0;
	registry.hooked = false;
	fib_publish(&fiber_registry.waiting_threads, 0);
}

void fib_coarse_set(int64_t now)
{
	int64_t before = fib_load(&fib_coarse_clock);

	/* A thread that lost its CPU after it read the clock must not set it back: a fiber that
	 * began to run in between would have run for a negative time. */
	while (before < now && !fib_cas(&fib_coarse_clock, &before, now))
		;
}

uint64_t fib_registry_committed(void)
{
	return fib_observe(&fiber_registry.committed);
}

struct fiber *fib_registry_at(uint64_t i)
{
	return (struct fiber *)(uintptr_t)(fiber_registry.records + i * sizeof(struct fiber));
}
