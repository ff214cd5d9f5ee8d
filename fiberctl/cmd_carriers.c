/* SPDX-License-Identifier: MIT */
/*
 * cmd_carriers.c - print what the carriers of each runtime do and how it polls descriptors
 *
 * A program has only counts since its start. So the rates need two looks with a pause in between.
 *
 * A runtime may use another poller than configured, if the machine forbids that one. This is
 * printed once per runtime.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fiberctl/entry_names.h"
#include "fiberctl/fiberctl.h"
#include "fiberctl/stats.h"
#include "fiberctl/reply.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/report.h"

#define INTERVAL      INT64_C(200000000)
#define INTERVAL_MOST INT64_C(3600000000000)

struct answer {
	struct ctl_entry_names names;
	struct ctl_stats before, now; /* before is empty with --once */
	const struct ctl_reply *reply;
};

/* -- text -- */

static void put_carrier(struct answer *a, const struct fib_wire_runtime *r,
			const struct fib_wire_carrier *c)
{
	char fiber[24] = "-", since[32] = "-", cpu[32] = "-", switches[32] = "-";
	char name[sizeof c->name * 4] = "";
	const struct ctl_stats_rates rate = ctl_stats_rates(&a->before, r, c);

	if (c->fiber) {
		snprintf(fiber, sizeof fiber, "%" PRIu64, c->fiber);
		ins_duration_seconds(c->since, since, sizeof since);
		ctl_entry_name(&a->names, c->name, c->entry, name, sizeof name);
	}
	if (!a->before.count) {
		snprintf(switches, sizeof switches, "%" PRIu64, c->switches);
		if (c->cpu >= 0)
			ins_duration_seconds(c->cpu, cpu, sizeof cpu);
	}
	if (rate.switches >= 0)
		snprintf(switches, sizeof switches, "%.0f", rate.switches);
	if (rate.cpu >= 0)
		snprintf(cpu, sizeof cpu, "%.1f%%", rate.cpu * 100);
	printf("%7u %-9s %10s %8s %8u %8u %12s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8s%s%s\n",
	       c->index, ctl_stats_state(c->state), fiber, since, c->queued, c->timers, switches,
	       c->steals, c->wakeups, c->polls, cpu, *name ? "  " : "", name);
}

static void put_runtime(struct answer *a, const struct ctl_stats_runtime *runtime)
{
	const struct fib_wire_runtime *r = &runtime->is;
	char name[sizeof r->poller * 4], note[sizeof r->note * 4];
	uint32_t i;

	printf("runtime %" PRIu64 ": poller %s, %" PRIu64
	       " poll%s, %u queued for any carrier, %" PRIu64 " spawned, %" PRIu64 " ended\n",
	       r->serial, ins_escape_quoted(r->poller, name, sizeof name), r->polls,
	       r->polls == 1 ? "" : "s", r->queued, r->spawned, r->ended);
	if (r->substitutes)
		printf("%u of the carriers %s for others that one fiber keeps\n", r->substitutes,
		       r->substitutes == 1 ? "is a substitute" : "are substitutes");
	if (r->note[0])
		printf("note: %s\n", ins_escape_quoted(r->note, note, sizeof note));
	printf("%7s %-9s %10s %8s %8s %8s %12s %8s %8s %8s %8s  %s\n", "CARRIER", "STATE", "FIBER",
	       "FOR", "QUEUED", "TIMERS", a->before.count ? "SWITCHES/S" : "SWITCHES", "STEALS",
	       "WAKE-UPS", "POLLS", "CPU", "NAME");
	for (i = 0; i < runtime->count; i++)
		put_carrier(a, r, &runtime->carriers[i]);
}

static void put_rest(const struct answer *a)
{
	const struct fib_wire_counters *c = &a->now.counters;
	const double cpu = ctl_stats_service(&a->before, &a->now);
	char used[32], age[32], features[sizeof c->features * 4];

	if (c->features[0])
		printf("features: %s%s\n",
		       ins_escape_quoted(c->features, features, sizeof features),
		       strstr(c->features, "=-") ? " (-: not tried yet)" : "");
	printf("stacks: %" PRIu64 " made, %" PRIu64 " in use, %" PRIu64
	       " kept by carriers, %" PRIu64 " free, of them %" PRIu64
	       " without memory; memory given back %" PRIu64 " time%s\n",
	       c->stacks, ctl_stats_stacks_used(&a->now), ctl_stats_stacks_cached(&a->now),
	       c->stacks_free, c->stacks_cold, c->trimmed, c->trimmed == 1 ? "" : "s");
	printf("service thread: %s of CPU in %s",
	       ins_duration_text(c->service_cpu, used, sizeof used),
	       ins_duration_text(c->now - c->service_began, age, sizeof age));
	if (cpu >= 0)
		printf(", %.1f%% now", cpu * 100);
	putchar('\n');
}

static int put_text(struct answer *a)
{
	char taken[512];
	size_t i;

	for (i = 0; i < a->now.count; i++)
		put_runtime(a, &a->now.runtimes[i]);
	if (a->now.counted)
		put_rest(a);
	else
		puts("incomplete: the program is older than this tool, and does not report its "
		     "stacks and its service thread");
	if (a->reply->snapshot)
		puts(ins_words_taken(&a->reply->summary, taken, sizeof taken));
	return tool_written(a->now.counted ? TOOL_WELL : TOOL_PARTIAL);
}

/* -- JSON -- */

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *known(bool is, json_t *value)
{
	if (is)
		return value;
	json_decref(value);
	return json_null();
}

static json_t *json_runtime(const struct fib_wire_runtime *r)
{
	return json_pack("{s:o, s:i, s:i, s:o, s:i, s:o, s:o, s:o, s:{s:o, s:o}}", "id",
			 number(r->serial), "carriers", (int)(r->all ? r->all : r->carriers),
			 "substitutes", (int)r->substitutes, "polls", number(r->polls), "queued",
			 (int)r->queued, "spawned", number(r->spawned), "ended", number(r->ended),
			 "pinnedEvents", number(r->pinned), "poller", "name",
			 ins_json_text(r->poller), "note",
			 r->note[0] ? ins_json_text(r->note) : json_null());
}

static void put_json_rest(const struct answer *a, struct ins_json *json)
{
	const struct fib_wire_counters *c = &a->now.counters;
	const double cpu = ctl_stats_service(&a->before, &a->now);
	const bool is = a->now.counted;
	json_t *stacks, *service;

	stacks = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "made", number(c->stacks),
			   "bytes", number(c->stack_bytes), "used",
			   number(ctl_stats_stacks_used(&a->now)), "cached",
			   number(ctl_stats_stacks_cached(&a->now)), "free", number(c->stacks_free),
			   "cold", number(c->stacks_cold), "promised", number(c->stacks_wanted),
			   "trimmed", number(c->trimmed));
	service = json_pack("{s:o, s:o, s:o}", "cpuNs", json_integer(c->service_cpu), "ageNs",
			    json_integer(c->now - c->service_began), "cpuShare",
			    known(cpu >= 0, json_real(cpu)));
	ins_json_key(json, "stacks", known(is, stacks));
	ins_json_key(json, "service", known(is, service));
	ins_json_key(json, "features", known(is, ctl_stats_features(&a->now)));
}

static int put_json(const struct answer *a)
{
	json_t *runtimes = json_array(), *carriers = json_array();
	struct ins_problems problems = {0};
	struct ins_json json;
	struct ins_summary summary = a->now.summary;
	size_t i;
	uint32_t k;

	if (!a->now.counted)
		ins_problems_add(&problems, "the program is older than this tool");
	for (i = 0; i < a->now.count; i++) {
		const struct ctl_stats_runtime *r = &a->now.runtimes[i];

		json_array_append_new(runtimes, json_runtime(&r->is));
		for (k = 0; k < r->count; k++)
			json_array_append_new(carriers,
					      ctl_stats_json(&a->before, &r->is, &r->carriers[k]));
	}
	ins_json_begin(&json, stdout, a->reply->process.pid, a->reply->process.name,
		       a->reply->source, NULL);
	ins_json_key(&json, "runtimes", runtimes);
	ins_json_key(&json, "carriers", carriers);
	put_json_rest(a, &json);
	summary.taken = a->reply->summary.taken;
	summary.host = a->reply->summary.host;
	ins_json_end(&json, &summary, &problems);
	ins_problems_free(&problems);
	return tool_written(a->now.counted ? TOOL_WELL : TOOL_PARTIAL);
}

/* -- requests -- */

static int look(struct ctl_reply *reply, struct ctl_stats *ret)
{
	char why[256] = "";
	int rc = ctl_stats_read(&reply->client, ret, why, sizeof why);

	return rc < 0 ? ctl_reply_refused(reply, rc, why) : TOOL_WELL;
}

static void pause_for(int64_t ns)
{
	struct timespec t = {ns / 1000000000, ns % 1000000000};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* Both looks. */
static int ask(struct ctl_reply *reply, bool once, int64_t interval, struct answer *a)
{
	int code = TOOL_WELL;

	if (!once)
		code = look(reply, &a->before);
	if (code == TOOL_WELL && !once)
		pause_for(interval);
	return code == TOOL_WELL ? look(reply, &a->now) : code;
}

static int run(const struct tool_arguments *arguments)
{
	const bool once = arguments->option[TOOL_OPT_ONCE];
	struct answer a = {.names.who = arguments->word[0]};
	struct ctl_reply reply;
	int64_t interval;
	int code;

	if (!tool_option_duration(arguments, TOOL_OPT_INTERVAL, INTERVAL, &interval))
		return TOOL_USAGE;
	if (interval <= 0 || interval > INTERVAL_MOST)
		return tool_wrong(NULL, "--interval %s: must be more than 0 and at most an hour",
				  arguments->option[TOOL_OPT_INTERVAL]);
	code = ctl_reply_open(&reply, arguments->word[0]);
	if (code != TOOL_WELL)
		return code;
	a.reply = &reply;
	/* A snapshot does not change. */
	code = ask(&reply, once || reply.snapshot, interval, &a);
	if (code == TOOL_WELL)
		code = arguments->json ? put_json(&a) : put_text(&a);
	ctl_entry_names_close(&a.names);
	ctl_stats_free(&a.before);
	ctl_stats_free(&a.now);
	ctl_reply_close(&reply);
	return code;
}

const struct tool_command ctl_carriers = {
	.name = "carriers",
	.usage = "PROCESS",
	.summary = "what each carrier does, and the poller",
	.help = "For each runtime: the poller, how often it was polled, the number of runnable\n"
		"fibers that are in no carrier's run queue, and the number of fibers spawned and\n"
		"exited. A note gives the reason if the poller is not the requested one\n"
		"(FIBER_POLLER). Then one line for each carrier, with its state:\n"
		"  running    it runs a fiber; its id, name and for how long\n"
		"  searching  it looks for a fiber to run\n"
		"  polling    it sleeps until a descriptor is ready\n"
		"  idle       it sleeps until it is needed\n"
		"It also has the number of runnable fibers in its run queue, the number of its\n"
		"deadlines, the switches per second, the steals, wake-ups and polls so far, and\n"
		"its share of a CPU. For the values per second there are two samples, --interval\n"
		"apart (200ms); --once prints totals instead. Then the facilities of the kernel\n"
		"that the program uses (-: not tried yet), the stack pool, and the CPU time of\n"
		"the service thread, including this request.\n",
	.example = "carriers httpd\n"
		   "runtime 1: poller epoll, 16695 polls, 0 queued for any carrier, ...\n"
		   "CARRIER STATE          FIBER      FOR   QUEUED   TIMERS   SWITCHES/S  ...\n"
		   "      0 idle               -        -        0        0        17770  ...\n"
		   "      1 searching          -        -        0        0        18452  ...\n"
		   "...\n",
	.least = 1,
	.most = 1,
	.options = TOOL_TAKES(TOOL_OPT_INTERVAL) | TOOL_TAKES(TOOL_OPT_ONCE),
	.run = run,
};
