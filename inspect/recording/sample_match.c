/* SPDX-License-Identifier: MIT */
/* sample_match.c - whose wait a sample is of. */
#include "inspect/recording/sample_match.h"

#include <errno.h>
#include <stdlib.h>

#define ODD 64 /* samples that do not end in the wait that they may be of: there are one, or two */

struct ins_sample_match {
	const struct ins_recording *recording;
	uint8_t *waits; /* that a sample may be of: 0, 1, 2: several */
};

static bool may_be_of(const struct ins_recording_sample *s, const struct ins_slice *slice)
{
	if (!ins_recording_same_wait(s->wait_kind, s->wait_object, s->wait_arg, slice->kind,
				     slice->object, slice->arg))
		return false;
	if (s->to < slice->from - INS_RECORDING_SLACK || s->from > slice->to + INS_RECORDING_SLACK)
		return false;
	/* Its own beginning is never earlier than its record says. */
	return (slice->flags & INS_SLICE_BEGAN_EARLIER) ||
	       s->since <= slice->from + INS_RECORDING_SLACK;
}

/* The samples of that fiber which may be of the wait: calls fn until it says so. */
static void each(const struct ins_sample_match *seen, const struct ins_slice *slice,
		 bool (*fn)(const struct ins_sample_match *seen, size_t i, void *arg), void *arg)
{
	const struct ins_recording *r = seen->recording;
	unsigned odd = 0;
	size_t i;

	for (i = ins_recording_samples_of(r, slice->fiber, slice->from - INS_RECORDING_SLACK);
	     i < r->samples && r->sample[i].fiber == slice->fiber; i++) {
		if (r->sample[i].from > slice->to + INS_RECORDING_SLACK)
			break;
		if (may_be_of(&r->sample[i], slice) && fn(seen, i, arg))
			break;
		/* Those that end in this wait end in no other: all waits together do not look at more than there are. */
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
