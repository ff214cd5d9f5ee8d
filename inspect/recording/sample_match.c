/* SPDX-License-Identifier: MIT */
/* sample_match.c - find the wait that a stack sample belongs to */
#include "inspect/recording/sample_match.h"

#include <errno.h>
#include <stdlib.h>

/* How many samples may end outside the wait that they may belong to; normally one or two do. */
#define ODD 64

struct ins_sample_match {
	const struct ins_recording *recording;
	uint8_t *waits; /* waits that a sample may belong to: 0, 1, 2: several */
};

static bool may_be_of(const struct fib_recording_sample *s, const struct ins_slice *slice)
{
	if (!ins_recording_same_wait(s->wait_kind, s->wait_object, s->wait_arg, slice->kind,
				     slice->object, slice->arg))
		return false;
	if (s->to < slice->from - FIB_RECORDING_SLACK || s->from > slice->to + FIB_RECORDING_SLACK)
		return false;
	/* A wait never starts earlier than its record says. */
	return (slice->flags & INS_SLICE_BEGAN_EARLIER) ||
	       s->since <= slice->from + FIB_RECORDING_SLACK;
}

/* Call fn for the fiber's samples that may belong to the wait, until fn returns true. */
static void each(const struct ins_sample_match *seen, const struct ins_slice *slice,
		 bool (*fn)(const struct ins_sample_match *seen, size_t i, void *arg), void *arg)
{
	const struct ins_recording *r = seen->recording;
	unsigned odd = 0;
	size_t i;

	for (i = ins_recording_samples_of(r, slice->fiber, slice->from - FIB_RECORDING_SLACK);
	     i < r->samples && r->sample[i].fiber == slice->fiber; i++) {
		if (r->sample[i].from > slice->to + FIB_RECORDING_SLACK)
			break;
		if (may_be_of(&r->sample[i], slice) && fn(seen, i, arg))
			break;
		/*
		 * A sample that ends in this wait ends in no other. So all waits together check no
		 * more samples than exist.
		 */
		if ((r->sample[i].to < slice->from || r->sample[i].to >= slice->to) && ++odd == ODD)
			break;
	}
}

static bool count(const struct ins_sample_match *seen, size_t i, void *arg)
{
	(void)arg;
	seen->waits[i] += seen->waits[i] < 2;
	return false;
}

static void take_slice(void *context, const struct ins_slice *slice)
{
	if (slice->doing == INS_DOING_WAITING)
		each(context, slice, count, NULL);
}

int ins_sample_match_new(const struct ins_recording *r, struct ins_replay *replay,
			 struct ins_sample_match **ret)
{
	static const struct ins_replay_ops ops = {.slice = take_slice};
	struct ins_sample_match *seen = calloc(1, sizeof *seen);

	if (seen)
		seen->waits = calloc(r->samples + 1, sizeof *seen->waits);
	if (!seen || !seen->waits) {
		free(seen);
		return -ENOMEM;
	}
	seen->recording = r;
	if (r->samples)
		ins_replay_play(replay, &ops, seen);
	*ret = seen;
	return 0;
}

void ins_sample_match_free(struct ins_sample_match *seen)
{
	if (!seen)
		return;
	free(seen->waits);
	free(seen);
}

static bool find(const struct ins_sample_match *seen, size_t i, void *arg)
{
	const struct ins_recording *r = seen->recording;

	if (seen->waits[i] != 1)
		return false;
	*(const char **)arg = ins_recording_shape(r, r->sample[i].stack);
	return *(const char **)arg != NULL;
}

const char *ins_sample_match_stack(const struct ins_sample_match *seen,
				   const struct ins_slice *slice)
{
	const char *stack = NULL;

	if (slice->doing == INS_DOING_WAITING)
		each(seen, slice, find, &stack);
	return stack;
}
