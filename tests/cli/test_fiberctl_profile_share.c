/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_profile_share.c - the parts of two functions that compute 3:1 are those of a profile
 *
 * The profile is compared with the fixture's ratio, which is 3:1 by construction, and with what the
 * library counts itself: the CPU time of the fibers, of which each runs one of the two functions.
 *
 * Each of N samples is of compute_three with a probability of 0.75, so their share has a standard
 * deviation of sqrt(0.75 * 0.25 / N): 0.022 for the 400 samples that the test needs at least. The
 * fibers' own times count the clock, also while the machine gives their carrier no CPU. Both errors
 * become smaller as more is collected, so the test goes on until both shares are within 0.1, and
 * fails after a minute. A profile that took both functions for equal would stay 0.25 off, which is
 * 7 deviations above the bound from the start.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define SAMPLES 400
#define BOUND	0.1

/* Sums over the profiles of a test. */
struct sums {
	const char *pid;
	int64_t three, one;	    /* ns, of the functions */
	int64_t three_was, one_was; /* ns, of the fibers before */
	json_int_t samples;
};

static json_int_t self_of(const json_t *answer, const char *function)
{
	json_t *row;
	size_t i;

	json_array_foreach (json_object_get(answer, "functions"), i, row)
		if (strcmp(json_text(row, "function"), function) == 0)
			return json_int(row, "selfNs");
	return 0;
}

/* CPU time of the fibers with that name, ns. */
static int64_t cpu_of(const char *pid, const char *name)
{
	json_t *answer = json_well(cli_run("fiberctl", "list", pid, "--json", NULL)), *fiber;
	int64_t cpu = 0;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if (strcmp(json_text(fiber, "name"), name) == 0)
			cpu += json_int(fiber, "cpuNs");
	json_decref(answer);
	return cpu;
}

static double share(int64_t three, int64_t one)
{
	return three > 0 ? (double)three / (double)(three + one) : 0;
}

static bool near(double a, double b)
{
	return a > b - BOUND && a < b + BOUND;
}

/* CPU time of the process, ns. */
static int64_t process_cpu(const char *pid)
{
	struct timespec time;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(atoi(pid), &clock), 0);
	assert_int_equal(clock_gettime(clock, &time), 0);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/*
 * No CPU time is in two samples, so their sum is that of the process at most. The first sample may
 * begin before, since the lease of the profile before it still runs: a quarter is allowed for that.
 * Each sample stands for an eighth of a period or more.
 */
static void expect_cpu(json_t *profile, int64_t most)
{
	assert_true(json_int(profile, "timeNs") <= most + most / 4);
	assert_true(json_int(profile, "timeNs") >= json_int(profile, "number") * 1250000);
}

/* Profile once more. Whether all shares agree. */
static bool agree(void *arg)
{
	struct sums *s = arg;
	const int64_t before = process_cpu(s->pid);
	json_t *answer =
		json_well(cli_run("fiberctl", "profile", s->pid, "--for=2s", "--json", NULL));
	double profile, fibers;

	expect_cpu(json_object_get(answer, "profile"), process_cpu(s->pid) - before);
	s->three += self_of(answer, "compute_three");
	s->one += self_of(answer, "compute_one");
	s->samples += json_int(json_object_get(answer, "profile"), "number");
	json_decref(answer);
	profile = share(s->three, s->one);
	fibers = share(cpu_of(s->pid, "three") - s->three_was, cpu_of(s->pid, "one") - s->one_was);
	print_message("# %lld samples: %.3f of compute_three; of the fibers' times %.3f\n",
		      (long long)s->samples, profile, fibers);
	return s->samples >= SAMPLES && near(profile, 0.75) && near(profile, fibers);
}

static void agree_on(const char *carriers)
{
	struct harness_process *p =
		cli_start(NULL, "ready", "compute", "--carriers", carriers, NULL);
	char pid[16];
	struct sums s = {.pid = pid};

	/* ThreadSanitizer calls handlers late, so a sample is of another function. */
	if (strcmp(harness_sanitizer(), "thread") == 0)
		cli_skip("handlers are called late under ThreadSanitizer");
	snprintf(pid, sizeof(pid), "%d", p->pid);
	s.three_was = cpu_of(pid, "three");
	s.one_was = cpu_of(pid, "one");
	assert_true(harness_until(agree, &s, CLI_SECONDS));
	harness_free(p);
}

static void test_a_profile_agrees_with_the_ratio_and_the_fibers_times_on_1_carrier(void **state)
{
	(void)state;
	agree_on("1");
}

static void test_a_profile_agrees_with_the_ratio_and_the_fibers_times_on_2_carriers(void **state)
{
	(void)state;
	agree_on("2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_profile_agrees_with_the_ratio_and_the_fibers_times_on_1_carrier),
		cmocka_unit_test(
			test_a_profile_agrees_with_the_ratio_and_the_fibers_times_on_2_carriers),
	};

	harness_watchdog(170);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
