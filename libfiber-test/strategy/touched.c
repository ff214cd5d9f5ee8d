/* SPDX-License-Identifier: MIT */
/* touched.c - the shared objects of the first schedule; see touched.h */
#include "strategy/touched.h"

#include <string.h>
#include <sys/mman.h>

#include "base/check.h"
#include "base/compiler.h"

#define CALLS	8192u /* nothing is learnt from later ones */
#define FIBERS	256u
#define OBJECTS 64u
#define PLACES	64u

struct call {
	uint32_t number;
	const void *object;
	uint64_t place;
};

/* That schedule may run in a process of its own, so its calls are in shared memory. */
struct calls {
	unsigned n;
	struct call at[CALLS];
};

static struct calls *calls; /* NULL: nothing is learnt */

static struct {
	bool listed;
	const void *objects[OBJECTS]; /* those that more than one fiber touches */
	unsigned count;
	uint64_t places[PLACES]; /* of the selected one */
	unsigned place_count;
	unsigned by[FIBERS];
} touched;

void fib_touched_begin(void)
{
	if (calls)
		fib_check(munmap(calls, sizeof *calls) == 0);
	calls = mmap(NULL, sizeof *calls, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fib_check(calls != MAP_FAILED);
	touched.listed = false;
}

void fib_touched_call(uint32_t number, const struct fib_intent *intent)
{
	if (intent->object && calls && calls->n < CALLS)
		calls->at[calls->n++] =
			(struct call){number, intent->object, fib_explorer_place(number)};
}

/* Whether a call before `end` touches what that call touches, from another fiber. */
static bool is_second_fiber(unsigned end)
{
	unsigned i;

	for (i = 0; i < end; i++)
		if (calls->at[i].object == calls->at[end].object &&
		    calls->at[i].number != calls->at[end].number)
			return true;
	return false;
}

static bool is_listed(const void *object)
{
	unsigned i;

	for (i = 0; i < touched.count; i++)
		if (touched.objects[i] == object)
			return true;
	return false;
}

unsigned fib_touched_objects(void)
{
	unsigned i;

	if (touched.listed || !calls)
		return touched.count;
	touched.listed = true;
	touched.count = 0;
	for (i = 0; i < calls->n && touched.count < OBJECTS; i++)
		if (!is_listed(calls->at[i].object) && is_second_fiber(i))
			touched.objects[touched.count++] = calls->at[i].object;
	return touched.count;
}

static void add_place(uint64_t place)
{
	unsigned i;

	for (i = 0; i < touched.place_count; i++)
		if (touched.places[i] == place)
			return;
	if (i < PLACES)
		touched.places[touched.place_count++] = place;
}

static bool is_place(uint64_t place)
{
	unsigned i;

	for (i = 0; i < touched.place_count; i++)
		if (touched.places[i] == place)
			return true;
	return false;
}

void fib_touched_select(unsigned object)
{
	unsigned i;

	touched.place_count = 0;
	memset(touched.by, 0, sizeof touched.by);
	for (i = 0; i < calls->n; i++)
		if (calls->at[i].object == touched.objects[object])
			add_place(calls->at[i].place);
	/* Places are also those of other objects: what counts is how often they are met. */
	for (i = 0; i < calls->n; i++)
		if (calls->at[i].number < FIBERS && is_place(calls->at[i].place))
			touched.by[calls->at[i].number]++;
}

bool fib_touched_by(uint32_t number)
{
	return fib_explorer_intent(number)->call && is_place(fib_explorer_place(number));
}

unsigned fib_touched_calls(uint32_t number)
{
	return number < FIBERS ? touched.by[number] : 0;
}
