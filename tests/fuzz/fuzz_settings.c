/* SPDX-License-Identifier: MIT */
/*
 * fuzz_settings.c - arbitrary values of FIBER_TEST_* and arbitrary command lines of test programs
 *
 * The first byte of an input says what the rest is: values of settings, each after a byte that
 * chooses the setting, or the words of a command line. Both are separated by NUL. Values that are
 * accepted must give options that make sense.
 *
 * A command line that makes no sense ends the process; here exit() comes back (--wrap).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "api/options.h"
#include "explore/settings.h"
#include "fuzz.h"

#define WORDS 16
#define ROOM  4096u

_Noreturn void __real_exit(int status);
_Noreturn void __wrap_exit(int status);

static jmp_buf refused;
static bool may_refuse;

void __wrap_exit(int status)
{
	if (!may_refuse)
		__real_exit(status);
	fuzz_must(status == 2);
	longjmp(refused, 1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* Descriptor 2 stays the fuzzer's. */
	stderr = fopen("/dev/null", "we");
	fuzz_must(stderr);
	return 0;
}

/* Settings keep the texts that they were given, and stay set. */
static void forget(void)
{
	static const char *const values[][2] = {
		{"schedules", "10"}, {"seed", "1"},	 {"strategy", "random"},
		{"steps", "1000"},   {"jobs", "1"},	 {"preemptions", "0"},
		{"faults", "none"},  {"slack", "100ms"}, {"fault-limit", "1"},
		{"time", "60s"},     {"hang", "10s"},	 {"at-failure", "report"},
		{"minimize", "1"},   {"hash", "0"},	 {"progress", "never"},
		{"trace", "1"},	     {"timeline", "1"},	 {"replay", "ft1-0000-009z"},
	};
	const char *why;
	unsigned i;

	for (i = 0; i < sizeof values / sizeof *values; i++)
		(void)fib_setting_set(values[i][0], values[i][1], &why);
}

static void complete(void)
{
	const struct fiber_test_options none = {.size = sizeof none};
	struct fiber_test_options o;

	fuzz_must(fib_settings_complete(&none, &o) == 0);
	fuzz_must(o.schedules && o.seed && o.name && o.strategy);
	fuzz_must(o.steps >= 1 && o.steps <= 10000000 && o.jobs >= 1 && o.jobs <= 256);
	fuzz_must(o.time_limit && o.hang_limit && o.slack >= 0);
	fuzz_must(o.fault_limit >= 1 && o.fault_limit <= 1000 && o.preemptions <= 1000);
	fuzz_must(!(o.faults & ~(unsigned)FIBER_TEST_FAULT_ALL));
}

static bool set(unsigned choice, const char *value)
{
	static const char *const names[] = {
		"schedules",   "seed",	   "strategy",	 "steps",      "slack",
		"preemptions", "time",	   "hang",	 "jobs",       "replay",
		"trace",       "timeline", "at-failure", "minimize",   "faults",
		"fault-limit", "hash",	   "progress",	 "keep-going", "no such",
	};
	const char *why = NULL;
	const int rc = fib_setting_set(names[choice % (sizeof names / sizeof *names)], value, &why);

	fuzz_must(rc == 0 || (rc == -EINVAL && why && *why));
	return rc == 0;
}

static void try_values(char *at, const char *end)
{
	char *value;

	for (; at < end; at = value + strlen(value) + 1) {
		value = at + 1;
		if (!set((unsigned char)*at, value))
			return;
	}
	complete();
}

static void try_words(char *at, const char *end)
{
	char program[] = "fuzz", *argv[WORDS + 2] = {program};
	int argc = 1;
	volatile int i;
	int next;

	for (; at < end && argc <= WORDS; at += strlen(at) + 1)
		argv[argc++] = at;
	may_refuse = true;
	if (setjmp(refused) == 0) {
		for (i = 1; i < argc; i++) {
			next = i;
			if (!fib_option_take(argc, argv, &next))
				fib_refuse(argv[0], argv[i], "no such option");
			fuzz_must(next >= i && next < argc);
			i = next;
		}
		fib_options_check(argv[0]);
		may_refuse = false;
		complete();
	}
	may_refuse = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;

	if (size < 2 || size > ROOM)
		return 0;
	text = malloc(size);
	fuzz_must(text);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	if (data[0] & 1)
		try_words(text, text + size - 1);
	else
		try_values(text, text + size - 1);
	forget();
	free(text);
	return 0;
}
