/* SPDX-License-Identifier: MIT */
/*
 * record.c - the histories of a schedule
 *
 * One clock counts the begins and the returns of all histories. A call belongs to the history that
 * was begun last when the call began, so the calls of a history are neighbours. Returns go by the
 * number of the call, so a call may return after the next history has begun.
 */
#include "history/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/cut.h"
#include "history/draw.h"
#include "history/linearizable.h"
#include "history/model.h"

struct history {
	struct fiber_test_model model;
	uint32_t first; /* call */
};

static struct {
	struct history histories[FIB_HISTORIES_MAX];
	unsigned count;
	struct fiber_test_call *calls;
	uint32_t *fibers; /* of each call */
	uint32_t n, room;
	uint64_t clock;
	bool closed;
	char why[128];
} rec;

void fib_record_reset(void)
{
	rec.count = 0;
	rec.n = 0;
	rec.clock = 0;
	rec.closed = false;
}

void fib_record_close(void)
{
	rec.closed = true;
}

unsigned fib_record_count(void)
{
	return rec.count;
}

const void *fib_record_object(void)
{
	return rec.count ? &rec.histories[rec.count - 1] : NULL;
}

static const char *why_not(void)
{
	return rec.closed ? "the test has ended and its histories were checked" : NULL;
}

const char *fib_record_history(const struct fiber_test_model *model)
{
	struct history *h = &rec.histories[rec.count];
	const char *why = why_not();

	if (why)
		return why;
	if (rec.count == FIB_HISTORIES_MAX) {
		snprintf(rec.why, sizeof rec.why, "more than %u histories in a schedule",
			 FIB_HISTORIES_MAX);
		return rec.why;
	}
	why = fib_model_check(model, &h->model);
	if (why) {
		snprintf(rec.why, sizeof rec.why, "the model %s", why);
		return rec.why;
	}
	h->first = rec.n;
	rec.count++;
	return NULL;
}

static bool grow(void)
{
	const uint32_t room = rec.room ? 2 * rec.room : 64;
	struct fiber_test_call *calls = realloc(rec.calls, room * sizeof *calls);
	uint32_t *fibers;

	if (!calls)
		return false;
	rec.calls = calls;
	fibers = realloc(rec.fibers, room * sizeof *fibers);
	if (!fibers)
		return false;
	rec.fibers = fibers;
	rec.room = room;
	return true;
}

const char *fib_record_call(uint32_t fiber, unsigned op, int64_t key, int64_t arg, unsigned *ret)
{
	const char *why = why_not();

	*ret = 0;
	if (why)
		return why;
	if (!rec.count)
		return "no history has begun; call fiber_test_history() first";
	if (rec.n == FIB_RECORDED_CALLS_MAX) {
		snprintf(rec.why, sizeof rec.why, "more than %u calls in a schedule",
			 FIB_RECORDED_CALLS_MAX);
		return rec.why;
	}
	if (rec.n == rec.room && !grow())
		return "out of memory";
	rec.fibers[rec.n] = fiber;
	rec.calls[rec.n] = (struct fiber_test_call){op, key, arg, 0, ++rec.clock, 0};
	*ret = ++rec.n;
	return NULL;
}

const char *fib_record_return(unsigned call, int64_t result)
{
	const char *why = why_not();

	if (why)
		return why;
	if (!call || call > rec.n) {
		snprintf(rec.why, sizeof rec.why, "no call has the number %u", call);
		return rec.why;
	}
	if (rec.calls[call - 1].end) {
		snprintf(rec.why, sizeof rec.why, "call %u has returned already", call);
		return rec.why;
	}
	rec.calls[call - 1].result = result;
	rec.calls[call - 1].end = ++rec.clock;
	return NULL;
}

static uint32_t size_of(unsigned i)
{
	return (i + 1 < rec.count ? rec.histories[i + 1].first : rec.n) - rec.histories[i].first;
}

static int check(unsigned i, int64_t *ret_key)
{
	const struct history *h = &rec.histories[i];
	const uint32_t n = size_of(i);
	uint32_t *order = calloc(n + 1, sizeof *order), used;
	int rc = -ENOMEM;

	if (order)
		rc = fib_linearizable(&h->model, rec.calls + h->first, n, &fib_search_whole, order,
				      &used, ret_key);
	free(order);
	return rc;
}

int fib_record_check(unsigned i)
{
	int64_t key;

	return check(i, &key);
}

void fib_record_draw(unsigned i, void (*alive)(void), char *text, size_t size)
{
	const struct history *h = &rec.histories[i];
	struct fiber_test_call *const calls = rec.calls + h->first;
	uint32_t *const fibers = rec.fibers + h->first;
	const uint32_t all = size_of(i);
	uint32_t n, last;
	int64_t key = 0;
	int used = 0;

	alive();
	check(i, &key);
	n = fib_cut(&h->model, calls, fibers, all, key, alive, &last);
	if (rec.count > 1)
		used = snprintf(text, size, "history %u of %u", i + 1, rec.count);
	else
		used = snprintf(text, size, "history");
	used += snprintf(text + used, size - (size_t)used, ": ");
	if (h->model.by_key)
		used += snprintf(text + used, size - (size_t)used, "key %lld: ", (long long)key);
	if (n < all)
		used += snprintf(text + used, size - (size_t)used, "%u of ", n);
	used += snprintf(text + used, size - (size_t)used, "%u call%s\n", all, all == 1 ? "" : "s");
	fib_draw(&h->model, calls, fibers, n, last, text + used, size - (size_t)used);
}
