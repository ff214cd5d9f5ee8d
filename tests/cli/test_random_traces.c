/* SPDX-License-Identifier: MIT */
/*
 * test_random_traces.c - backtraces at any moment of a program that does millions of switches a second
 *
 * Each fiber has its number in its name and, digit by digit, in its frames. A walk that is called whole must agree with
 * the name; one that is not must say why. TRACE_SECONDS (4) says how long; what the program yielded with and without somebody who
 * looks is printed, and not judged: the machine is shared.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define DIGITS 6

static struct {
	unsigned long reads, walks, running, between, switching, truncated, wrong;
} seen;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double seconds(void)
{
	const char *const text = getenv("TRACE_SECONDS");

	return text ? strtod(text, NULL) : 4;
}

/* Its frames, outermost first, have the digits of its number, and nothing but them. False: another's, or more than there are. */
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
	/* One that yielded, or has begun, is at the bottom. */
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

/* The program's yields until now. */
static void yields(struct harness_process *p, double *ret_at, double *ret_count)
{
	static unsigned next;
	const double start = now();
	const char *line;
	unsigned long count = 0;
	long long ns = 0;
	char prefix[32];

	/* Those that were printed before are passed over. */
	while ((double)ns / 1e9 < start) {
		snprintf(prefix, sizeof(prefix), "at %u ", next++);
		line = harness_wait_line(p, prefix, CLI_SECONDS);
		assert_non_null(line);
		assert_int_equal(sscanf(line + strlen(prefix), "%lld %lu", &ns, &count), 2);
	}
	*ret_at = (double)ns / 1e9;
	*ret_count = (double)count;
}

static void pause_a_while(unsigned *seed)
{
	const struct timespec t = {0, (long)(rand_r(seed) % 3000000)};

	nanosleep(&t, NULL);
}

static void test_every_walk_has_the_fibers_own_number(void **state)
{
	struct harness_process *p = cli_start(NULL, "ready", "digits", NULL);
	const char *const pid = cli_number((uint64_t)p->pid);
	double end = now() + seconds(), at[3], count[3], rate[2] = {0, 0}, took[2] = {0, 0};
	unsigned seed = (unsigned)time(NULL);
	char number[16];

	(void)state;
	snprintf(number, sizeof(number), "%s", pid);
	print_message("# seed %u\n", seed);
	while (now() < end) {
		const double turn = now() + 1;

		yields(p, &at[0], &count[0]);
		do {
			if (rand_r(&seed) % 4)
				trace("fibertrace", number, "--each", "--verbose");
			else
				trace("fiberctl", "bt", number, "--all");
			pause_a_while(&seed);
		} while (now() < turn);
		yields(p, &at[1], &count[1]);
		/* As long again without anybody. */
		while (now() < turn + 1)
			pause_a_while(&seed);
		yields(p, &at[2], &count[2]);
		for (int i = 0; i < 2; i++) {
			rate[i] += count[i + 1] - count[i];
			took[i] += at[i + 1] - at[i];
		}
	}
	print_message("# %lu reads, %lu walks, %lu of fibers that ran, %lu without frames, %lu "
		      "truncated, %lu wrong\n",
		      seen.reads, seen.walks, seen.running, seen.between, seen.truncated,
		      seen.wrong);
	print_message("# %.2f million yields a second watched, %.2f not\n", rate[0] / took[0] / 1e6,
		      rate[1] / took[1] / 1e6);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.walks > 0);
	assert_true(seen.running > 0);
	/* It still runs. */
	assert_false(p->ended);
	yields(p, &at[0], &count[0]);
	assert_true(count[0] > count[2]);
	harness_free(p);
}

static char state_of(pid_t pid)
{
	char path[64], letter = '?';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &letter), 1);
	fclose(file);
	return letter;
}

static bool stopped(void *pid)
{
	return state_of(*(pid_t *)pid) == 'T';
}

/* Nothing moves: each fiber has frames, but for one that is on its way for the first time. */
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
		assert_true(harness_until(stopped, &p->pid, CLI_SECONDS));
		trace("fibertrace", number, "--each", "--verbose");
		assert_true(harness_until(stopped, &p->pid, CLI_SECONDS));
		kill(p->pid, SIGCONT);
		pause_a_while(&seed);
	} while (now() < end);
	print_message("# stopped: %lu reads, %lu walks, %lu of fibers that ran, %lu in the middle "
		      "of a switch, "
		      "%lu without frames, %lu truncated, %lu wrong\n",
		      seen.reads, seen.walks, seen.running, seen.switching, seen.between,
		      seen.truncated, seen.wrong);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.running > 0);
	/* What a sanitizer is told of a switch comes before and after it, and is in neither. */
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
