/* SPDX-License-Identifier: MIT */
/*
 * render_pprof.c - write profile.proto of pprof
 *
 * Format: https://github.com/google/pprof/blob/main/proto/profile.proto
 *
 * A protocol buffer is a list of fields. A field is a varint of number and type, then a varint, or
 * a length and bytes. A nested message has a length, so it is built first. A text is an index in a
 * table that starts with "". A stack is a list of location numbers, innermost first; a location is
 * a line of a function. Numbers start at 1. The output is compressed with gzip.
 */
#include "inspect/render/render_flames.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP (15 + 16) /* deflateInit2's window: the largest, with gzip's header */

/* Field numbers. */
enum { PROFILE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4 };
enum { PROFILE_FUNCTION = 5 };
enum { PROFILE_TEXT = 6, PROFILE_TIME = 9, PROFILE_DURATION = 10, PROFILE_PERIOD_TYPE = 11 };
enum { PROFILE_PERIOD = 12, PROFILE_COMMENT = 13, PROFILE_DEFAULT = 14 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2 };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_FUNCTIONS = 7, MAPPING_FILES = 8 };
enum { MAPPING_LINES = 9, MAPPING_INLINED = 10 };
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

/* Texts that every profile has; those of functions follow. */
enum { TEXT_NONE, TEXT_NUMBER, TEXT_NUMBER_UNIT, TEXT_TIME, TEXT_TIME_UNIT, TEXT_TITLE, TEXTS };

struct bytes {
	unsigned char *at;
	size_t size, room;
	bool failed; /* out of memory */
};

struct pprof {
	const struct ins_flames *flames;
	struct bytes out;	       /* the profile */
	struct bytes part;	       /* a nested message */
	struct bytes inner;	       /* a message in `part` */
	struct ins_flame_call *places; /* locations, sorted */
	size_t places_count;
};

static void add(struct bytes *b, const void *bytes, size_t size)
{
	size_t room = b->room ? b->room : 256;
	unsigned char *at;

	while (room - b->size < size)
		room *= 2;
	if (room != b->room) {
		at = realloc(b->at, room);
		if (!at) {
			b->failed = true;
			return;
		}
		b->at = at;
		b->room = room;
	}
	if (size)
		memcpy(b->at + b->size, bytes, size);
	b->size += size;
}

static void add_varint(struct bytes *b, uint64_t n)
{
	unsigned char bytes[10];
	size_t size = 0;

	for (; n >= 0x80; n >>= 7)
		bytes[size++] = (unsigned char)(n | 0x80);
	bytes[size++] = (unsigned char)n;
	add(b, bytes, size);
}

static void add_number(struct bytes *b, unsigned field, uint64_t n)
{
	add_varint(b, field << 3);
	add_varint(b, n);
}

static void add_bytes(struct bytes *b, unsigned field, const void *bytes, size_t size)
{
	add_varint(b, field << 3 | 2);
	add_varint(b, size);
	add(b, bytes, size);
}

/* Append a finished nested message and empty it. */
static void add_part(struct bytes *b, unsigned field, struct bytes *part)
{
	add_bytes(b, field, part->at, part->size);
	b->failed |= part->failed;
	part->size = 0;
}

static int by_place(const void *a, const void *b)
{
	const struct ins_flame_call *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/* Collect each location once. */
static int find_places(struct pprof *p)
{
	size_t i, k, n = 0;

	for (i = 0; i < ins_flames_count(p->flames); i++)
		n += ins_flames_at(p->flames, i)->depth;
	p->places = calloc(n ? n : 1, sizeof *p->places);
	if (!p->places)
		return -ENOMEM;
	for (i = k = 0; i < ins_flames_count(p->flames); i++) {
		const struct ins_flame *f = ins_flames_at(p->flames, i);

		memcpy(p->places + k, f->calls, f->depth * sizeof *f->calls);
		k += f->depth;
	}
	qsort(p->places, n, sizeof *p->places, by_place);
	for (i = k = 0; i < n; i++)
		if (!k || by_place(&p->places[k - 1], &p->places[i]) != 0)
			p->places[k++] = p->places[i];
	p->places_count = k;
	return 0;
}

static uint64_t location_of(const struct pprof *p, const struct ins_flame_call *call)
{
	const struct ins_flame_call *at =
		bsearch(call, p->places, p->places_count, sizeof *p->places, by_place);

	return (uint64_t)(at - p->places) + 1;
}

static void put_type(struct pprof *p, unsigned field, uint64_t name, uint64_t unit)
{
	add_number(&p->part, TYPE_NAME, name);
	add_number(&p->part, TYPE_UNIT, unit);
	add_part(&p->out, field, &p->part);
}

static void put_sample(struct pprof *p, const struct ins_flame *f)
{
	size_t i = f->depth;

	while (i-- > 0)
		add_varint(&p->inner, location_of(p, &f->calls[i]));
	add_part(&p->part, SAMPLE_LOCATION, &p->inner);
	add_varint(&p->inner, f->number);
	add_varint(&p->inner, f->time);
	add_part(&p->part, SAMPLE_VALUE, &p->inner);
	add_part(&p->out, PROFILE_SAMPLE, &p->part);
}

static void put_location(struct pprof *p, size_t i)
{
	add_number(&p->part, LOCATION_ID, i + 1);
	if (ins_flames_span(p->flames).program)
		add_number(&p->part, LOCATION_MAPPING, 1);
	add_number(&p->inner, LINE_FUNCTION, p->places[i].function + 1);
	if (p->places[i].line > 0)
		add_number(&p->inner, LINE_LINE, (uint64_t)p->places[i].line);
	add_part(&p->part, LOCATION_LINE, &p->inner);
	add_part(&p->out, PROFILE_LOCATION, &p->part);
}

/* Text TEXTS + 2 * i is the name of function i; the next text is its file. */
static void put_function(struct pprof *p, size_t i)
{
	const uint64_t name = TEXTS + 2 * i;

	add_number(&p->part, FUNCTION_ID, i + 1);
	add_number(&p->part, FUNCTION_NAME, name);
	add_number(&p->part, FUNCTION_SYSTEM_NAME, name);
	add_number(&p->part, FUNCTION_FILE, name + 1);
	add_part(&p->out, PROFILE_FUNCTION, &p->part);
}

/*
 * The program as a mapping of no addresses, all of whose names are known: pprof then shows its name
 * and looks for no file. The name is the last text.
 */
static void put_mapping(struct pprof *p)
{
	if (!ins_flames_span(p->flames).program)
		return;
	add_number(&p->part, MAPPING_ID, 1);
	add_number(&p->part, MAPPING_FILE, TEXTS + 2 * ins_flames_functions(p->flames));
	add_number(&p->part, MAPPING_FUNCTIONS, 1);
	add_number(&p->part, MAPPING_FILES, 1);
	add_number(&p->part, MAPPING_LINES, 1);
	add_number(&p->part, MAPPING_INLINED, 1);
	add_part(&p->out, PROFILE_MAPPING, &p->part);
}

static void put_texts(struct pprof *p, const char *title)
{
	const struct ins_flame_kind *kind = ins_flames_kind(p->flames);
	const char *const program = ins_flames_span(p->flames).program;
	const char *const fixed[TEXTS] = {
		"", kind->number.name, kind->number.unit, kind->time.name, kind->time.unit, title};
	size_t i;

	for (i = 0; i < TEXTS; i++)
		add_bytes(&p->out, PROFILE_TEXT, fixed[i], strlen(fixed[i]));
	for (i = 0; i < ins_flames_functions(p->flames); i++) {
		const struct ins_flame_function *f = ins_flames_function(p->flames, i);
		const char *file = f->file ? f->file : "";

		add_bytes(&p->out, PROFILE_TEXT, f->name, strlen(f->name));
		add_bytes(&p->out, PROFILE_TEXT, file, strlen(file));
	}
	if (program)
		add_bytes(&p->out, PROFILE_TEXT, program, strlen(program));
}

/* When it was made, and how often; a picture of one moment has none of it. */
static void put_span(struct pprof *p)
{
	const struct ins_flame_kind *kind = ins_flames_kind(p->flames);
	const struct ins_flame_span span = ins_flames_span(p->flames);

	if (span.began > 0)
		add_number(&p->out, PROFILE_TIME, (uint64_t)span.began);
	if (span.took > 0)
		add_number(&p->out, PROFILE_DURATION, (uint64_t)span.took);
	if (!kind->period)
		return;
	put_type(p, PROFILE_PERIOD_TYPE, TEXT_TIME, TEXT_TIME_UNIT);
	add_number(&p->out, PROFILE_PERIOD, (uint64_t)kind->period);
}

static void put_all(struct pprof *p, const char *title)
{
	size_t i;

	put_type(p, PROFILE_TYPE, TEXT_NUMBER, TEXT_NUMBER_UNIT);
	put_type(p, PROFILE_TYPE, TEXT_TIME, TEXT_TIME_UNIT);
	for (i = 0; i < ins_flames_count(p->flames); i++)
		put_sample(p, ins_flames_at(p->flames, i));
	put_mapping(p);
	for (i = 0; i < p->places_count; i++)
		put_location(p, i);
	for (i = 0; i < ins_flames_functions(p->flames); i++)
		put_function(p, i);
	put_texts(p, title);
	add_number(&p->out, PROFILE_COMMENT, TEXT_TITLE);
	add_number(&p->out, PROFILE_DEFAULT,
		   ins_flames_kind(p->flames)->by_time ? TEXT_TIME : TEXT_NUMBER);
	put_span(p);
}

/* zlib counts in 32 bits, so compress in pieces. */
static int compress_to(FILE *out, const struct bytes *b)
{
	z_stream z = {0};
	unsigned char buf[1 << 15];
	size_t done = 0;
	int rc = deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP, 8, Z_DEFAULT_STRATEGY);

	if (rc != Z_OK)
		return -ENOMEM;
	do {
		size_t piece = b->size - done < (1u << 20) ? b->size - done : 1u << 20;

		z.next_in = b->at + done;
		z.avail_in = (unsigned)piece;
		done += piece;
		do {
			z.next_out = buf;
			z.avail_out = sizeof buf;
			rc = deflate(&z, done == b->size ? Z_FINISH : Z_NO_FLUSH);
			fwrite(buf, 1, sizeof buf - z.avail_out, out);
		} while (!z.avail_out);
	} while (done < b->size);
	deflateEnd(&z);
	return rc == Z_STREAM_END ? 0 : -EIO;
}

int ins_pprof_put(FILE *out, const struct ins_flames *flames, const char *title)
{
	struct pprof p = {.flames = flames};
	int rc = find_places(&p);

	if (rc == 0) {
		put_all(&p, title);
		rc = p.out.failed ? -ENOMEM : compress_to(out, &p.out);
	}
	free(p.places);
	free(p.out.at);
	free(p.part.at);
	free(p.inner.at);
	return rc;
}
