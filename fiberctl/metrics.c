/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - write the counters of programs as metric families
 *
 * All samples of a family must be adjacent, so all programs are asked before the first family is
 * written. Every state and kind of wait is always present, with 0 if there is none: a series that
 * comes and goes cannot be monitored. Counts of a carrier have the carrier's number and counts of a
 * runtime the runtime's. So no count decreases when a runtime ends: its series ends.
 */
#include "fiberctl/metrics.h"

#include <stddef.h>
#include <string.h>

#include <fiber/fiber.h>

#include "fiberctl/metric_labels.h"
#include "fiberctl/metrics_findings.h"

/* What the samples of a family belong to. */
enum of { OF_PROCESS, OF_RUNTIME, OF_CARRIER };

/* The offset of the number in that struct. */
struct family {
	const char *name;
	enum ctl_family_type type;
	enum of of;
	size_t offset;
	unsigned size; /* 4 or 8; 0: 8, in ns */
	const char *help;
};

#define PROCESS(field) OF_PROCESS, offsetof(struct fib_wire_counters, field)
#define RUNTIME(field) OF_RUNTIME, offsetof(struct fib_wire_runtime, field)
#define CARRIER(field) OF_CARRIER, offsetof(struct fib_wire_carrier, field)

static const struct family families[] = {
	{"libfiber_fibers_spawned_total", CTL_COUNTER, RUNTIME(spawned), 8,
	 "Fibers that were submitted to the runtime."},
	{"libfiber_fibers_ended_total", CTL_COUNTER, RUNTIME(ended), 8,
	 "Fibers of the runtime that have ended."},
	{"libfiber_runtime_queue_length", CTL_GAUGE, RUNTIME(queued), 4,
	 "Runnable fibers in the line of no carrier."},
	{"libfiber_pinned_events_total", CTL_COUNTER, RUNTIME(pinned), 8,
	 "Waits of pinned fibers, which hold up their carrier."},
	{"libfiber_pinned_events_dropped_total", CTL_COUNTER, RUNTIME(pinned_dropped), 8,
	 "Waits of pinned fibers that were overwritten in the ring of events."},
	{"libfiber_carrier_switches_total", CTL_COUNTER, CARRIER(switches), 8,
	 "Times that a fiber left the carrier."},
	{"libfiber_carrier_steals_total", CTL_COUNTER, CARRIER(steals), 8,
	 "Times that the carrier took fibers from the line of another one."},
	{"libfiber_carrier_wakeups_total", CTL_COUNTER, CARRIER(wakeups), 8,
	 "Sleeps that the carrier got up from."},
	{"libfiber_carrier_polls_total", CTL_COUNTER, CARRIER(polls), 8,
	 "Looks of the carrier into the poller."},
	{"libfiber_carrier_timeouts_total", CTL_COUNTER, CARRIER(timeouts), 8,
	 "Waits that the carrier ended by their deadline."},
	{"libfiber_carrier_timers", CTL_GAUGE, CARRIER(timers), 4,
	 "Deadlines of waiting fibers that the carrier keeps."},
	{"libfiber_carrier_queue_length", CTL_GAUGE, CARRIER(queued), 4,
	 "Runnable fibers in the line of the carrier."},
	{"libfiber_stacks_made_total", CTL_COUNTER, PROCESS(stacks), 8,
	 "Stacks that were ever made; none is ever unmade."},
	{"libfiber_stacks_cold", CTL_GAUGE, PROCESS(stacks_cold), 8,
	 "Free stacks in the pool that have no memory."},
	{"libfiber_stacks_promised", CTL_GAUGE, PROCESS(stacks_wanted), 8,
	 "Free stacks in the pool that are kept for fibers which have not begun."},
	{"libfiber_stacks_trimmed_total", CTL_COUNTER, PROCESS(trimmed), 8,
	 "Times that the memory of an idle stack was given back."},
	{"libfiber_stack_bytes", CTL_GAUGE, PROCESS(stack_bytes), 8,
	 "Address space of all stacks."},
	{"libfiber_registry_records", CTL_GAUGE, PROCESS(records), 8,
	 "Places for fibers that there are so far."},
	{"libfiber_resident_bytes", CTL_GAUGE, PROCESS(resident), 8,
	 "Memory of the process that is resident."},
	{"libfiber_service_cpu_seconds_total", CTL_COUNTER, PROCESS(service_cpu), 0,
	 "CPU time of the thread that keeps the clock and answers questions."},
};

_Static_assert(FIB_WIRE_WAITS <= FIB_LAYOUT_WAITS, "each has a name");

static void put(struct ctl_sink *out, const struct family *f, const struct ctl_labels *l,
		const void *of)
{
	const char *at = (const char *)of + f->offset;
	uint64_t u64 = 0;
	uint32_t u32 = 0;

	if (f->size == 4)
		memcpy(&u32, at, sizeof u32);
	else
		memcpy(&u64, at, sizeof u64);
	if (f->size)
		ctl_sample(out, f->name, "", l->at, u32 + u64);
	else
		ctl_sample_seconds(out, f->name, "", l->at, u64);
}

static void put_runtime(struct ctl_sink *out, const struct family *f, struct ctl_labels *l,
			const struct ctl_stats_runtime *r)
{
	uint32_t i;

	ctl_label_runtime(l, r);
	if (f->of == OF_RUNTIME)
		put(out, f, l, &r->is);
	for (i = 0; f->of == OF_CARRIER && i < r->count; i++) {
		ctl_label_carrier(l, &r->carriers[i]);
		put(out, f, l, &r->carriers[i]);
	}
}

static void put_family(struct ctl_sink *out, const struct family *f,
		       const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	size_t i;

	ctl_label_process(&l, p);
	if (f->of == OF_PROCESS)
		put(out, f, &l, &p->stats.counters);
	for (i = 0; f->of != OF_PROCESS && i < p->stats.count; i++)
		put_runtime(out, f, &l, &p->stats.runtimes[i]);
}

/* -- families that are no field -- */

typedef const char *name_fn(const struct fib_layout *layout, unsigned i);

/*
 * The name of number i. This tool's name takes precedence, so that no program can give two numbers
 * the same name. A number of a newer program keeps the program's name if that is unused. NULL:
 * none.
 */
static const char *name_of(name_fn *ours, unsigned known, const char names[][16], unsigned i)
{
	unsigned k;

	if (i < known)
		return ours(NULL, i);
	for (k = 0; k < i; k++)
		if (strcmp(k < known ? ours(NULL, k) : names[k], names[i]) == 0)
			return NULL;
	return names[i][0] ? names[i] : NULL;
}

static void put_states(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	unsigned i;

	ctl_label_process(&l, p);
	for (i = 0; i < FIB_WIRE_STATES; i++) {
		const char *state =
			name_of(ins_words_state, FIBER_DEAD + 1, p->stats.layout.state_names, i);

		if (!state)
			continue;
		l.at[CTL_LABEL_FREE] = (struct ctl_label){"state", state};
		ctl_sample(out, name, "", l.at, p->stats.counters.states[i]);
	}
}

static void put_waits(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	unsigned i;

	ctl_label_process(&l, p);
	for (i = FIB_WAIT_NONE + 1; i < FIB_WIRE_WAITS; i++) {
		const char *wait =
			name_of(ins_words_wait_kind, FIB_WAIT_COUNT, p->stats.layout.wait_names, i);

		if (!wait)
			continue;
		l.at[CTL_LABEL_FREE] = (struct ctl_label){"wait", wait};
		ctl_sample(out, name, "", l.at, p->stats.counters.waits[i]);
	}
}

static void put_carriers(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	uint32_t state;
	size_t i, k;

	ctl_label_process(&l, p);
	for (i = 0; i < p->stats.count; i++) {
		const struct ctl_stats_runtime *r = &p->stats.runtimes[i];

		ctl_label_runtime(&l, r);
		for (state = 0; state <= FIB_WIRE_CARRIER_RUNNING; state++) {
			uint64_t n = 0;

			for (k = 0; k < r->count; k++)
				n += r->carriers[k].state == state;
			l.at[CTL_LABEL_INDEX] = (struct ctl_label){"state", ctl_stats_state(state)};
			ctl_sample(out, name, "", l.at, n);
		}
	}
}

static void put_carrier_cpu(struct ctl_sink *out, const char *name,
			    const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	size_t i, k;

	ctl_label_process(&l, p);
	for (i = 0; i < p->stats.count; i++) {
		const struct ctl_stats_runtime *r = &p->stats.runtimes[i];

		ctl_label_runtime(&l, r);
		for (k = 0; k < r->count; k++) {
			ctl_label_carrier(&l, &r->carriers[k]);
			if (r->carriers[k].cpu >= 0)
				ctl_sample_seconds(out, name, "", l.at,
						   (uint64_t)r->carriers[k].cpu);
		}
	}
}

static void put_stacks(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	const struct {
		const char *use;
		uint64_t n;
	} uses[] = {{"used", ctl_stats_stacks_used(&p->stats)},
		    {"cached", ctl_stats_stacks_cached(&p->stats)},
		    {"free", p->stats.counters.stacks_free}};
	struct ctl_labels l;
	size_t i;

	ctl_label_process(&l, p);
	for (i = 0; i < sizeof uses / sizeof uses[0]; i++) {
		l.at[CTL_LABEL_FREE] = (struct ctl_label){"use", uses[i].use};
		ctl_sample(out, name, "", l.at, uses[i].n);
	}
}

static void put_registry(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;

	ctl_label_process(&l, p);
	ctl_sample(out, name, "", l.at, p->stats.counters.records * p->stats.counters.record_size);
}

/* Without a watchdog there is no count, so 0 would be wrong. */
static void put_slow(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;

	ctl_label_process(&l, p);
	if (p->stats.counters.watched)
		ctl_sample(out, name, "", l.at, p->stats.counters.slow);
}

static void put_delays(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p)
{
	struct ctl_labels l;
	char bound[24];
	size_t i, k, n;

	ctl_label_process(&l, p);
	for (i = 0; i < p->stats.count; i++) {
		const struct ctl_stats_runtime *r = &p->stats.runtimes[i];
		uint64_t count = 0, sum = 0;

		ctl_label_runtime(&l, r);
		for (k = 0; k < r->count; k++)
			sum += r->carriers[k].delayed;
		for (n = 0; n < FIB_WIRE_DELAYS; n++) {
			for (k = 0; k < r->count; k++)
				count += r->carriers[k].delays[n];
			snprintf(bound, sizeof bound, "%u.%03u", (1u << n) / 1000,
				 (1u << n) % 1000);
			l.at[CTL_LABEL_INDEX] =
				(struct ctl_label){"le", n + 1 < FIB_WIRE_DELAYS ? bound : "+Inf"};
			ctl_sample(out, name, "_bucket", l.at, count);
		}
		l.at[CTL_LABEL_INDEX] = (struct ctl_label){NULL, NULL};
		ctl_sample_seconds(out, name, "_sum", l.at, sum);
		ctl_sample(out, name, "_count", l.at, count);
	}
}

static const struct {
	const char *name;
	enum ctl_family_type type;
	void (*put)(struct ctl_sink *out, const char *name, const struct ctl_process_stats *p);
	const char *help;
} others[] = {
	{"libfiber_fibers", CTL_GAUGE, put_states, "Fibers in each state."},
	{"libfiber_fibers_waiting", CTL_GAUGE, put_waits,
	 "Fibers that wait, by what they wait for."},
	{"libfiber_carriers", CTL_GAUGE, put_carriers, "Carriers in each state."},
	{"libfiber_carrier_cpu_seconds_total", CTL_COUNTER, put_carrier_cpu,
	 "CPU time of the carrier."},
	{"libfiber_run_queue_delay_seconds", CTL_HISTOGRAM, put_delays,
	 "How long runnable fibers waited before they ran, each to within a tick of 1 ms."},
	{"libfiber_stacks", CTL_GAUGE, put_stacks,
	 "Stacks that are used, kept by carriers, or free in the pool."},
	{"libfiber_registry_bytes", CTL_GAUGE, put_registry,
	 "Address space of the places for fibers."},
	{"libfiber_slow_events_total", CTL_COUNTER, put_slow,
	 "Fibers that held their carrier for longer than they should."},
};

static void put_up(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n)
{
	size_t i;

	ctl_family(out, "libfiber_up", CTL_GAUGE, "Whether the process has answered.");
	for (i = 0; i < n; i++) {
		struct ctl_labels l;

		ctl_label_process(&l, &all[i]);
		ctl_sample(out, "libfiber_up", "", &l.at[CTL_LABEL_PID], all[i].answered);
	}
}

/* An older program has no counters; that is not 0. */
static bool has_counters(const struct ctl_process_stats *p)
{
	return p->answered && p->stats.counted;
}

static bool any_watches(const struct ctl_process_stats *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (has_counters(&all[i]) && all[i].stats.counters.watched)
			return true;
	return false;
}

void ctl_metrics_write(struct ctl_sink *out, const struct ctl_process_stats *all, size_t n)
{
	size_t i, k;

	if (!n)
		return;
	put_up(out, all, n);
	ctl_metrics_findings(out, all, n);
	for (i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (others[i].put == put_slow && !any_watches(all, n))
			continue;
		ctl_family(out, others[i].name, others[i].type, others[i].help);
		for (k = 0; k < n; k++)
			if (has_counters(&all[k]))
				others[i].put(out, others[i].name, &all[k]);
	}
	for (i = 0; i < sizeof families / sizeof families[0]; i++) {
		ctl_family(out, families[i].name, families[i].type, families[i].help);
		for (k = 0; k < n; k++)
			if (has_counters(&all[k]))
				put_family(out, &families[i], &all[k]);
	}
	ctl_families_end(out);
}
