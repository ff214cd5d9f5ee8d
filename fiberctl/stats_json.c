/* SPDX-License-Identifier: MIT */
/* stats_json.c - a carrier as JSON, for all commands */
#include "fiberctl/stats.h"

#include <string.h>

static json_t *number(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *rate(double is)
{
	return is >= 0 ? json_real(is) : json_null();
}

/* Null: there is no fiber, or the program is too old to send its name. */
static json_t *name_of(const struct fib_wire_carrier *c)
{
	return c->fiber && c->entry ? ins_json_text(c->name) : json_null();
}

static json_t *delays(const struct fib_wire_carrier *c)
{
	json_t *all = json_array();
	unsigned i;

	for (i = 0; i < FIB_WIRE_DELAYS; i++)
		json_array_append_new(all, number(c->delays[i]));
	return all;
}

json_t *ctl_stats_json(const struct ctl_stats *before, const struct fib_wire_runtime *runtime,
		       const struct fib_wire_carrier *c)
{
	const struct ctl_stats_rates rates = ctl_stats_rates(before, runtime, c);

	return json_pack(
		"{s:o, s:i, s:s, s:o, s:o, s:o, s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
		"s:o, s:o, s:o, s:o}",
		"runtime", number(runtime->serial), "index", (int)c->index, "state",
		ctl_stats_state(c->state), "fiberId", c->fiber ? number(c->fiber) : json_null(),
		"fiberName", name_of(c), "runningNs",
		c->fiber ? json_integer(c->since) : json_null(), "queued", (int)c->queued, "timers",
		(int)c->timers, "switches", number(c->switches), "switchesPerSecond",
		rate(rates.switches), "steals", number(c->steals), "wakeUps", number(c->wakeups),
		"polls", number(c->polls), "timeouts", number(c->timeouts), "cpuNs",
		c->cpu >= 0 ? json_integer(c->cpu) : json_null(), "cpuShare", rate(rates.cpu),
		"stacks", number(c->stacks), "delayedNs", number(c->delayed), "delays", delays(c));
}

json_t *ctl_stats_features(const struct ctl_stats *stats)
{
	char words[sizeof stats->counters.features], *save, *word, *value;
	json_t *ret;

	if (!stats->counters.features[0])
		return json_null();
	ret = json_array();
	memcpy(words, stats->counters.features, sizeof words);
	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = 0;
		json_array_append_new(
			ret,
			json_pack("{s:o, s:o}", "name", ins_json_text(word), "value",
				  strcmp(value, "-") == 0 ? json_null() : ins_json_text(value)));
	}
	return ret;
}
