/* SPDX-License-Identifier: MIT */
/*
 * test_random_traces.c - backtraces at any moment of a program with millions of switches a second
 *
 * Each fiber has its number in its name and, digit by digit, in its frames. A complete walk must
 * agree with the name; an incomplete one must say why.
 *
 * TRACE_SECONDS (default 4) is the duration. The test prints the program's yields per second for
 * three observers: one that samples continuously (it takes CPU time from the program if there are
 * no more CPUs than carriers), one that samples at random about twice a second, and none. These
 * numbers are not checked: the machine is shared.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/clock.h"
#include "tests/harness/watchdog.h"

#define DIGITS 6

static struct {
	unsigned long reads, walks, running, between, switching, truncated, wrong;
} seen;

static double now(void)
{
	return (double)harness_now() / 1e9;
}

static double seconds(void)
{
	const char *const text = getenv("TRACE_SECONDS");

	return text ? strtod(text, NULL) : 4;
}

/*
 * Whether the frames, outermost first, have only the digits of the fiber's number. False: digits of
 * another fiber, or too many.
 */
static bool agrees(const json_t *fiber, unsigned *ret_digits)
{
	const json_t *const frames = json_object_get(fiber, "frames");
	unsigned number = (unsigned)strtoul(json_text(fiber, "name") + 1, NULL, 10);
	size_t i = json_array_size(frames);

	*ret_digits = 0;
	while (i-- > 0) {
		const char *const name = json_text(json_array_get(frames, i), "function");

		if (strncmp(name, "digit_", 6) != 0)
			continue;
		if (*ret_digits == DIGITS || (unsigned)(name[6] - '0') != number % 4)
			return false;
		number /= 4;
		++*ret_digits;
	}
	return true;
}

static void show(const char *what, const json_t *fiber)
{
	char *const text = json_dumps(fiber, JSON_INDENT(1));

	print_error("%s: %s\n", what, text);
	free(text);
}

static void check_fiber(const json_t *fiber)
{
	const char *const state = json_text(fiber, "state");
	const bool truncated = json_is_true(json_object_get(fiber, "truncated"));
	const size_t frames = json_array_size(json_object_get(fiber, "frames"));
	unsigned digits;

	seen.switching += json_is_true(json_object_get(fiber, "switching"));
	seen.running += !strcmp(state, "running");
	if (!frames) {
		seen.between++;
		return;
	}
	seen.walks++;
	seen.truncated += truncated;
	if (!agrees(fiber, &digits)) {
		seen.wrong++;
		show("frames of another", fiber);
		return;
	}
	/* A fiber that has started and yielded is in its innermost call: all digits are there. */
	if (!truncated && frames > 1 && !strcmp(state, "runnable") && digits != DIGITS &&
	    json_is_object(json_object_get(fiber, "wait"))) {
		seen.wrong++;
		show("frames are missing", fiber);
	}
}

static void trace(const char *tool, const char *first, const char *second, const char *third)
{
	struct harness_process *p = cli_run(tool, first, second, third, "--json", NULL);
	json_t *answer, *fiber;
	size_t i;

	if (harness_exit_code(p) != 1)
		cli_expect(p, 0);
	answer = json_answer(p);
	seen.reads++;
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		check_fiber(fiber);
	json_decref(answer);
	harness_free(p);
}

/* The program's yields so far. */
static void yields(struct harness_process *p, double *ret_at, double *ret_count)
{
	static unsigned next;
	const double start = now();
	const char *line;
	unsigned long count = 0;
	long long ns = 0;
	char prefix[32];

	/* Skip lines printed earlier. */
	while ((double)ns / 1e9 < start) {
		snprintf(prefix, sizeof(prefix), "at %u ", next++);
		line = harness_wait_line(p, prefix, CLI_SECONDS);
		assert_non_null(line);
		assert_int_equal(sscanf(line + strlen(prefix), "%lld %lu", &ns, &count), 2);
	}
	*ret_at = (double)ns / 1e9;
	*ret_count = (double)count;
}

static void pause_ms(unsigned most, unsigned *seed)
{
	const long us = rand_r(seed) % (most * 1000);
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&t, NULL);
}

/* For each observer, for one second: the longest pause between two samples in ms; 0: no
 * observer. */
static const unsigned lookers[] = {3, 1000, 0};
#define LOOKERS (sizeof(lookers) / sizeof(lookers[0]))

struct rate {
	double yields, seconds;
};

static double per_second(struct rate r)
{
	return r.yields / r.seconds / 1e6;
}

static void look(const char *pid, unsigned *seed)
{
	if (rand_r(seed) % 4)
		trace("fibertrace", pid, "--each", "--verbose");
	else
		trace("fiberctl", "bt", pid, "--all");
}

static void look_for_a_second(struct harness_process *p, unsigned longest_pause, struct rate *rate,
			      unsigned *seed)
{
	const double end = now() + 1;
	double at[2], count[2];
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", p->pid);
	yields(p, &at[0], &count[0]);
	do {
		pause_ms(longest_pause ? longest_pause : 100, seed);
		if (longest_pause)
			look(pid, seed);
	} while (now() < end);
	yields(p, &at[1], &count[1]);
	rate->yields += count[1] - count[0];
	rate->seconds += at[1] - at[0];
}

static void test_every_walk_has_the_fibers_own_number(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready", "digits", NULL);
	const double end = now() + seconds();
	struct rate rate[LOOKERS] = {{0, 0}};
	unsigned seed = (unsigned)time(NULL);
	double at, before, after;

	(void)state;
	print_message("# seed %u\n", seed);
	while (now() < end)
		for (size_t i = 0; i < LOOKERS; i++)
			look_for_a_second(p, lookers[i], &rate[i], &seed);
	print_message("# %lu reads, %lu walks, %lu of fibers that ran, %lu without frames, %lu "
		      "truncated, %lu wrong\n",
		      seen.reads, seen.walks, seen.running, seen.between, seen.truncated,
		      seen.wrong);
	print_message(
		"# %.2f million yields a second looked at all the time, %.2f at random (%.3f), "
		"%.2f alone\n",
		per_second(rate[0]), per_second(rate[1]), per_second(rate[1]) / per_second(rate[2]),
		per_second(rate[2]));
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.walks > 0);
	assert_true(seen.running > 0);
	/* The program still runs. */
	assert_false(p->ended);
	yields(p, &at, &before);
	yields(p, &at, &after);
	assert_true(after > before);
	harness_free(p);
}

/* In a stopped program each fiber has frames, except one in its very first switch. */
static void test_a_program_stopped_at_any_moment_is_walked_whole(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready", "digits", NULL);
	const double end = now() + seconds() / 2;
	unsigned seed = (unsigned)time(NULL);
	char number[16];

	(void)state;
	memset(&seen, 0, sizeof(seen));
	snprintf(number, sizeof(number), "%s", cli_number((uint64_t)p->pid));
	do {
		kill(p->pid, SIGSTOP);
		assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
		trace("fibertrace", number, "--each", "--verbose");
		assert_true(harness_until(cli_stopped, &p->pid, CLI_SECONDS));
		kill(p->pid, SIGCONT);
		pause_ms(3, &seed);
	} while (now() < end);
	print_message("# stopped: %lu reads, %lu walks, %lu of fibers that ran, %lu in the middle "
		      "of a switch, "
		      "%lu without frames, %lu truncated, %lu wrong\n",
		      seen.reads, seen.walks, seen.running, seen.switching, seen.between,
		      seen.truncated, seen.wrong);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.running > 0);
	/* A sanitizer is informed before and after a switch; that code is in neither fiber. */
	if (!*harness_sanitizer())
		assert_true(seen.between <= seen.switching);
	assert_true(seen.truncated <= seen.switching);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_walk_has_the_fibers_own_number),
		cmocka_unit_test(test_a_program_stopped_at_any_moment_is_walked_whole),
	};

	harness_watchdog(110 + 2 * (unsigned)seconds());
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
