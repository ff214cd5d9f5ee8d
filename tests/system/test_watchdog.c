/* SPDX-License-Identifier: MIT */
/*
 * test_watchdog.c - a test may fork as soon as its watchdog watches
 *
 * With one CPU for all threads, one that was only made has not begun by the time its maker goes on.
 */
#include "carriers.h"

#include <dirent.h>
#include <unistd.h>

static bool is_called(const char *tid, const char *name)
{
	char path[300], text[32] = "";
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof text, file))
		text[0] = 0;
	fclose(file);
	text[strcspn(text, "\n")] = 0;
	return !strcmp(text, name);
}

static unsigned threads_called(const char *name)
{
	DIR *const threads = opendir("/proc/self/task");
	struct dirent *thread;
	unsigned n = 0;

	while (threads && (thread = readdir(threads)))
		n += is_called(thread->d_name, name);
	if (threads)
		closedir(threads);
	return n;
}

static unsigned watching; /* when the test got its turn */

static void test_watchdog_thread_has_begun_when_the_test_gets_its_turn(void **state)
{
	(void)state;
	assert_int_equal(watching, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watchdog_thread_has_begun_when_the_test_gets_its_turn),
	};
	cpu_set_t here;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	sched_setaffinity(0, sizeof here, &here);
	harness_watchdog(100);
	watching = threads_called(HARNESS_WATCHDOG_THREAD);
	return cmocka_run_group_tests_name("watchdog", tests, NULL, NULL);
}
