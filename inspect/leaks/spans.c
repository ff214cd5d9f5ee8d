/* SPDX-License-Identifier: MIT */
/*
 * spans.c - what is at an address: a part of memory, or nothing
 *
 * The spans of the largest kind are settled first. Each smaller kind then gets what they leave.
 */
#include "inspect/leaks/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ins_spans_add(struct ins_spans *spans, uint64_t start, uint64_t end, uint32_t kind,
		  uint32_t index)
{
	if (start >= end)
		return 0;
	if (spans->count == spans->room) {
		const size_t room = spans->room ? spans->room * 2 : 64;
		struct ins_span *more = realloc(spans->at, room * sizeof *more);

		if (!more)
			return -ENOMEM;
		spans->at = more;
		spans->room = room;
	}
	spans->at[spans->count++] = (struct ins_span){start, end, kind, index, false};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct ins_span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? 1 : x->end > y->end ? -1 : 0;
}

/* Add to `to` what the settled spans leave of one, beginning at settled span *i. */
static int add_rest(struct ins_spans *to, const struct ins_spans *settled,
		    const struct ins_span *one, size_t *i)
{
	uint64_t at = one->start;
	size_t k;
	int rc = 0;

	while (*i < settled->count && settled->at[*i].end <= at)
		++*i;
	for (k = *i; rc == 0 && k < settled->count && settled->at[k].start < one->end; k++) {
		if (settled->at[k].start > at)
			rc = ins_spans_add(to, at, settled->at[k].start, one->kind, one->index);
		at = settled->at[k].end > at ? settled->at[k].end : at;
	}
	if (rc == 0 && at < one->end)
		rc = ins_spans_add(to, at, one->end, one->kind, one->index);
	return rc;
}

/* Merge two sorted lists without overlap. */
static int merge(const struct ins_spans *a, const struct ins_spans *b, struct ins_spans *ret)
{
	size_t i = 0, k = 0;
	int rc = 0;

	while (rc == 0 && (i < a->count || k < b->count)) {
		const bool first =
			k == b->count || (i < a->count && a->at[i].start < b->at[k].start);
		const struct ins_span *s = first ? &a->at[i++] : &b->at[k++];

		rc = ins_spans_add(ret, s->start, s->end, s->kind, s->index);
	}
	return rc;
}

/* Settle the spans of one kind, which are sorted, under those that are settled. */
static int settle_kind(const struct ins_spans *all, uint32_t kind, struct ins_spans *settled)
{
	struct ins_spans rest = {0}, merged = {0};
	uint64_t before = 0;
	size_t i, at = 0;
	int rc = 0;

	for (i = 0; rc == 0 && i < all->count; i++) {
		struct ins_span one = all->at[i];

		if (one.kind != kind || one.end <= before)
			continue;
		one.start = one.start < before ? before : one.start;
		before = one.end;
		rc = add_rest(&rest, settled, &one, &at);
	}
	if (rc == 0)
		rc = merge(settled, &rest, &merged);
	ins_spans_drop(&rest);
	ins_spans_drop(settled);
	*settled = merged;
	return rc;
}

int ins_spans_settle(struct ins_spans *spans, uint32_t kinds)
{
	struct ins_spans settled = {0};
	uint32_t kind = kinds;
	int rc = 0;

	if (spans->count)
		qsort(spans->at, spans->count, sizeof *spans->at, by_start);
	while (rc == 0 && kind--)
		rc = settle_kind(spans, kind, &settled);
	ins_spans_drop(spans);
	*spans = settled;
	return rc;
}

struct ins_span *ins_spans_find(struct ins_spans *spans, uint64_t address)
{
	size_t low = 0, high = spans->count;

	if (!high)
		return NULL;
	if (address >= spans->at[spans->last].start && address < spans->at[spans->last].end)
		return &spans->at[spans->last];
	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (spans->at[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || address >= spans->at[low - 1].end)
		return NULL;
	spans->last = low - 1;
	return &spans->at[low - 1];
}

void ins_spans_drop(struct ins_spans *spans)
{
	free(spans->at);
	*spans = (struct ins_spans){0};
}
