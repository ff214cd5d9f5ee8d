/* SPDX-License-Identifier: MIT */
/*
 * account.h - where the time of a recording went: by fiber, by what was waited for, by function, by
 * stack
 */
#ifndef INS_ACCOUNT_H
#define INS_ACCOUNT_H

#include "inspect/recording/account_rows.h"

/* Replays the recording once, or twice if it has stacks. -ENOMEM. */
int ins_account_new(const struct ins_recording *recording, struct ins_replay *replay,
		    struct ins_account **ret);
void ins_account_free(struct ins_account *account); /* NULL: no effect */

#endif
