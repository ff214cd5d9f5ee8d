/* SPDX-License-Identifier: MIT */
/*
 * recording_events.c - merge the rings of events into one list in order of time
 *
 * A file has the rings one after another, in pieces. Each ring is in order of time. Here the events
 * of all rings become one list. Where a ring was overwritten before it was read there is a hole: an
 * event of its own, behind the last event that was read, which says when the hole ends. What the
 * ring's carrier did in that time is unknown.
 *
 * Times are ticks of the program's clock. The file has pairs of ticks and ns; between two pairs the
 * time is interpolated.
 */
#include "inspect/recording/recording_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/recording/recording_texts.h"

#define RINGS_MAX 65536

/* -- times -- */

static int by_time(const void *a, const void *b)
{
	const struct fib_recording_clock *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Drop pairs that are out of order or equal. */
static void sort_clocks(struct ins_recording_rings *in)
{
	size_t i, n = 0;

	if (!in->clocks)
		return;
	qsort(in->clock, in->clocks, sizeof *in->clock, by_time);
	for (i = 0; i < in->clocks; i++)
		if (!n || (in->clock[i].time > in->clock[n - 1].time &&
			   in->clock[i].ns >= in->clock[n - 1].ns))
			in->clock[n++] = in->clock[i];
	in->clocks = n;
}

/* Saturate: damaged clocks may overflow. */
static int64_t later(int64_t ns, int64_t by)
{
	int64_t sum;

	return !__builtin_add_overflow(ns, by, &sum) ? sum : by < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t to_ns(const struct ins_recording_rings *in, uint64_t time)
{
	const struct fib_recording_clock *c = in->clock;
	size_t low = 0, high = in->clocks - 1;
	double ns;

	if (in->clocks < 2)
		return in->clocks ? later(c[0].ns, (int64_t)(time - c[0].time)) : (int64_t)time;
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (c[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	ns = (double)(int64_t)(time - c[low].time) *
	     (double)((uint64_t)c[high].ns - (uint64_t)c[low].ns) /
	     (double)(c[high].time - c[low].time);
	if (!(ns > -1e18 && ns < 1e18))
		return c[low].ns;
	return later(c[low].ns, (int64_t)ns);
}

/* -- events -- */

/* The index of the ring among the sorted ones, or where it belongs. */
static size_t place_of(const struct ins_recording *r, const struct ins_recording_rings *in,
		       const struct fib_recording_events *e)
{
	size_t low = 0, high = r->rings;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct ins_ring *ring = &r->ring[in->sorted[middle]];

		if (ring->runtime < e->runtime ||
		    (ring->runtime == e->runtime && ring->carrier < e->carrier))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int find_ring(struct ins_recording *r, struct ins_recording_rings *in,
		     const struct fib_recording_events *e, uint32_t *ret)
{
	const size_t at = place_of(r, in, e);

	if (at < r->rings) {
		*ret = in->sorted[at];
		if (r->ring[*ret].runtime == e->runtime && r->ring[*ret].carrier == e->carrier)
			return 0;
	}
	if (r->rings == RINGS_MAX)
		return -EINVAL;
	memmove(&in->sorted[at + 1], &in->sorted[at], (r->rings - at) * sizeof *in->sorted);
	in->sorted[at] = *ret = (uint32_t)r->rings;
	r->ring[r->rings++] = (struct ins_ring){e->runtime, e->carrier, 0, 0};
	return 0;
}

/* Saturate, so that the count never wraps to 0. */
static void add_lost(uint64_t *to, uint64_t n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = UINT64_MAX;
}

static void append(struct ins_recording *r, int64_t ns, uint32_t ring, const struct fib_event *e)
{
	r->event[r->events] = (struct ins_recorded){ns, r->events, ring, *e};
	r->events++;
}

/* Add the hole behind the ring's last event; it ends at `then`. */
static void add_hole(struct ins_recording *r, struct ins_recording_rings *in, uint32_t ring,
		     int64_t then)
{
	struct ins_ring_end *end = &in->ring_end[ring];
	const int64_t from = end->latest > r->head.began ? end->latest : r->head.began;
	struct fib_event hole = {.time = end->lost, .type = FIB_EVENT_COUNT};

	if (!end->lost)
		return;
	hole.object = (uint64_t)(then > from ? then : from);
	append(r, from, ring, &hole);
	end->lost = 0;
}

static void add(struct ins_recording *r, struct ins_recording_rings *in, uint32_t ring,
		const struct fib_event *e)
{
	const int64_t ns = to_ns(in, e->time);

	add_hole(r, in, ring, ns);
	/* A ring is in order even if the clocks are not. */
	if (ns > in->ring_end[ring].latest)
		in->ring_end[ring].latest = ns;
	append(r, in->ring_end[ring].latest, ring, e);
}

int ins_recording_begin_events(struct ins_recording *r, struct ins_recording_rings *in,
			       size_t parts, size_t events)
{
	const size_t rings = parts < RINGS_MAX ? parts : RINGS_MAX;
	size_t i;

	sort_clocks(in);
	r->event = malloc((events + 1) * sizeof *r->event);
	r->ring = malloc((rings + 1) * sizeof *r->ring);
	in->ring_end = calloc(parts + 1, sizeof *in->ring_end);
	in->sorted = malloc((parts + 1) * sizeof *in->sorted);
	if (!r->ring || !r->event || !in->ring_end || !in->sorted)
		return -ENOMEM;
	for (i = 0; i <= parts; i++)
		in->ring_end[i].latest = INT64_MIN;
	return 0;
}

int ins_recording_take_events(struct ins_recording *r, struct ins_recording_rings *in,
			      const unsigned char *at, size_t size)
{
	struct fib_recording_events head;
	struct fib_event e;
	uint32_t ring, i;
	int rc;

	if (size < sizeof head)
		return -EINVAL;
	memcpy(&head, at, sizeof head);
	at += sizeof head;
	if ((size - sizeof head) / sizeof e < head.count)
		return -EINVAL;
	rc = find_ring(r, in, &head, &ring);
	if (rc < 0)
		return rc;
	add_lost(&r->ring[ring].lost, head.lost);
	add_lost(&r->lost, head.lost);
	/* This piece may have no events that would end the hole. */
	add_lost(&in->ring_end[ring].lost, head.lost);
	for (i = 0; i < head.count; i++, at += sizeof e) {
		memcpy(&e, at, sizeof e);
		if (e.type == FIB_EVENT_NAME) {
			ins_recording_take_name(r->texts, &e);
			continue;
		}
		if (e.type == FIB_EVENT_NONE || e.type >= FIB_EVENT_COUNT)
			return -EINVAL;
		add(r, in, ring, &e);
		r->ring[ring].events++;
	}
	return 0;
}

/* By time; equal times in the order of reading, so the events of one ring keep their order. */
static int by_ns(const void *a, const void *b)
{
	const struct ins_recorded *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

void ins_recording_end_events(struct ins_recording *r, struct ins_recording_rings *in)
{
	size_t i;

	for (i = 0; i < r->rings; i++)
		add_hole(r, in, (uint32_t)i, r->head.ended);
	if (r->events)
		qsort(r->event, r->events, sizeof *r->event, by_ns);
}

void ins_recording_free_rings(struct ins_recording_rings *in)
{
	free(in->clock);
	free(in->ring_end);
	free(in->sorted);
}
