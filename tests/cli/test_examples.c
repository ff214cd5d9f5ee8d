/* SPDX-License-Identifier: MIT */
/*
 * test_examples.c - compare the whole output of every example
 *
 * scripts/test-man.py checks that every example is in the table.
 */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/watchdog.h"

/* The whole output as an fnmatch(3) pattern: "*" for times, addresses and random order. */
static const struct example {
	const char *name, *prints;
} examples[] = {
	{"01_hello", "* says hello (1)\n*Ada says hello (3)\n*"},
	{"02_shared_table", "14 14 14, then 100\n"},
	{"03_pipeline", "the squares of 1 to 1000 add up to 333833500\n"},
	{"04_fan_out", "near: answered\nfar: answered\nlost: too late\n"},
	{"05_cancellation", "the worker stops: cancelled\ndone: 3, error: -125\n"},
	{"22_clean_up", "the session ends: cancelled\nit said bye; 0 sessions, 1 place\n"},
	{"06_echo", "the server says: hello\nthe server ends: its socket was closed\n"},
	{"07_ticker", "6 beats, some were late\n"},
	{"08_offload", "flushed: 0\nno file: EBADF\n"},
	{"09_threads", "cooked: 5050\nall fibers have ended: yes\n"},
	{"10_callback", "called back: 42\nflag seen: 42\n"},
	{"11_request", "answer to GET /\n"
		       "GET /: the line is free again\n"
		       "GET /: ended with 0\n"
		       "nonsense: the line is free again\n"
		       "nonsense: ended with -71\n"},
	{"12_pinned_library", "one über naïveté strength Ångströms \n"
			      "waits while pinned: refused, the neighbour: undisturbed\n"},
	{"13_take_over", "Ada: customer 1 served\n"
			 "Ada: customer 2 served\n"
			 "Ada leaves the counter after customer 2\n"
			 "Ada has ended with -125\n"
			 "Ben: customer 3 said nothing\n"
			 "Ben: customer 4 served\n"
			 "Ben: customer 5 served\n"
			 "the same thread: yes\n"
			 "Ben leaves the counter after customer 5\n"},
	{"14_look_around",
	 "2 fibers wait for a mutex\n"
	 "reader mutex config\n"
	 "reader mutex config\n"
	 "fiber 1 \"reader\" [[]suspended: mutex \"config\" held by thread *[]]\n*"
	 "fiber 2 \"reader\" [[]suspended: mutex \"config\" held by thread *[]]\n"
	 "  switches 1, *\n"
	 "2 fibers\n"},
	{"15_backtrace", "fiber 2 \"worker\" [[]suspended: mutex, *[]]\n"
			 "  #0  fib_arch_switch+0x*\n"
			 "  #* fiber_mutex_lock+0x*\n"
			 "  #* store+0x*\n"
			 "  #* fib_arch_entry+0x*\n"},
	{"16_event_loop", "key 1\nkey 2\nkey 3\n"},
	{"17_generator", "another shape: the same words\nother words: \"fir\" against \"yew\"\n"},
	{"18_children", "the thread: 42\nthe first: exit code 3\nthe second: ended by signal 9\n"},
	{"19_names", "192.0.2.1: 192.0.2.1\nlocalhost: *\n"},
	{"20_frames",
	 "18 bytes: to be or not to be\n20 bytes: that is the question\nthen: cut off\n"},
	{"24_tls", "localhost: hello, with TLSv1.3\nlocalhost: hello, with TLSv1.3, resumed\n"
		   "example.org: hostname mismatch\n"},
	{"25_win32_copy", "reader: * bytes, Success\nwriter: * bytes, Success\nrounds: as many\n"},
	{"21_op", "read: 5\nwho: 21_op\nclosed: 0\n"},
	{"23_posix", "1 + 4 + ... + 100 = 385\n"
		     "1 + 4 + ... + 100 = 385\n"
		     "1 + 4 + ... + 100 = 385\n"},
	{"26_gc", "1000 lists of 100 nodes are intact\ncollected: yes\n"},
	{"raii", "left early, total 6\n"},
};
#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

/* 15_backtrace with a port whose stacks cannot be walked. */
static const char no_frames[] = "fiber 2 \"worker\" [[]suspended: mutex, *[]]\n"
				"  no frames: the stacks of this port cannot be walked\n";

static bool matches(const struct example *e, const char *text)
{
	return fnmatch(e->prints, text, 0) == 0 ||
	       (!strcmp(e->name, "15_backtrace") && fnmatch(no_frames, text, 0) == 0) ||
	       (!strcmp(e->name, "21_op") && !strcmp("no io_uring here\n", text));
}

static void test_examples_print_what_they_should(void **state)
{
	(void)state;
	for (size_t i = 0; i < EXAMPLES; i++) {
		char path[2 * HARNESS_PATH];
		struct harness_process *p;

		snprintf(path, sizeof(path), "%s/examples/%s", harness_build(), examples[i].name);
		/* It needs a library that not every machine has, and is not built with a sanitizer. */
		if (!strcmp(examples[i].name, "26_gc") && access(path, X_OK) < 0) {
			print_message("# 26_gc is not built here\n");
			continue;
		}
		p = cli_run(path, NULL);
		cli_expect(p, 0);
		if (!matches(&examples[i], p->out.bytes))
			fprintf(stderr, "%s printed:\n%s", examples[i].name, p->out.bytes);
		assert_true(matches(&examples[i], p->out.bytes));
		assert_int_equal(p->out.size, strlen(p->out.bytes));
		harness_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples_print_what_they_should),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
