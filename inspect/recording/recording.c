/* SPDX-License-Identifier: MIT */
/*
 * recording.c - reading a recording
 *
 * The rings come one after another, in pieces. Each is in order of time by itself; here all become one line. Where a ring was
 * written over before it was read there is a hole, which stands in the line as an event of its own, behind the last one that was
 * read, and says when it ends: what its carrier did meanwhile nobody knows.
 *
 * Times are ticks of the program's clock; pairs of ticks and time are in the file, and between two of them time goes on evenly.
 */
#include "inspect/recording/recording.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/text/access.h"
#include "inspect/text/plain.h"
#include "inspect/recording/recording_inside.h"

#define RINGS_MAX 65536

/* -- times -- */

static int by_time(const void *a, const void *b)
{
	const struct ins_recording_clock *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* Out of place, out of order or the same: of no use. */
static void sort_clocks(struct ins_recording_inside *in)
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

/* Damaged clocks lead beyond all times. */
static int64_t later(int64_t ns, int64_t by)
{
	int64_t sum;

	return !__builtin_add_overflow(ns, by, &sum) ? sum : by < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t to_ns(const struct ins_recording_inside *in, uint64_t time)
{
	const struct ins_recording_clock *c = in->clock;
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

/* Where among the sorted ones the ring is, or belongs. */
static size_t place_of(const struct ins_recording *r, const struct ins_recording_inside *in,
		       const struct ins_recording_events *e)
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

static int find_ring(struct ins_recording *r, struct ins_recording_inside *in,
		     const struct ins_recording_events *e, uint32_t *ret)
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

/* Never down to none again. */
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

/* What was lost in the ring behind its last event came before `then`. */
static void add_hole(struct ins_recording *r, struct ins_recording_inside *in, uint32_t ring,
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

static void add(struct ins_recording *r, struct ins_recording_inside *in, uint32_t ring,
		const struct fib_event *e)
{
	const int64_t ns = to_ns(in, e->time);

	add_hole(r, in, ring, ns);
	/* A ring is in order, whatever the clocks make of it. */
	if (ns > in->ring_end[ring].latest)
		in->ring_end[ring].latest = ns;
	append(r, in->ring_end[ring].latest, ring, e);
}

static int take_events(struct ins_recording *r, struct ins_recording_inside *in,
		       const unsigned char *at, size_t size)
{
	struct ins_recording_events head;
	struct fib_event e;
	uint32_t ring, i;
	int rc;

	memcpy(&head, at, sizeof head);
	at += sizeof head;
	if ((size - sizeof head) / sizeof e < head.count)
		return -EINVAL;
	rc = find_ring(r, in, &head, &ring);
	if (rc < 0)
		return rc;
	add_lost(&r->ring[ring].lost, head.lost);
	add_lost(&r->lost, head.lost);
	/* There may be none behind it, this time. */
	add_lost(&in->ring_end[ring].lost, head.lost);
	for (i = 0; i < head.count; i++, at += sizeof e) {
		memcpy(&e, at, sizeof e);
		if (e.type == FIB_EVENT_NAME) {
			ins_recording_take_name(in, &e);
			continue;
		}
		if (e.type == FIB_EVENT_NONE || e.type >= FIB_EVENT_COUNT)
			return -EINVAL;
		add(r, in, ring, &e);
		r->ring[ring].events++;
	}
	return 0;
}

/* By time; of the same, as they were read: so those of one ring stay in their order. */
static int by_ns(const void *a, const void *b)
{
	const struct ins_recorded *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* -- sections -- */

/* How many events there are at most: and holes. */
static size_t most_events(const unsigned char *at, const unsigned char *end, size_t *ret_parts)
{
	struct ins_recording_part part;
	size_t n = 0, parts = 0;

	for (; at + sizeof part <= end; at += part.size) {
		memcpy(&part, at, sizeof part);
		at += sizeof part;
		if (part.size > (size_t)(end - at))
			break;
		if (part.type == INS_RECORDING_EVENTS) {
			n += part.size / sizeof(struct fib_event) + 1;
			parts++;
		}
	}
	*ret_parts = parts;
	return n;
}

static int take_part(struct ins_recording *r, struct ins_recording_inside *in, bool events,
		     const struct ins_recording_part *part, const unsigned char *at)
{
	if ((part->type == INS_RECORDING_EVENTS) != events)
		return 0;
	switch (part->type) {
	case INS_RECORDING_EVENTS:
		if (part->size < sizeof(struct ins_recording_events))
			return -EINVAL;
		return take_events(r, in, at, part->size);
	case INS_RECORDING_CLOCKS:
		return ins_recording_grow((void **)&in->clock, &in->clocks, sizeof *in->clock, at,
					  part->size);
	case INS_RECORDING_FIBERS:
		return ins_recording_grow((void **)&r->first, &r->firsts, sizeof *r->first, at,
					  part->size);
	case INS_RECORDING_LAST:
		return ins_recording_grow((void **)&r->last, &r->lasts, sizeof *r->last, at,
					  part->size);
	case INS_RECORDING_PLACES:
		return ins_recording_take_texts(in, INS_TEXTS_PLACES, at, part->size);
	case INS_RECORDING_STACKS:
		return ins_recording_take_texts(in, INS_TEXTS_STACKS, at, part->size);
	case INS_RECORDING_WORDS:
		return ins_recording_take_texts(in, INS_TEXTS_WORDS, at, part->size);
	case INS_RECORDING_OBJECTS:
		return ins_recording_take_texts(in, INS_TEXTS_OBJECTS, at, part->size);
	case INS_RECORDING_SHAPES:
		return ins_recording_take_texts(in, INS_TEXTS_SHAPES, at, part->size);
	case INS_RECORDING_SAMPLES:
		return ins_recording_grow((void **)&r->sample, &r->samples, sizeof *r->sample, at,
					  part->size);
	case INS_RECORDING_LOOKS:
		return ins_recording_grow((void **)&r->look, &r->looks, sizeof *r->look, at,
					  part->size);
	default:
		return 0; /* of a newer writer */
	}
}

static int take_all(struct ins_recording *r, struct ins_recording_inside *in, bool events,
		    const unsigned char *at, const unsigned char *end)
{
	struct ins_recording_part part;
	int rc = 0;

	while (rc == 0 && at < end) {
		if ((size_t)(end - at) < sizeof part)
			return -EINVAL;
		memcpy(&part, at, sizeof part);
		at += sizeof part;
		if (part.size > (size_t)(end - at))
			return -EINVAL;
		rc = take_part(r, in, events, &part, at);
		at += part.size;
	}
	return rc;
}

static int read_all(struct ins_recording *r, struct ins_recording_inside *in,
		    const unsigned char *at, size_t size)
{
	const unsigned char *end = at + size;
	size_t parts, most = most_events(at, end, &parts);
	int rc = take_all(r, in, false, at, end);

	if (rc < 0)
		return rc;
	sort_clocks(in);
	r->event = malloc((most + 1) * sizeof *r->event);
	in->ring_end = calloc(parts + 1, sizeof *in->ring_end);
	in->sorted = malloc((parts + 1) * sizeof *in->sorted);
	r->ring = malloc(((parts < RINGS_MAX ? parts : RINGS_MAX) + 1) * sizeof *r->ring);
	if (!r->ring || !r->event || !in->ring_end || !in->sorted)
		return -ENOMEM;
	for (size_t i = 0; i <= parts; i++)
		in->ring_end[i].latest = INT64_MIN;
	rc = take_all(r, in, true, at, end);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < r->rings; i++)
		add_hole(r, in, (uint32_t)i, r->head.ended);
	if (r->events)
		qsort(r->event, r->events, sizeof *r->event, by_ns);
	rc = ins_recording_name_all(r, in);
	return rc < 0 ? rc : ins_recording_sort_samples(r);
}

static int check_head(struct ins_recording_head *h, size_t size)
{
	if (size < sizeof *h || memcmp(h->magic, INS_RECORDING_MAGIC, sizeof h->magic) != 0)
		return -ENOMSG;
	if (h->order != INS_RECORDING_ORDER)
		return -EXDEV;
	if (h->version != INS_RECORDING_VERSION)
		return -ENOTSUP;
	h->name[sizeof h->name - 1] = 0;
	h->host[sizeof h->host - 1] = 0;
	return h->began > 0 && h->ended >= h->began && h->ended < INT64_MAX / 2 ? 0 : -EINVAL;
}

static const char *why(int rc)
{
	switch (rc) {
	case -ENOMSG:
		return "is no recording: 'fibertrace record' writes them";
	case -EXDEV:
		return "is from a machine with another order of bytes";
	case -ENOTSUP:
		return "is of another version: a newer fibertrace may read it";
	case -EINVAL:
		return "is damaged, or was not finished";
	case -EFBIG:
		return "is larger than 4 GiB";
	default:
		return strerror(-rc);
	}
}

int ins_recording_read(const void *bytes, size_t size, const char *name, struct ins_error *error,
		       struct ins_recording **ret)
{
	struct ins_recording *r = calloc(1, sizeof *r);
	struct ins_recording_inside *in = calloc(1, sizeof *in);
	int rc = r && in ? 0 : -ENOMEM;

	if (rc == 0) {
		r->inside = in;
		memcpy(&r->head, bytes, size < sizeof r->head ? size : sizeof r->head);
		rc = check_head(&r->head, size);
	} else {
		free(in);
	}
	if (rc == 0)
		rc = read_all(r, in, (const unsigned char *)bytes + sizeof r->head,
			      size - sizeof r->head);
	if (rc == 0) {
		*ret = r;
		return 0;
	}
	ins_recording_close(r);
	return ins_error_set(error, rc, "%s: %s", name, why(rc));
}

int ins_recording_open(const char *path, struct ins_error *error, struct ins_recording **ret)
{
	FILE *in = fopen(path, "re");
	char denied[INS_ACCESS_WHY];
	struct stat st;
	char *bytes;
	size_t n;
	int rc;

	if (!in || fstat(fileno(in), &st) < 0 || !S_ISREG(st.st_mode)) {
		rc = in && errno == 0 ? -EINVAL : -errno;
		if (in)
			fclose(in);
		return ins_error_set(
			error, rc ? rc : -EINVAL, "%s: %s", path,
			rc ? ins_access_why(path, INS_ACCESS_READ, rc, denied, sizeof denied)
			   : "is no file");
	}
	rc = (uint64_t)st.st_size > INS_RECORDING_MAX ? -EFBIG : -ENOMEM;
	bytes = rc == -ENOMEM ? malloc((size_t)st.st_size + 1) : NULL;
	if (!bytes) {
		fclose(in);
		return ins_error_set(error, rc, "%s: %s", path, why(rc));
	}
	n = fread(bytes, 1, (size_t)st.st_size, in);
	fclose(in);
	rc = ins_recording_read(bytes, n, path, error, ret);
	free(bytes);
	return rc;
}
