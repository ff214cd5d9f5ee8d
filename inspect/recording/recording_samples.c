/* SPDX-License-Identifier: MIT */
/*
 * recording_samples.c - where fibers stood, and when
 *
 * Older recordings have one stack for some fibers, taken as they ended: of the wait that the list of that moment tells of.
 */
#include <errno.h>
#include <stdlib.h>

#include "inspect/recording/recording_inside.h"

#define OF_FIBER (UINT64_C(1) << 63) /* the number of such a stack, beside the fiber's */

static int by_fiber(const void *a, const void *b)
{
	const struct ins_recording_sample *x = a, *y = b;

	if (x->fiber != y->fiber)
		return x->fiber < y->fiber ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_time(const void *a, const void *b)
{
	const struct ins_recording_look *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int add_old(struct ins_recording *r, const struct ins_recording_fiber *f)
{
	const struct ins_recording_sample sample = {
		.fiber = f->id,
		.stack = f->id | OF_FIBER,
		.wait_object = f->wait_object,
		.wait_arg = f->wait_arg,
		.since = f->since,
		.from = f->seen,
		.to = r->head.ended,
		.wait_kind = f->wait_kind,
	};

	return ins_recording_grow((void **)&r->sample, &r->samples, sizeof sample, &sample,
				  sizeof sample);
}

static int take_old(struct ins_recording *r)
{
	struct ins_recording_look look = {.to = r->head.ended, .fibers = r->lasts};
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < r->lasts; i++) {
		if (!ins_recording_find_text(r, INS_TEXTS_STACKS, r->last[i].id))
			continue;
		look.from = r->last[i].seen;
		rc = add_old(r, &r->last[i]);
	}
	look.stacks = r->samples;
	if (rc == 0 && r->samples)
		rc = ins_recording_grow((void **)&r->look, &r->looks, sizeof look, &look,
					sizeof look);
	return rc;
}

int ins_recording_sort_samples(struct ins_recording *r)
{
	const int rc = r->looks ? 0 : take_old(r);

	if (r->samples)
		qsort(r->sample, r->samples, sizeof *r->sample, by_fiber);
	if (r->looks)
		qsort(r->look, r->looks, sizeof *r->look, by_time);
	return rc;
}

size_t ins_recording_samples_of(const struct ins_recording *r, uint64_t fiber, int64_t then)
{
	const struct ins_recording_sample wanted = {.fiber = fiber, .to = then};
	size_t low = 0, high = r->samples;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_fiber(&r->sample[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *ins_recording_shape(const struct ins_recording *r, uint64_t stack)
{
	if (stack & OF_FIBER)
		return ins_recording_find_text(r, INS_TEXTS_STACKS, stack & ~OF_FIBER);
	return ins_recording_find_text(r, INS_TEXTS_SHAPES, stack);
}

bool ins_recording_same_wait(uint8_t kind, uint64_t wait_object, uint64_t wait_arg,
			     uint8_t event_kind, uint64_t object, uint32_t arg)
{
	if (kind != event_kind)
		return false;
	if (kind == FIB_WAIT_JOIN)
		return wait_arg == object;
	return wait_object == object && (kind != FIB_WAIT_FD || (uint32_t)wait_arg == arg);
}
