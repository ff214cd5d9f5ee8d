/* SPDX-License-Identifier: MIT */
/*
 * recording.c - read a recording: its sections and its stack samples
 *
 * A recording is read in two passes. The first reads the sections with clocks, lists of fibers,
 * texts and samples. The second reads those with events, whose ticks need all clocks
 * (recording_events.c). Texts are found by their keys (recording_texts.c).
 *
 * A sample says where a fiber waited, and when. Older recordings have no samples but one stack for
 * some fibers, taken at the end of the recording, of the wait in the last list of fibers. Each of
 * these is converted to a sample.
 */
#include "inspect/recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inspect/text/access.h"
#include "inspect/recording/recording_events.h"
#include "inspect/recording/recording_order.h"
#include "inspect/recording/recording_texts.h"

#define OF_FIBER (UINT64_C(1) << 63) /* marks the number of such a stack, which is the fiber's id */

/* Append size bytes of elements of `each` bytes to *array. -ENOMEM, -EINVAL. */
static int grow(void **array, size_t *count, size_t each, const void *bytes, size_t size)
{
	char *more;

	if (size % each)
		return -EINVAL;
	if (!size)
		return 0;
	more = realloc(*array, *count * each + size);
	if (!more)
		return -ENOMEM;
	memcpy(more + *count * each, bytes, size);
	*array = more;
	*count += size / each;
	return 0;
}

/* -- samples -- */

static int by_fiber(const void *a, const void *b)
{
	const struct fib_recording_sample *x = a, *y = b;

	if (x->fiber != y->fiber)
		return x->fiber < y->fiber ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static int by_time(const void *a, const void *b)
{
	const struct fib_recording_look *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int add_old(struct ins_recording *r, const struct fib_recording_fiber *f)
{
	const struct fib_recording_sample sample = {
		.fiber = f->id,
		.stack = f->id | OF_FIBER,
		.wait_object = f->wait_object,
		.wait_arg = f->wait_arg,
		.since = f->since,
		.from = f->seen,
		.to = r->head.ended,
		.wait_kind = f->wait_kind,
	};

	return grow((void **)&r->sample, &r->samples, sizeof sample, &sample, sizeof sample);
}

static int take_old(struct ins_recording *r)
{
	struct fib_recording_look look = {.to = r->head.ended, .fibers = r->lasts};
	size_t i;
	int rc = 0;

	for (i = 0; rc == 0 && i < r->lasts; i++) {
		if (!ins_recording_find_text(r, INS_TEXTS_STACKS, r->last[i].id))
			continue;
		look.from = r->last[i].seen;
		rc = add_old(r, &r->last[i]);
	}
	look.stacks = r->samples;
	if (rc == 0 && r->samples)
		rc = grow((void **)&r->look, &r->looks, sizeof look, &look, sizeof look);
	return rc;
}

/* Called after everything was read. */
static int sort_samples(struct ins_recording *r)
{
	const int rc = r->looks ? 0 : take_old(r);

	if (r->samples)
		qsort(r->sample, r->samples, sizeof *r->sample, by_fiber);
	if (r->looks)
		qsort(r->look, r->looks, sizeof *r->look, by_time);
	return rc;
}

size_t ins_recording_samples_of(const struct ins_recording *r, uint64_t fiber, int64_t then)
{
	const struct fib_recording_sample wanted = {.fiber = fiber, .to = then};
	size_t low = 0, high = r->samples;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (by_fiber(&r->sample[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const char *ins_recording_shape(const struct ins_recording *r, uint64_t stack)
{
	if (stack & OF_FIBER)
		return ins_recording_find_text(r, INS_TEXTS_STACKS, stack & ~OF_FIBER);
	return ins_recording_find_text(r, INS_TEXTS_SHAPES, stack);
}

bool ins_recording_same_wait(uint8_t kind, uint64_t wait_object, uint64_t wait_arg,
			     uint8_t event_kind, uint64_t object, uint32_t arg)
{
	if (kind != event_kind)
		return false;
	if (kind == FIB_WAIT_JOIN)
		return wait_arg == object;
	return wait_object == object && (kind != FIB_WAIT_FD || (uint32_t)wait_arg == arg);
}

/* -- sections -- */

/* An upper bound for the number of events, with holes. */
static size_t most_events(const unsigned char *at, const unsigned char *end, size_t *ret_parts)
{
	struct fib_recording_part part;
	size_t n = 0, parts = 0;

	for (; at + sizeof part <= end; at += part.size) {
		memcpy(&part, at, sizeof part);
		at += sizeof part;
		if (part.size > (size_t)(end - at))
			break;
		if (part.type == FIB_RECORDING_EVENTS) {
			n += part.size / sizeof(struct fib_event) + 1;
			parts++;
		}
	}
	*ret_parts = parts;
	return n;
}

static int take_part(struct ins_recording *r, struct ins_recording_rings *in, bool events,
		     const struct fib_recording_part *part, const unsigned char *at)
{
	if ((part->type == FIB_RECORDING_EVENTS) != events)
		return 0;
	switch (part->type) {
	case FIB_RECORDING_EVENTS:
		return ins_recording_take_events(r, in, at, part->size);
	case FIB_RECORDING_CLOCKS:
		return grow((void **)&in->clock, &in->clocks, sizeof *in->clock, at, part->size);
	case FIB_RECORDING_FIBERS:
		return grow((void **)&r->first, &r->firsts, sizeof *r->first, at, part->size);
	case FIB_RECORDING_LAST:
		return grow((void **)&r->last, &r->lasts, sizeof *r->last, at, part->size);
	case FIB_RECORDING_PLACES:
		return ins_recording_take_texts(r->texts, INS_TEXTS_PLACES, at, part->size);
	case FIB_RECORDING_STACKS:
		return ins_recording_take_texts(r->texts, INS_TEXTS_STACKS, at, part->size);
	case FIB_RECORDING_WORDS:
		return ins_recording_take_texts(r->texts, INS_TEXTS_WORDS, at, part->size);
	case FIB_RECORDING_OBJECTS:
		return ins_recording_take_texts(r->texts, INS_TEXTS_OBJECTS, at, part->size);
	case FIB_RECORDING_SHAPES:
		return ins_recording_take_texts(r->texts, INS_TEXTS_SHAPES, at, part->size);
	case FIB_RECORDING_SAMPLES:
		return grow((void **)&r->sample, &r->samples, sizeof *r->sample, at, part->size);
	case FIB_RECORDING_LOOKS:
		return grow((void **)&r->look, &r->looks, sizeof *r->look, at, part->size);
	default:
		return 0; /* from a newer writer */
	}
}

static int take_all(struct ins_recording *r, struct ins_recording_rings *in, bool events,
		    const unsigned char *at, const unsigned char *end)
{
	struct fib_recording_part part;
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

static int read_all(struct ins_recording *r, struct ins_recording_rings *in,
		    const unsigned char *at, size_t size)
{
	const unsigned char *end = at + size;
	size_t parts, most = most_events(at, end, &parts);
	int rc = take_all(r, in, false, at, end);

	if (rc < 0)
		return rc;
	rc = ins_recording_begin_events(r, in, parts, most);
	if (rc == 0)
		rc = take_all(r, in, true, at, end);
	if (rc < 0)
		return rc;
	ins_recording_end_events(r, in);
	rc = ins_recording_name_all(r);
	return rc < 0 ? rc : sort_samples(r);
}

static int check_head(struct fib_recording_head *h, size_t size)
{
	if (size < sizeof *h || memcmp(h->magic, FIB_RECORDING_MAGIC, sizeof h->magic) != 0)
		return -ENOMSG;
	if (h->version != FIB_RECORDING_VERSION)
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

static int read_bytes(struct ins_recording *r, const unsigned char *bytes, size_t size)
{
	struct ins_recording_rings rings = {0};
	int rc;

	r->texts = calloc(1, sizeof *r->texts);
	if (!r->texts)
		return -ENOMEM;
	memcpy(&r->head, bytes, size < sizeof r->head ? size : sizeof r->head);
	rc = check_head(&r->head, size);
	if (rc == 0)
		rc = read_all(r, &rings, bytes + sizeof r->head, size - sizeof r->head);
	ins_recording_free_rings(&rings);
	return rc;
}

static int read_converted(struct ins_recording *r, const void *bytes, size_t size)
{
	void *copy = malloc(size);
	int rc;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	ins_recording_order_convert(copy, size);
	rc = read_bytes(r, copy, size);
	free(copy);
	return rc;
}

int ins_recording_read(const void *bytes, size_t size, const char *name, struct ins_error *error,
		       struct ins_recording **ret)
{
	struct ins_recording *r = calloc(1, sizeof *r);
	int rc;

	if (!r)
		rc = -ENOMEM;
	else if (ins_recording_order_other(bytes, size))
		rc = read_converted(r, bytes, size);
	else
		rc = read_bytes(r, bytes, size);
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
	char denied[INS_ACCESS_EXPLAIN_SIZE];
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
			rc ? ins_access_explain(path, INS_ACCESS_READ, rc, denied, sizeof denied)
			   : "is no file");
	}
	rc = (uint64_t)st.st_size > FIB_RECORDING_MAX ? -EFBIG : -ENOMEM;
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

void ins_recording_close(struct ins_recording *r)
{
	if (!r)
		return;
	ins_recording_free_texts(r->texts);
	free(r->ring);
	free(r->event);
	free(r->first);
	free(r->last);
	free(r->sample);
	free(r->look);
	free(r);
}
