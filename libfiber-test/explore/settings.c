/* SPDX-License-Identifier: MIT */
/* settings.c - parse and complete the options of tests */
#include "explore/settings.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "strategy/strategy.h"
#include "text/escape.h"
#include "token/token.h"

#define SECOND INT64_C(1000000000)
#define KNOWN_FLAGS                                                                                \
	(FIBER_TEST_ISOLATE | FIBER_TEST_MEMORY | FIBER_TEST_DESCRIPTORS | FIBER_TEST_KEEP_GOING | \
	 FIBER_TEST_NO_RACES | FIBER_TEST_DECLARED | 0u)

static struct {
	struct fib_settings all;
	bool has_progress, has_strategy, has_schedules, has_seed, has_steps, has_preemptions,
		has_slack, has_time, has_hang, has_jobs, has_faults, has_fault_limit;
	const char *strategy;
	uint64_t schedules, seed, steps, preemptions, jobs, fault_limit;
	unsigned faults;
	int64_t slack, time, hang;
} over;

const struct fib_settings *fib_settings(void)
{
	return &over.all;
}

static int number(const char *text, uint64_t most, uint64_t *ret, const char **ret_why)
{
	char *end;

	*ret_why = "not a number";
	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	*ret_why = "too large";
	return errno || *ret > most ? -EINVAL : 0;
}

/* "5s", "200ms", "none" */
static int duration(const char *text, int64_t *ret, const char **ret_why)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", SECOND}, {"m", 60 * SECOND}};
	unsigned i;
	char *end;
	double value;

	if (strcmp(text, "none") == 0) {
		*ret = -1;
		return 0;
	}
	*ret_why = "not a time such as 5s, 200ms or none";
	/* strtod() reads more: hexadecimal digits, exponents. */
	if (!isdigit((unsigned char)text[0]) || strpbrk(text, "xXeEpP"))
		return -EINVAL;
	value = strtod(text, &end);
	for (i = 0; i < fib_countof(units); i++) {
		if (strcmp(end, units[i].unit) != 0)
			continue;
		value *= (double)units[i].ns;
		if (value < 1 || value > 1e18)
			return -EINVAL;
		*ret = (int64_t)value;
		return 0;
	}
	return -EINVAL;
}

static int at_failure(const char *text, enum fib_at_failure *ret, const char **ret_why)
{
	static const char *const names[] = {"report", "abort", "stop"};
	unsigned i;

	*ret_why = "it is report, abort or stop";
	for (i = 0; i < fib_countof(names); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		*ret = (enum fib_at_failure)i;
		return 0;
	}
	return -EINVAL;
}

static int replay_token(const char *text, const char **ret_why)
{
	struct fib_token token;

	over.all.replay = text;
	return fib_token_read(text, &token, ret_why);
}

static int strategy(const char *text, const char **ret_why)
{
	struct fib_strategies strategies;

	over.strategy = text;
	over.has_strategy = true;
	return fib_strategies_parse(text, &strategies, ret_why);
}

/* "short,reset", "all", "none" */
static int fault_kinds(const char *text, unsigned *ret, const char **ret_why)
{
	static const struct {
		const char *name;
		unsigned kinds;
	} known[] = {
		{"memory", FIBER_TEST_FAULT_MEMORY}, {"short", FIBER_TEST_FAULT_SHORT},
		{"reset", FIBER_TEST_FAULT_RESET},   {"descriptors", FIBER_TEST_FAULT_DESCRIPTORS},
		{"cancel", FIBER_TEST_FAULT_CANCEL}, {"spurious", FIBER_TEST_FAULT_SPURIOUS},
		{"disk", FIBER_TEST_FAULT_DISK},     {"spawn", FIBER_TEST_FAULT_SPAWN},
		{"all", FIBER_TEST_FAULT_ALL},	     {"none", 0},
	};
	const char *at, *end;
	unsigned i;

	*ret = 0;
	*ret_why = "no such fault: memory, short, reset, descriptors, cancel, spurious, disk, "
		   "spawn, all, none";
	for (at = text;; at = end + 1) {
		end = strchrnul(at, ',');
		for (i = 0; i < fib_countof(known); i++)
			if (strlen(known[i].name) == (size_t)(end - at) &&
			    memcmp(known[i].name, at, (size_t)(end - at)) == 0)
				break;
		if (i == fib_countof(known))
			return -EINVAL;
		*ret |= known[i].kinds;
		if (!*end)
			return 0;
	}
}

static int faults(const char *text, const char **ret_why)
{
	over.has_faults = true;
	return fault_kinds(text, &over.faults, ret_why);
}

static int yes_or_no(const char *text, bool *ret, const char **ret_why)
{
	*ret_why = "it is 0 or 1";
	*ret = strcmp(text, "1") == 0;
	return *ret || strcmp(text, "0") == 0 ? 0 : -EINVAL;
}

static int minimize(const char *text, const char **ret_why)
{
	bool wanted;
	const int rc = yes_or_no(text, &wanted, ret_why);

	over.all.no_minimize = rc == 0 && !wanted;
	return rc;
}

static int progress(const char *text, const char **ret_why)
{
	static const char *const names[] = {"never", "always", "auto", "0", "1"};
	unsigned i;

	*ret_why = "it is auto, always, never, 0 or 1";
	for (i = 0; i < fib_countof(names); i++) {
		if (strcmp(text, names[i]) != 0)
			continue;
		over.all.progress = (enum fib_progress_when)(i % 3);
		over.has_progress = true;
		return 0;
	}
	return -EINVAL;
}

/* An empty name would be no file. */
static int file(const char *text, const char **at, const char **ret_why)
{
	*ret_why = "needs the name of a file";
	*at = text;
	return text[0] ? 0 : -EINVAL;
}

void fib_settings_progress_by_default(void)
{
	if (!over.has_progress)
		over.all.progress = FIB_PROGRESS_AUTO;
}

void fib_settings_hide_stdout(void)
{
	over.all.hide_stdout = true;
}

int fib_setting_set(const char *name, const char *value, const char **ret_why)
{
	static const struct {
		const char *name;
		uint64_t *at;
		bool *has;
		uint64_t most;
	} numbers[] = {
		{"schedules", &over.schedules, &over.has_schedules, UINT64_MAX},
		{"seed", &over.seed, &over.has_seed, UINT64_MAX},
		{"steps", &over.steps, &over.has_steps, 10000000},
		{"preemptions", &over.preemptions, &over.has_preemptions, 1000},
		{"jobs", &over.jobs, &over.has_jobs, 256},
		{"fault-limit", &over.fault_limit, &over.has_fault_limit, 1000},
	};
	static const struct {
		const char *name;
		int64_t *at;
		bool *has;
	} times[] = {
		{"slack", &over.slack, &over.has_slack},
		{"time", &over.time, &over.has_time},
		{"hang", &over.hang, &over.has_hang},
	};
	unsigned i;

	for (i = 0; i < fib_countof(numbers); i++) {
		if (strcmp(name, numbers[i].name) == 0) {
			*numbers[i].has = true;
			return number(value, numbers[i].most, numbers[i].at, ret_why);
		}
	}
	for (i = 0; i < fib_countof(times); i++) {
		if (strcmp(name, times[i].name) == 0) {
			*times[i].has = true;
			return duration(value, times[i].at, ret_why);
		}
	}
	if (strcmp(name, "strategy") == 0)
		return strategy(value, ret_why);
	if (strcmp(name, "faults") == 0)
		return faults(value, ret_why);
	if (strcmp(name, "replay") == 0)
		return replay_token(value, ret_why);
	if (strcmp(name, "at-failure") == 0)
		return at_failure(value, &over.all.at_failure, ret_why);
	if (strcmp(name, "minimize") == 0)
		return minimize(value, ret_why);
	if (strcmp(name, "hash") == 0)
		return yes_or_no(value, &over.all.hash, ret_why);
	if (strcmp(name, "progress") == 0)
		return progress(value, ret_why);
	if (strcmp(name, "trace") == 0)
		return file(value, &over.all.trace, ret_why);
	if (strcmp(name, "timeline") == 0)
		return file(value, &over.all.timeline, ret_why);
	if (strcmp(name, "keep-going") == 0) {
		over.all.keep_going = true;
		return 0;
	}
	*ret_why = "no such setting";
	return -EINVAL;
}

void fib_settings_read_environment(void)
{
	static const struct {
		const char *variable, *name;
	} known[] = {
		{"FIBER_TEST_SCHEDULES", "schedules"}, {"FIBER_TEST_SEED", "seed"},
		{"FIBER_TEST_STRATEGY", "strategy"},   {"FIBER_TEST_STEPS", "steps"},
		{"FIBER_TEST_SLACK", "slack"},	       {"FIBER_TEST_PREEMPTIONS", "preemptions"},
		{"FIBER_TEST_TIME", "time"},	       {"FIBER_TEST_HANG", "hang"},
		{"FIBER_TEST_JOBS", "jobs"},	       {"FIBER_TEST_REPLAY", "replay"},
		{"FIBER_TEST_TRACE", "trace"},	       {"FIBER_TEST_AT_FAILURE", "at-failure"},
		{"FIBER_TEST_MINIMIZE", "minimize"},   {"FIBER_TEST_HASH", "hash"},
		{"FIBER_TEST_FAULTS", "faults"},       {"FIBER_TEST_FAULT_LIMIT", "fault-limit"},
		{"FIBER_TEST_TIMELINE", "timeline"},   {"FIBER_TEST_PROGRESS", "progress"},
	};
	static bool done;
	const char *value, *why;
	char plain[81];
	unsigned i;

	if (done)
		return;
	done = true;
	for (i = 0; i < fib_countof(known); i++) {
		value = getenv(known[i].variable);
		if (!value || !*value)
			continue;
		if (fib_setting_set(known[i].name, value, &why) < 0) {
			fprintf(stderr, "fiber-test: %s=%s: %s\n", known[i].variable,
				fib_plain(value, plain, sizeof plain), why);
			exit(2);
		}
	}
}

static int check(const struct fiber_test_options *o)
{
	struct fib_strategies strategies;
	const char *why;

	if (o->faults & ~(unsigned)FIBER_TEST_FAULT_ALL || o->fault_limit > 1000 ||
	    (o->flags & ~KNOWN_FLAGS))
		return -EINVAL;
	if (o->steps > 10000000 || o->jobs > 256 || (o->nmemory && !o->memory))
		return -EINVAL;
	return fib_strategies_parse(o->strategy, &strategies, &why);
}

static void override(struct fiber_test_options *o)
{
	if (over.all.keep_going)
		o->flags |= FIBER_TEST_KEEP_GOING;
	if (over.has_strategy)
		o->strategy = over.strategy;
	if (over.has_schedules)
		o->schedules = over.schedules;
	if (over.has_seed)
		o->seed = over.seed;
	if (over.has_steps)
		o->steps = (unsigned)over.steps;
	if (over.has_preemptions)
		o->preemptions = (unsigned)over.preemptions;
	if (over.has_jobs)
		o->jobs = (unsigned)over.jobs;
	if (over.has_faults)
		o->faults = over.faults;
	if (over.has_fault_limit)
		o->fault_limit = (unsigned)over.fault_limit;
	if (over.has_slack)
		o->slack = over.slack;
	if (over.has_time)
		o->time_limit = over.time;
	if (over.has_hang)
		o->hang_limit = over.hang;
}

static bool visits_all(const char *name)
{
	return strcmp(name, "exhaustive") == 0 || strcmp(name, "bound") == 0;
}

static bool ends_by_itself(const char *name)
{
	return visits_all(name) || strcmp(name, "each-fault") == 0;
}

int fib_settings_complete(const struct fiber_test_options *options, struct fiber_test_options *ret)
{
	const unsigned char *bytes = (const unsigned char *)options;
	size_t i;

	memset(ret, 0, sizeof *ret);
	if (options) {
		if (options->size < sizeof options->size || options->size > 4096)
			return -EINVAL;
		/* A newer program may have fields that are unknown here, as long as they are 0. */
		for (i = sizeof *ret; i < options->size; i++)
			if (bytes[i])
				return -EINVAL;
		memcpy(ret, options, options->size < sizeof *ret ? options->size : sizeof *ret);
	}
	ret->size = sizeof *ret;
	override(ret);
	if (!ret->name)
		ret->name = "test";
	if (!ret->strategy || strcmp(ret->strategy, "portfolio") == 0)
		ret->strategy = fib_strategies_portfolio(ret->faults);
	if (!ret->schedules)
		ret->schedules = ends_by_itself(ret->strategy) ? UINT64_MAX : 2000;
	if (!ret->fault_limit)
		ret->fault_limit = 1;
	if (!ret->time_limit)
		ret->time_limit = 60 * SECOND;
	if (!ret->hang_limit)
		ret->hang_limit = 10 * SECOND;
	if (!ret->seed)
		ret->seed = 1;
	if (!ret->steps)
		ret->steps = 20000;
	if (!ret->slack)
		ret->slack = SECOND / 10;
	if (ret->slack < 0)
		ret->slack = 0;
	if (!ret->jobs || ends_by_itself(ret->strategy))
		ret->jobs = 1;
	return check(ret);
}
