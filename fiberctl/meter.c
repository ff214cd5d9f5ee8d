/* SPDX-License-Identifier: MIT */
/*
 * meter.c - two questions over one connection: the carriers, and the process as a whole
 *
 * The carriers come first: a program that does not know the other question ends the connection.
 */
#include "fiberctl/meter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CARRIERS_MAX 65536u /* of one runtime; a larger number is none */

struct reading {
	struct ctl_meter *to;
	char *why;
	size_t size;
};

/* What there is of a struct that may be longer or shorter at the other end. */
static void copy(void *to, size_t size, const void *from, size_t length)
{
	memset(to, 0, size);
	memcpy(to, from, length < size ? length : size);
}

/* The runtime that these carriers are of: most often a new one. NULL without memory. */
static struct ctl_meter_runtime *place(struct ctl_meter *m, const struct fib_wire_runtime *is)
{
	struct ctl_meter_runtime *last = m->count ? &m->runtimes[m->count - 1] : NULL;
	struct ctl_meter_runtime *all;

	if (last && last->is.serial == is->serial)
		return last;
	all = realloc(m->runtimes, (m->count + 1) * sizeof *all);
	if (!all)
		return NULL;
	m->runtimes = all;
	all[m->count] = (struct ctl_meter_runtime){.is = *is};
	return &all[m->count++];
}

static int take_runtime(struct ctl_meter *m, const char *payload, size_t length)
{
	struct fib_wire_carrier *carriers;
	struct ctl_meter_runtime *r;
	struct fib_wire_runtime is;
	size_t n, size, i;

	if (length < offsetof(struct fib_wire_runtime, now))
		return -EPROTO;
	memcpy(&is, payload, offsetof(struct fib_wire_runtime, now));
	n = is.carriers;
	size = is.carrier_size;
	if (n > CARRIERS_MAX || size < offsetof(struct fib_wire_carrier, timers) ||
	    (length - offsetof(struct fib_wire_runtime, now)) / size < n)
		return -EPROTO;
	copy(&is, sizeof is, payload, length - n * size);
	is.poller[sizeof is.poller - 1] = 0;
	is.note[sizeof is.note - 1] = 0;
	/* They come in their order, each once. */
	if (m->count && m->runtimes[m->count - 1].is.serial > is.serial)
		return -EPROTO;
	r = place(m, &is);
	carriers = r ? realloc(r->carriers, (r->count + n + 1) * sizeof *carriers) : NULL;
	if (!carriers)
		return -ENOMEM;
	r->carriers = carriers;
	for (i = 0; i < n; i++) {
		struct fib_wire_carrier *c = &carriers[r->count++];

		copy(c, sizeof *c, payload + length - (n - i) * size, size);
		if (c->index != r->count - 1)
			return -EPROTO;
		/* What stood there before there were more fields was nothing. */
		if (size <= offsetof(struct fib_wire_carrier, since)) {
			c->timers = 0;
			c->cpu = -1;
		}
	}
	return 0;
}

static int take_layout(struct ctl_meter *m, const char *payload, size_t length)
{
	copy(&m->layout, sizeof m->layout, payload, length);
	return fib_layout_check(&m->layout) ? -EPROTO : 0;
}

static int take_end(struct ctl_meter *m, const char *payload, size_t length, bool counters)
{
	struct fib_wire_end end;

	if (length < sizeof end)
		return -EPROTO;
	memcpy(&end, payload, sizeof end);
	if (counters)
		m->counted = true;
	else
		m->summary = (struct ins_summary){
			.total = end.total, .shown = end.shown, .sampled_ns = end.sampled_ns};
	return 1;
}

static int take_error(const struct reading *r, const char *payload, size_t length)
{
	struct fib_wire_error e;

	if (length < sizeof e)
		return -EPROTO;
	memcpy(&e, payload, sizeof e);
	e.text[sizeof e.text - 1] = 0;
	ins_words_clean(e.text, r->why, r->size);
	return e.error < 0 && e.error > -4096 ? e.error : -EPROTO;
}

/* 0; 1 after the last frame; a negative errno. */
static int take(const struct reading *r, const struct fib_wire_header *header, const void *payload,
		bool counters)
{
	struct ctl_meter *m = r->to;
	const size_t length = header->length;

	switch (header->type) {
	case FIB_WIRE_RUNTIME:
		return take_runtime(m, payload, length);
	case FIB_WIRE_PROCESS:
		copy(&m->process, sizeof m->process, payload, length);
		m->process.name[sizeof m->process.name - 1] = 0;
		return 0;
	case FIB_WIRE_LAYOUT:
		return take_layout(m, payload, length);
	case FIB_WIRE_COUNTERS_ARE:
		copy(&m->counters, sizeof m->counters, payload, length);
		return 0;
	case FIB_WIRE_ERROR:
		return take_error(r, payload, length);
	case FIB_WIRE_END:
		return take_end(m, payload, length, counters);
	default:
		return 0; /* of a later version */
	}
}

static int ask(const struct reading *r, struct fib_wire_client *client, enum fib_wire_type type)
{
	struct fib_wire_header header;
	const void *payload;
	int rc = fib_wire_request(client, type, NULL, 0);

	while (rc == 0) {
		rc = fib_wire_receive(client, &header, &payload);
		if (rc == 0)
			rc = take(r, &header, payload, type == FIB_WIRE_COUNTERS);
	}
	return rc < 0 ? rc : 0;
}

int ctl_meter_read(struct fib_wire_client *client, struct ctl_meter *ret, char *why, size_t size)
{
	const struct reading r = {ret, why, size};
	int rc;

	why[0] = 0;
	rc = ask(&r, client, FIB_WIRE_CARRIERS);
	if (rc < 0)
		return rc;
	rc = ask(&r, client, FIB_WIRE_COUNTERS);
	/* An older program. */
	return rc == -EOPNOTSUPP ? 0 : rc;
}

void ctl_meter_free(struct ctl_meter *meter)
{
	size_t i;

	for (i = 0; i < meter->count; i++)
		free(meter->runtimes[i].carriers);
	free(meter->runtimes);
	memset(meter, 0, sizeof *meter);
}

static const struct ctl_meter_runtime *find(const struct ctl_meter *meter, uint64_t serial)
{
	size_t i;

	for (i = 0; i < meter->count; i++)
		if (meter->runtimes[i].is.serial == serial)
			return &meter->runtimes[i];
	return NULL;
}

const struct fib_wire_runtime *ctl_meter_runtime(const struct ctl_meter *meter, uint64_t serial)
{
	const struct ctl_meter_runtime *r = find(meter, serial);

	return r ? &r->is : NULL;
}

const struct fib_wire_carrier *ctl_meter_carrier(const struct ctl_meter *meter, uint64_t serial,
						 uint32_t index)
{
	const struct ctl_meter_runtime *r = find(meter, serial);

	return r && index < r->count ? &r->carriers[index] : NULL;
}

uint64_t ctl_meter_stacks_cached(const struct ctl_meter *meter)
{
	uint64_t n = 0;
	size_t i, k;

	for (i = 0; i < meter->count; i++)
		for (k = 0; k < meter->runtimes[i].count; k++)
			n += meter->runtimes[i].carriers[k].stacks;
	return n;
}

uint64_t ctl_meter_stacks_used(const struct ctl_meter *meter)
{
	const uint64_t idle = meter->counters.stacks_free + ctl_meter_stacks_cached(meter);

	/* They were not read at the same moment. */
	return meter->counters.stacks > idle ? meter->counters.stacks - idle : 0;
}
