/* SPDX-License-Identifier: MIT */
/* render_account.h - print where time went, as text for people or JSON for scripts */
#ifndef INS_RENDER_ACCOUNT_H
#define INS_RENDER_ACCOUNT_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/recording/account.h"

/* At most `rows` rows of each table. */
void ins_account_text(FILE *out, const struct ins_recording *recording,
		      const struct ins_replay *replay, const struct ins_account *account,
		      size_t rows);

/* Write all as one object. Returns 0, or -ENOMEM or -EIO if the output is incomplete. */
int ins_account_json(FILE *out, const struct ins_recording *recording,
		     const struct ins_account *account, size_t rows);

/*
 * What a row's waits were for: `mutex "cfg"@0x..`, `fd 17 read`, `fd read, 9998 descriptors`,
 * `sleep`; escaped. ins_account_ways(): how descriptors are waited for, "read", "write",
 * "read|write". Both return buf.
 */
const char *ins_account_for(const struct ins_recording *recording, const struct ins_waited *row,
			    char *buf, size_t size);
const char *ins_account_ways(unsigned ways, char *buf, size_t size);

/* The tables as objects with at most `most` rows each, and the number of rows. NULL: no memory. */
json_t *ins_account_totals(const struct ins_account *account);
json_t *ins_account_carriers(const struct ins_recording *recording,
			     const struct ins_account *account);
json_t *ins_account_functions(const struct ins_recording *recording,
			      const struct ins_account *account, size_t most);
json_t *ins_account_waits(const struct ins_recording *recording, const struct ins_account *account,
			  size_t most);
json_t *ins_account_stacks(const struct ins_account *account, size_t most);
json_t *ins_account_looks(const struct ins_recording *recording);
json_t *ins_account_counts(const struct ins_account *account);

#endif
