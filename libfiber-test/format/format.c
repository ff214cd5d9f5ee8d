/* SPDX-License-Identifier: MIT */
/* format.c - find a format, count outcomes */
#include "format/format.h"

#include <string.h>

#include "base/compiler.h"
#include "format/words.h"

const struct fib_format *fib_format_find(const char *name)
{
	static const struct fib_format *const all[] = {&fib_format_text, &fib_format_tap,
						       &fib_format_junit, &fib_format_json};
	unsigned i;

	for (i = 0; i < fib_countof(all); i++)
		if (strcmp(all[i]->name, name) == 0)
			return all[i];
	return NULL;
}

void fib_format_outcome(const struct fib_format *format, struct fib_document *d,
			const struct fib_outcome *outcome)
{
	if (!d->written++)
		d->seed = outcome->seed;
	d->duration += outcome->duration;
	if (outcome->error || outcome->signal)
		d->errors++;
	else
		d->findings += fib_outcome_failed(outcome) != 0;
	if (outcome->signal)
		d->signal = outcome->signal;
	format->outcome(d, outcome);
}
