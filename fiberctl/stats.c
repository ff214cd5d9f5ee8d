/* SPDX-License-Identifier: MIT */
/*
 * stats.c - two requests over one connection: the carriers, and the process as a whole
 *
 * The carriers come first, because an older program closes the connection on the other request.
 */
#include "fiberctl/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tool/frames.h"

#define CARRIERS_MAX 65536u /* of one runtime; a larger number is none */

/* The runtime of these carriers, mostly a new one. NULL: no memory. */
static struct ctl_stats_runtime *place(struct ctl_stats *m, const struct fib_wire_runtime *is)
{
	struct ctl_stats_runtime *last = m->count ? &m->runtimes[m->count - 1] : NULL;
	struct ctl_stats_runtime *all;

	if (last && last->is.serial == is->serial)
		return last;
	all = realloc(m->runtimes, (m->count + 1) * sizeof *all);
	if (!all)
		return NULL;
	m->runtimes = all;
	all[m->count] = (struct ctl_stats_runtime){.is = *is};
	return &all[m->count++];
}

static int take_runtime(struct ctl_stats *m, const char *payload, size_t length)
{
	struct fib_wire_carrier *carriers;
	struct ctl_stats_runtime *r;
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
	tool_frames_copy(&is, sizeof is, payload, length - n * size);
	is.poller[sizeof is.poller - 1] = 0;
	is.note[sizeof is.note - 1] = 0;
	/* Runtimes arrive in order, each once. */
	if (m->count && m->runtimes[m->count - 1].is.serial > is.serial)
		return -EPROTO;
	r = place(m, &is);
	carriers = r ? realloc(r->carriers, (r->count + n + 1) * sizeof *carriers) : NULL;
	if (!carriers)
		return -ENOMEM;
	r->carriers = carriers;
	for (i = 0; i < n; i++) {
		struct fib_wire_carrier *c = &carriers[r->count++];

		tool_frames_copy(c, sizeof *c, payload + length - (n - i) * size, size);
		c->name[sizeof c->name - 1] = 0;
		if (c->index != r->count - 1)
			return -EPROTO;
		/* Older programs have unused bytes there. */
		if (size <= offsetof(struct fib_wire_carrier, since)) {
			c->timers = 0;
			c->cpu = -1;
		}
	}
	return 0;
}

static int take_layout(struct ctl_stats *m, const char *payload, size_t length)
{
	tool_frames_copy(&m->layout, sizeof m->layout, payload, length);
	return fib_layout_check(&m->layout) ? -EPROTO : 0;
}

static int take_carriers(void *context, enum fib_wire_type type, const void *payload, size_t length)
{
	struct ctl_stats *m = context;
	struct fib_wire_end end;

	if (type == FIB_WIRE_RUNTIME)
		return take_runtime(m, payload, length);
	if (type != FIB_WIRE_END)
		return 0;
	if (length < sizeof end)
		return -EPROTO;
	memcpy(&end, payload, sizeof end);
	m->summary = (struct ins_summary){
		.total = end.total, .shown = end.shown, .sampled_ns = end.sampled_ns};
	return 0;
}

static int take_counters(void *context, enum fib_wire_type type, const void *payload, size_t length)
{
	struct ctl_stats *m = context;

	switch (type) {
	case FIB_WIRE_PROCESS:
		tool_frames_copy(&m->process, sizeof m->process, payload, length);
		m->process.name[sizeof m->process.name - 1] = 0;
		return 0;
	case FIB_WIRE_LAYOUT:
		return take_layout(m, payload, length);
	case FIB_WIRE_COUNTERS_ARE:
		tool_frames_copy(&m->counters, sizeof m->counters, payload, length);
		m->counters.features[sizeof m->counters.features - 1] = 0;
		return 0;
	case FIB_WIRE_END:
		m->counted = length >= sizeof(struct fib_wire_end);
		return m->counted ? 0 : -EPROTO;
	default:
		return 0;
	}
}

void ctl_stats_questions(struct ctl_stats *ret, struct tool_request questions[2])
{
	questions[0] = (struct tool_request){
		.type = FIB_WIRE_CARRIERS, .take = take_carriers, .context = ret};
	questions[1] = (struct tool_request){
		.type = FIB_WIRE_COUNTERS, .take = take_counters, .context = ret};
}

int ctl_stats_read_carriers(struct fib_wire_client *client, struct ctl_stats *ret, char *why,
			    size_t size)
{
	struct tool_request questions[2];

	ctl_stats_questions(ret, questions);
	return tool_frames(client, &questions[0], why, size);
}

int ctl_stats_read(struct fib_wire_client *client, struct ctl_stats *ret, char *why, size_t size)
{
	struct tool_request questions[2];
	int rc = ctl_stats_read_carriers(client, ret, why, size);

	if (rc < 0)
		return rc;
	ctl_stats_questions(ret, questions);
	rc = tool_frames(client, &questions[1], why, size);
	/* An older program. */
	return rc == -EOPNOTSUPP ? 0 : rc;
}

void ctl_stats_free(struct ctl_stats *stats)
{
	size_t i;

	for (i = 0; i < stats->count; i++)
		free(stats->runtimes[i].carriers);
	free(stats->runtimes);
	memset(stats, 0, sizeof *stats);
}

static const struct ctl_stats_runtime *find(const struct ctl_stats *stats, uint64_t serial)
{
	size_t i;

	for (i = 0; i < stats->count; i++)
		if (stats->runtimes[i].is.serial == serial)
			return &stats->runtimes[i];
	return NULL;
}

const struct fib_wire_runtime *ctl_stats_runtime(const struct ctl_stats *stats, uint64_t serial)
{
	const struct ctl_stats_runtime *r = find(stats, serial);

	return r ? &r->is : NULL;
}

const struct fib_wire_carrier *ctl_stats_carrier(const struct ctl_stats *stats, uint64_t serial,
						 uint32_t index)
{
	const struct ctl_stats_runtime *r = find(stats, serial);

	return r && index < r->count ? &r->carriers[index] : NULL;
}

/* -1: unknown. */
static double per_ns(int64_t before, int64_t now, int64_t ns)
{
	if (ns <= 0 || before < 0 || now < before)
		return -1;
	return (double)(now - before) / (double)ns;
}

struct ctl_stats_rates ctl_stats_rates(const struct ctl_stats *before,
				       const struct fib_wire_runtime *runtime,
				       const struct fib_wire_carrier *carrier)
{
	const struct fib_wire_runtime *r = ctl_stats_runtime(before, runtime->serial);
	const struct fib_wire_carrier *c =
		ctl_stats_carrier(before, runtime->serial, carrier->index);
	struct ctl_stats_rates rates = {-1, -1};
	double switches;

	if (!r || !c)
		return rates;
	switches = per_ns((int64_t)c->switches, (int64_t)carrier->switches, runtime->now - r->now);
	rates.switches = switches < 0 ? -1 : switches * 1e9;
	rates.cpu = per_ns(c->cpu, carrier->cpu, runtime->now - r->now);
	return rates;
}

double ctl_stats_service(const struct ctl_stats *before, const struct ctl_stats *now)
{
	const struct fib_wire_counters *b = &before->counters, *c = &now->counters;

	return before->counted ? per_ns(b->service_cpu, c->service_cpu, c->now - b->now) : -1;
}

const char *ctl_stats_state(uint32_t state)
{
	static const char *const names[] = {
		[FIB_WIRE_CARRIER_POLLING] = "polling",
		[FIB_WIRE_CARRIER_IDLE] = "idle",
		[FIB_WIRE_CARRIER_SEARCHING] = "searching",
		[FIB_WIRE_CARRIER_RUNNING] = "running",
	};

	return state < sizeof names / sizeof names[0] ? names[state] : "unknown";
}

uint64_t ctl_stats_stacks_cached(const struct ctl_stats *stats)
{
	uint64_t n = 0;
	size_t i, k;

	for (i = 0; i < stats->count; i++)
		for (k = 0; k < stats->runtimes[i].count; k++)
			n += stats->runtimes[i].carriers[k].stacks;
	return n;
}

uint64_t ctl_stats_stacks_used(const struct ctl_stats *stats)
{
	const uint64_t idle = stats->counters.stacks_free + ctl_stats_stacks_cached(stats);

	/* The counts are of different moments. */
	return stats->counters.stacks > idle ? stats->counters.stacks - idle : 0;
}
