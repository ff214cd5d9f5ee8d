/* SPDX-License-Identifier: MIT */
/*
 * class.c - cut, keep and trim the stacks of one size
 *
 * A class grows by slabs: one mapping of many stacks, each with room for a guard below it. A new
 * stack is cut from its slab with its guard; guards are made several at once where that is cheaper.
 * A stack that is only promised gets its guard when it is first taken, if that can wait: a guard
 * takes page tables, 640 bytes of them for a stack of the default size. Until then `guard` is 0.
 * If it cannot be made then, for lack of memory, the program ends with a line that says so. In
 * memory that mlockall(2) locks, a guard splits its mapping, and a process has few mappings, so a
 * promise there includes the guard.
 *
 * A returned stack keeps its pages, since the next fiber profits from warm pages, and stacks are
 * taken last in, first out. A stack that was not taken for a whole period loses its pages and keeps
 * its address.
 *
 * Tops are coloured: page-aligned tops would put the hot ends of all stacks into the same few cache
 * sets. A colour belongs to the address, so a stack keeps it for life. It costs memory: of the fibers
 * that wait with one page in use, most have two pages then. So a process can do without.
 *
 * Free stacks are listed in a separate table: no stack is touched while it is unused.
 */
#include "stack/class.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "checker.h"
#include "os/os.h"
#include "os/spin.h"
#include "stack/guard.h"
#include "stack/pool.h"
#include "stack/slabs.h"

#define SLAB	    (16u << 20)
#define COLOURS	    16u
#define COLOUR_STEP 192u
_Static_assert(COLOURS *COLOUR_STEP <= FIB_STACK_COLOURS, "pool.h");
#define READY	    32u
#define AHEAD	    64u	       /* guards made at once ... */
#define AHEAD_BYTES (4u << 20) /* ... or fewer: a large one takes microseconds, under a lock */

static _Atomic bool plain_tops; /* A: new stacks have no colour */

void fib_stack_plain_tops(void)
{
	fib_store(&plain_tops, true);
}

void fib_class_push(struct fib_stack_class *c, const struct fib_stack *stack)
{
	c->free[c->count++] = *stack;
}

void fib_class_push_cold(struct fib_stack_class *c, const struct fib_stack *stack)
{
	c->free[c->count++] = c->free[c->cold];
	c->free[c->cold++] = *stack;
}

/* Guard n stacks that lie one after the other in their slab. */
static void guard_run(struct fib_stack *stacks, unsigned n)
{
	const size_t guard = fib_class_guard(stacks->class), stride = stacks->size + guard;
	char *lowest = (char *)stacks->low - guard;
	unsigned done = 0, i;
	int rc;

	while (done < n) {
		rc = fib_guard(lowest + done * stride, guard, stride, n - done);
		if (rc < 0)
			fib_die("no memory for the guard of a fiber's stack (error %d)", -rc);
		done += (unsigned)rc;
	}
	for (i = 0; i < n; i++)
		stacks[i].guard = (uint16_t)(guard / FIB_GUARD_MIN);
}

void fib_class_guard_waiting(struct fib_stack *stacks, unsigned n)
{
	unsigned first = 0, end;

	while (first < n) {
		const size_t stride = stacks[first].size + fib_class_guard(stacks[first].class);

		end = first + 1;
		if (stacks[first].guard) {
			first = end;
			continue;
		}
		while (end < n && !stacks[end].guard &&
		       (char *)stacks[end - 1].low + stride == stacks[end].low)
			end++;
		guard_run(&stacks[first], end - first);
		first = end;
	}
}

/* How many guards are made at once. */
static unsigned guards_at_once(size_t guard)
{
	const size_t n = AHEAD_BYTES / guard;

	return n < 1 ? 1 : n < AHEAD ? (unsigned)n : AHEAD;
}

/*
 * Count the stacks that will be taken next among those with pages, and make guards that they do not
 * have yet, several in one call. Their first pages come by page faults: requesting the pages of 32
 * stacks in one call (process_madvise, MADV_POPULATE_WRITE) takes 0.2 us a stack more.
 */
static void ready_some(struct fib_stack_class *c)
{
	const unsigned most = guards_at_once(fib_class_guard(c->free[0].class));
	unsigned n = most < READY ? most : READY;

	if (n > c->cold)
		n = (unsigned)c->cold;
	c->cold -= n;
	fib_class_guard_waiting(&c->free[c->cold], n);
}

void fib_class_pop(struct fib_stack_class *c, struct fib_stack *ret)
{
	if (c->cold == c->count)
		ready_some(c);
	fib_class_pop_bare(c, ret);
}

void fib_class_pop_bare(struct fib_stack_class *c, struct fib_stack *ret)
{
	if (c->cold == c->count)
		c->cold--;
	*ret = c->free[--c->count];
	if (c->count - c->cold < c->idle)
		c->idle = c->count - c->cold;
}

/* Make room in the table for n more. */
static int make_room(struct fib_stack_class *c, size_t n)
{
	size_t room = c->room ? c->room : 512;
	void *table;

	if (c->cut + n <= c->room)
		return 0;
	while (room < c->cut + n)
		room *= 2;
	if (fib_os_map_stacks(room * sizeof *c->free, &table) < 0)
		return -ENOMEM;
	if (c->free) {
		memcpy(table, c->free, c->count * sizeof *c->free);
		fib_os_unmap(c->free, c->room * sizeof *c->free);
	}
	c->free = table;
	c->room = room;
	return 0;
}

static int map_slab(struct fib_stack_class *c, unsigned class, size_t stride)
{
	const size_t count = SLAB / stride ? SLAB / stride : 1;
	void *slab;

	if (make_room(c, count) < 0 || fib_os_map_stacks(count * stride, &slab) < 0)
		return -ENOMEM;
	if (fib_guard_splits_at_once())
		fib_os_will_split(slab, count * stride);
	if (fib_slabs_add(slab, count * stride, class) < 0) {
		fib_os_unmap(slab, count * stride);
		return -ENOMEM;
	}
	if (fib_os_is_locked(slab) && !c->locked) {
		/* It was not before: there are mappings left for the guards that wait. */
		fib_class_guard_waiting(c->free, (unsigned)c->cold);
		c->locked = true;
	}
	c->next = c->guarded = slab;
	c->end = c->next + count * stride;
	return 0;
}

/* Make the guard of the next stack, and those of some after it. */
static int guard_some(struct fib_stack_class *c, size_t guard, size_t stride)
{
	const size_t left = (size_t)(c->end - c->next) / stride;
	/* Split at once, many would take too long under the lock. */
	const unsigned n = fib_guard_splits_at_once() ? 1 : guards_at_once(guard);
	int rc;

	rc = fib_guard(c->next, guard, stride, left < n ? (unsigned)left : n);
	if (rc < 0)
		return -ENOMEM;
	c->guarded += (size_t)rc * stride;
	return 0;
}

/* Cut the next stack, without a guard only if `bare` and none was made for it ahead. */
static int cut(struct fib_stack_class *c, unsigned class, bool bare, struct fib_stack *ret)
{
	const size_t guard = fib_class_guard(class), stride = fib_class_size(class) + guard;

	if (c->next == c->end && map_slab(c, class, stride) < 0)
		return -ENOMEM;
	bare = bare && c->next == c->guarded && !c->locked;
	if (bare)
		c->guarded += stride;
	else if (c->next == c->guarded && guard_some(c, guard, stride) < 0)
		return -ENOMEM;
	ret->low = c->next + guard;
	ret->size = fib_class_size(class);
	ret->colour = fib_load(&plain_tops) ? 0 : c->colour++ % COLOURS * COLOUR_STEP;
	ret->class = (uint16_t) class;
	ret->guard = bare ? 0 : (uint16_t)(guard / FIB_GUARD_MIN);
	fib_checker_stack(ret->low, ret->size);
	c->next += stride;
	c->cut++;
	return 0;
}

int fib_class_cut(struct fib_stack_class *c, unsigned class, struct fib_stack *ret)
{
	return cut(c, class, false, ret);
}

int fib_class_cut_cold(struct fib_stack_class *c, unsigned class)
{
	struct fib_stack stack;
	int rc = cut(c, class, fib_guard_can_wait(), &stack);

	if (rc == 0)
		fib_class_push_cold(c, &stack);
	return rc;
}

void fib_class_trim(struct fib_stack_class *c)
{
	size_t n;

	fib_spin_lock(&c->lock);
	for (n = c->idle; n && c->cold < c->count; n--) {
		const struct fib_stack *stack = &c->free[c->cold++];

		c->trimmed++;
		fib_os_discard(stack->low, stack->size);
		fib_spin_unlock(&c->lock);
		fib_spin_lock(&c->lock);
	}
	c->idle = c->count - c->cold;
	fib_spin_unlock(&c->lock);
}
