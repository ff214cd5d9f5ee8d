/* SPDX-License-Identifier: MIT */
/* render_account.h - where time went, as text for people or JSON for scripts. */
#ifndef INS_RENDER_ACCOUNT_H
#define INS_RENDER_ACCOUNT_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/account.h"

/* At most `rows` rows of each table. */
void ins_account_text(FILE *out, const struct ins_recording *recording,
		      const struct ins_replay *replay, const struct ins_account *account,
		      size_t rows);

/* The tables as objects, all their rows. NULL without memory. */
json_t *ins_account_totals(const struct ins_account *account);
json_t *ins_account_carriers(const struct ins_recording *recording,
			     const struct ins_account *account);
json_t *ins_account_functions(const struct ins_recording *recording,
			      const struct ins_account *account);
json_t *ins_account_waits(const struct ins_recording *recording, const struct ins_account *account);
json_t *ins_account_stacks(const struct ins_account *account);

#endif
