/* SPDX-License-Identifier: MIT */
/*
 * budget.c - limit the time and the size of an answer
 *
 * A hostile program can keep its client busy forever: STILL frames without end, a byte now and
 * then, the same fibers again and again, frames that do not belong to the answer. A limit on each
 * step does not end that. So each answer has a budget of waiting time and of bytes. Only data that
 * cannot be repeated without end adds to it.
 *
 * A small answer has FIB_WIRE_SMALL and SMALL_BYTES, and nothing adds to them. An honest program
 * keeps this limit even if every CPU has a carrier to run: it needs 10 to 40 ms, and for 40 clients
 * at once 0.6 s.
 *
 * A large answer has FIB_WIRE_PATIENCE. Each wait is subtracted; each new thing adds FIB_WIRE_NEWS,
 * but the budget never exceeds PATIENCE (a token bucket). An honest program whose CPUs are busy
 * sends a stack in 2 to 100 ms. The decoder of the frames knows what is new: a record behind all
 * records before it, a mapping, an event. The program has announced how many there can be.
 *
 * A walk through many records may send nothing for seconds: the counters, and the search for one
 * fiber. Its STILL frames contain the progress of the walk. All progress reports of an answer
 * together add at most FIB_WIRE_WALK: the counters of a million fibers of a program that uses every
 * CPU take 6 to 12 s.
 *
 * Only waiting is charged, not the work of the reader. If a sleep took far longer than intended,
 * only a part is charged (client.c): a machine that did not run also kept the program from
 * answering. Bytes that arrive without any wait are counted. An answer that makes progress all the
 * time ends after FIB_WIRE_LONGEST: the stacks of a million fibers of a program that uses every CPU
 * take 8 to 40 minutes.
 */
#include "wire/budget.h"

#include <errno.h>
#include <string.h>

#define PLACES 1024u

static bool is_large(enum fib_wire_type request)
{
	switch (request) {
	case FIB_WIRE_LIST:
	case FIB_WIRE_SHOW:
	case FIB_WIRE_STACK:
	case FIB_WIRE_EVENTS:
	case FIB_WIRE_RECORD:
		return true;
	default:
		return false;
	}
}

void fib_wire_budget_begin(struct fib_wire_budget *budget, enum fib_wire_type request,
			   int64_t timeout_ns, int64_t now)
{
	*budget = (struct fib_wire_budget){.request = request, .until = now + FIB_WIRE_LONGEST};
	if (is_large(request))
		budget->left = FIB_WIRE_PATIENCE;
	else if (request == FIB_WIRE_COUNTERS)
		budget->left = timeout_ns;
	else
		budget->left = timeout_ns < FIB_WIRE_SMALL ? timeout_ns : FIB_WIRE_SMALL;
}

int fib_wire_budget_wait(struct fib_wire_budget *budget, int64_t ns)
{
	budget->left -= ns;
	if (budget->left > 0)
		return 0;
	return budget->spoke ? -ETIME : -ETIMEDOUT;
}

int fib_wire_budget_come(struct fib_wire_budget *budget, size_t bytes, int64_t now)
{
	budget->spoke = true;
	budget->bytes += bytes;
	return now < budget->until ? 0 : -ETIME;
}

int fib_wire_budget_frame(const struct fib_wire_budget *budget, size_t length)
{
	const uint64_t most =
		is_large(budget->request) ? FIB_WIRE_IDLE_BYTES : FIB_WIRE_SMALL_BYTES;

	/* No frame of a small answer is as large as a quarter of its limit. */
	if (!is_large(budget->request) && length > most / 4)
		return -ETIME;
	return budget->bytes > most ? -ETIME : 0;
}

static void add(struct fib_wire_budget *budget, int64_t ns)
{
	budget->left += ns;
	if (is_large(budget->request) && budget->left > FIB_WIRE_PATIENCE)
		budget->left = FIB_WIRE_PATIENCE;
}

void fib_wire_budget_news(struct fib_wire_budget *budget, uint64_t count)
{
	const uint64_t most = FIB_WIRE_PATIENCE / FIB_WIRE_NEWS;

	if (!count || !is_large(budget->request))
		return;
	budget->bytes = 0;
	add(budget, (int64_t)(count < most ? count : most) * FIB_WIRE_NEWS);
}

void fib_wire_budget_still(struct fib_wire_budget *budget, const void *payload, size_t length)
{
	struct fib_wire_still still;
	unsigned place;

	if (length < sizeof still ||
	    (!is_large(budget->request) && budget->request != FIB_WIRE_COUNTERS))
		return;
	memcpy(&still, payload, sizeof still);
	if (!still.all || still.done > still.all || still.all > UINT64_MAX / PLACES)
		return;
	place = (unsigned)(still.done * PLACES / still.all);
	if (place <= budget->place)
		return;
	add(budget, FIB_WIRE_WALK / PLACES * (place - budget->place));
	budget->place = place;
}
