/* SPDX-License-Identifier: MIT */
/* history.c - the totals of a program over the last minutes */
#include "fiberctl/serve/history.h"

#include <stdio.h>
#include <stdlib.h>

#include "inspect/text/json_put.h"

void serve_history_add(struct serve_history *h, char *totals)
{
	char **slot = &h->totals[h->count++ % SERVE_HISTORY];

	free(*slot);
	*slot = totals;
}

char *serve_history_json(const struct serve_history *h, int pid, const char *name)
{
	const size_t first = h->count > SERVE_HISTORY ? h->count - SERVE_HISTORY : 0;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "{\"schemaVersion\":1,\"pid\":%d,\"name\":", pid);
	ins_json_put_text(out, name);
	fputs(",\"samples\":[", out);
	for (i = first; i < h->count; i++)
		fprintf(out, "%s%s", i > first ? ",\n" : "", h->totals[i % SERVE_HISTORY]);
	fputs("]}\n", out);
	return fclose(out) == 0 ? text : NULL;
}

void serve_history_drop(struct serve_history *h)
{
	size_t i;

	for (i = 0; i < SERVE_HISTORY; i++)
		free(h->totals[i]);
	*h = (struct serve_history){.count = 0};
}
