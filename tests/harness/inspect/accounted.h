/* SPDX-License-Identifier: MIT */
/* accounted.h - play a made-up recording and add up its times */
#ifndef UNIT_INSPECT_ACCOUNTED_H
#define UNIT_INSPECT_ACCOUNTED_H

#include "inspect/recording/account.h"
#include "tests/harness/inspect/recordings.h"

static struct ins_recording *r;
static struct ins_replay *replay;
static struct ins_account *a;

/* Make this recording r, and play it. */
static inline void accounted(struct ins_recording *recording)
{
	r = recording;
	assert_int_equal(ins_replay_new(r, &replay), 0);
	assert_int_equal(ins_account_new(r, replay, &a), 0);
}

static inline void accounted_end(void)
{
	ins_account_free(a);
	ins_replay_free(replay);
	ins_recording_close(r);
}

/* A test's setup with made_three(), and its teardown. */
static inline int accounted_three(void **state)
{
	(void)state;
	accounted(made_three());
	return 0;
}

static inline int accounted_three_end(void **state)
{
	(void)state;
	accounted_end();
	return 0;
}

#endif
