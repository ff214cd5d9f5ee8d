/* SPDX-License-Identifier: MIT */
/* test_fiberctl_top.c - one screen of top agrees with the crowd and shows what is busy */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/http.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

static struct crowd crowd, spin;
static char pid[16], spin_pid[16];

static int start(void **state)
{
	(void)state;
	crowd = crowd_start(NULL, "crowd", "240", "--stuck");
	spin = crowd_start(NULL, "spin", NULL, NULL);
	snprintf(pid, sizeof(pid), "%d", crowd.process->pid);
	snprintf(spin_pid, sizeof(spin_pid), "%d", spin.process->pid);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	crowd_end(&crowd);
	crowd_end(&spin);
	return 0;
}

/* The number of members in a kind of wait; other states are not waits. */
static json_int_t waiting(const char *kind)
{
	return (json_int_t)crowd_count(&crowd, kind);
}

static void test_top_json_totals_are_what_crowd_says(void **state)
{
	static const char *const kinds[] = {"mutex",  "sleep",	     "park",  "join",
					    "cond",   "sem",	     "event", "chan-send",
					    "select", "rwlock-read", "fd"};
	struct harness_process *p =
		cli_run("fiberctl", "top", pid, "--json", "--limit", "300", NULL);
	json_t *answer, *waits, *states, *group;
	size_t i, total = 0;

	(void)state;
	answer = json_well(p);
	json_promise(answer, "answer",
		     JSON_ANSWER
		     " carriers:a states:o waits:o groups:a intervalNs:i change:o matched:i "
		     "leftOut:o");
	assert_int_equal(json_int(answer, "total"), crowd.count);
	assert_int_equal(json_int(answer, "matched"), crowd.count);
	assert_int_equal(json_int(answer, "shown"), crowd.count);
	assert_true(json_int(answer, "intervalNs") > 0);
	waits = json_object_get(answer, "waits");
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		assert_true(waiting(kinds[i]) > 0);
		assert_int_equal(json_int(waits, kinds[i]), waiting(kinds[i]));
	}
	states = json_object_get(answer, "states");
	assert_int_equal(json_int(states, "running"), waiting("running"));
	assert_int_equal(json_int(states, "created"), waiting("created"));
	assert_int_equal(json_int(states, "dead"), waiting("dead"));
	json_array_foreach (json_object_get(answer, "groups"), i, group) {
		const char *value = json_text(group, "value");

		json_promise(group, "group",
			     "field:s value:s? count:i fiberIds:a ageNs:o change:o");
		total += (size_t)json_int(group, "count");
		assert_string_not_equal(value, "-");
		if (!json_is_null(json_object_get(group, "value")))
			assert_int_equal(json_int(group, "count"), waiting(value));
	}
	assert_int_equal(total, crowd.count);
	json_decref(answer);
}

static void test_top_json_says_what_is_beyond_the_limit(void **state)
{
	json_t *answer = json_well(
		cli_run("fiberctl", "top", pid, "--json", "--limit", "2", "--where", "wait", NULL));
	json_t *all = json_well(cli_run("fiberctl", "top", pid, "--json", "--limit", "300",
					"--where", "wait", NULL));
	const json_t *left = json_object_get(answer, "leftOut");

	(void)state;
	assert_int_equal(json_int(answer, "shown"), 2);
	assert_int_equal(json_array_size(json_object_get(answer, "groups")), 2);
	assert_int_equal(json_int(left, "fibers"), json_int(answer, "matched") - 2);
	assert_int_equal(json_int(left, "groups"),
			 json_array_size(json_object_get(all, "groups")) - 2);
	left = json_object_get(all, "leftOut");
	assert_int_equal(json_int(left, "fibers"), 0);
	assert_int_equal(json_int(left, "groups"), 0);
	json_decref(all);
	json_decref(answer);
}

static void test_top_json_carriers_run_the_fibers_that_hold_them(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "top", pid, "--json", NULL);
	json_t *answer, *carriers, *carrier;
	size_t i, k;

	(void)state;
	answer = json_well(p);
	carriers = json_object_get(answer, "carriers");
	assert_int_equal(json_array_size(carriers), waiting("running"));
	json_array_foreach (carriers, i, carrier) {
		bool found = false;

		json_promise(carrier, "carrier", "runtime:i index:i state:s fiberId:i? queued:i");
		assert_string_equal(json_text(carrier, "state"), "running");
		for (k = 0; k < crowd.count; k++)
			found |= !strcmp(crowd.members[k].kind, "running") &&
				 json_int(carrier, "fiberId") == (json_int_t)crowd.members[k].id;
		assert_true(found);
	}
	json_decref(answer);
}

/* The carriers in a command's answer; the caller releases the answer. */
static json_t *carriers_of(const char *command, pid_t of, json_t **ret_answer)
{
	struct harness_process *p =
		cli_run("fiberctl", command, cli_number((uint64_t)of), "--json", NULL);

	cli_expect(p, 0);
	*ret_answer = json_answer(p);
	harness_free(p);
	return json_object_get(*ret_answer, "carriers");
}

/* The program is idle after its work, so two commands find the same. */
static void test_top_json_carriers_have_done_what_carriers_says(void **state)
{
	static const char *const counts[] = {"runtime", "index",    "timers",	"switches",
					     "steals",	"timeouts", "delayedNs"};
	struct harness_process *figures =
		cli_start(NULL, "ready", "figures", "--carriers", "2", NULL);
	json_t *top, *carriers, *one, *other;
	json_int_t steals = 0;
	size_t i, k;

	(void)state;
	one = carriers_of("top", figures->pid, &top);
	other = carriers_of("carriers", figures->pid, &carriers);
	assert_int_equal(json_array_size(one), 2);
	assert_int_equal(json_array_size(other), 2);
	for (i = 0; i < 2; i++) {
		const json_t *a = json_array_get(one, i), *b = json_array_get(other, i);

		json_promise(a, "carrier",
			     "runningNs:i? switches:i switchesPerSecond:* steals:i wakeUps:i "
			     "polls:i cpuNs:i? cpuShare:* stacks:i delays:a");
		for (k = 0; k < sizeof(counts) / sizeof(counts[0]); k++)
			assert_int_equal(json_int(a, counts[k]), json_int(b, counts[k]));
		assert_true(json_int(a, "cpuNs") > 0);
		assert_true(json_is_real(json_object_get(a, "cpuShare")));
		assert_true(json_real_value(json_object_get(a, "switchesPerSecond")) == 0);
		steals += json_int(a, "steals");
	}
	assert_true(steals > 0);
	json_decref(top);
	json_decref(carriers);
	harness_free(figures);
}

static bool goes_on(const struct harness_process *p)
{
	siginfo_t info = {.si_pid = 0};

	assert_int_equal(waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT), 0);
	return info.si_pid == 0;
}

static void test_top_carriers_switch_while_there_is_work(void **state)
{
	char program[HARNESS_PATH];
	unsigned port;
	struct harness_process *server = http_start(NULL, NULL, NULL, &port), *top;
	const char *const argv[] = {harness_program(program, "fiberctl"),
				    "top",
				    cli_number((uint64_t)server->pid),
				    "--json",
				    "-n",
				    "1s",
				    NULL};
	json_t *answer, *carrier;
	double rate = 0;
	size_t i;

	(void)state;
	top = harness_start(argv, NULL);
	do
		http_alive(port);
	while (goes_on(top));
	assert_true(harness_wait_end(top, CLI_SECONDS));
	answer = json_well(top);
	json_array_foreach (json_object_get(answer, "carriers"), i, carrier)
		rate += json_real_value(json_object_get(carrier, "switchesPerSecond"));
	assert_true(rate > 0);
	json_decref(answer);
	harness_free(server);
}

static void test_top_puts_those_that_spin_first(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "top", spin_pid, "--json", NULL);
	json_t *answer, *fiber, *change;
	size_t i, running = crowd_count(&spin, "running");

	(void)state;
	answer = json_well(p);
	assert_true(json_int(json_object_get(answer, "change"), "cpuNs") > 0);
	assert_int_equal(json_array_size(json_object_get(answer, "fibers")), spin.count);
	json_array_foreach (json_object_get(answer, "fibers"), i, fiber) {
		json_promise_fiber(fiber, false);
		change = json_object_get(fiber, "change");
		json_promise(change, "change", "cpuNs:i switches:i new:b");
		assert_int_equal(json_int(change, "switches"), 0);
		if (i < running) {
			assert_string_equal(json_text(fiber, "state"), "running");
			assert_true(json_int(change, "cpuNs") > 0);
		} else {
			assert_int_equal(json_int(change, "cpuNs"), 0);
		}
	}
	json_decref(answer);
}

static void test_top_takes_a_condition_an_order_a_limit_and_a_group(void **state)
{
	struct harness_process *p =
		cli_run("fiberctl", "top", pid, "--json", "--where", "wait=mutex", "--sort", "-id",
			"--limit", "3", "--group-by", "object", NULL);
	json_t *answer, *fiber, *fibers;
	size_t i;

	(void)state;
	answer = json_well(p);
	assert_int_equal(json_int(answer, "total"), crowd.count);
	assert_int_equal(json_int(answer, "matched"), waiting("mutex"));
	fibers = json_object_get(answer, "fibers");
	assert_int_equal(json_array_size(fibers), 3);
	json_array_foreach (fibers, i, fiber) {
		const uint64_t id = (uint64_t)json_int(fiber, "id");
		size_t k, larger = 0;

		/* The rank: as many matching fibers have a larger id as rows precede this one. */
		for (k = 0; k < crowd.count; k++)
			larger +=
				!strcmp(crowd.members[k].kind, "mutex") && crowd.members[k].id > id;
		assert_int_equal(larger, i);
		assert_string_equal(json_text(json_object_get(fiber, "wait"), "kind"), "mutex");
	}
	fiber = json_array_get(json_object_get(answer, "groups"), 0);
	assert_string_equal(json_text(fiber, "field"), "object");
	json_decref(answer);
}

static void test_top_once_is_a_screen_of_text(void **state)
{
	struct harness_process *p = cli_run("fiberctl", "top", spin_pid, "--once", NULL);
	char wanted[128];

	(void)state;
	cli_expect(p, 0);
	snprintf(wanted, sizeof(wanted), "spin, process %s: %zu fibers, 2 carriers, ", spin_pid,
		 spin.count);
	cli_contains(p->out.bytes, wanted);
	/* Four wait behind one that is parked: a convoy once that is a second old. */
	if (!strstr(p->out.bytes, " carriers, ok; in "))
		cli_contains(p->out.bytes, " carriers, convoy 4; in ");
	cli_contains(p->out.bytes, "states: 2 running, 0 runnable, 8 suspended");
	cli_contains(p->out.bytes, "waits: 4 park, 4 mutex");
	cli_contains(p->out.bytes, "CARRIER STATE           FIBER     QUEUED   CPU%   SWITCH/S     "
				   "STEALS\n         1          0 running ");
	cli_contains(p->out.bytes, "COUNT   CPU%   SWITCH/S   OLDEST  KIND");
	cli_contains(p->out.bytes, "mutex \"runaway\"@0x");
	snprintf(wanted, sizeof(wanted), "shown %zu of %zu fibers", spin.count, spin.count);
	cli_contains(p->out.bytes, wanted);
	harness_free(p);

	/* The column that the lines are sorted by is shown. */
	p = cli_run("fiberctl", "top", spin_pid, "--once", "--sort", "-fn", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "FUNCTION");
	cli_contains(p->out.bytes, "waiter_main");
	harness_free(p);
}

static void test_top_without_a_terminal_says_what_to_do(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "top", pid, NULL), 64, "fiberctl", "--once");
}

static void test_top_refuses_what_it_cannot_do(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "top", pid, "--once", "--sort", "nothing", NULL), 64,
			 "fiberctl", "--sort: 'nothing': no such field");
	cli_expect_error(cli_run("fiberctl", "top", pid, "--once", "--group-by", "nothing", NULL),
			 64, "fiberctl", "--group-by: 'nothing': no such field");
	cli_expect_error(cli_run("fiberctl", "top", pid, "--once", "--where", "id>", NULL), 64,
			 "fiberctl", "--where: a value is missing");
	cli_expect_error(cli_run("fiberctl", "top", pid, "--once", "-n", "0", NULL), 64, "fiberctl",
			 "--interval 0");
	cli_expect_error(cli_run("fiberctl", "top", "no such program", "--once", NULL), 2,
			 "fiberctl", "no such program");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_top_json_totals_are_what_crowd_says),
		cmocka_unit_test(test_top_json_says_what_is_beyond_the_limit),
		cmocka_unit_test(test_top_json_carriers_run_the_fibers_that_hold_them),
		cmocka_unit_test(test_top_json_carriers_have_done_what_carriers_says),
		cmocka_unit_test(test_top_carriers_switch_while_there_is_work),
		cmocka_unit_test(test_top_puts_those_that_spin_first),
		cmocka_unit_test(test_top_takes_a_condition_an_order_a_limit_and_a_group),
		cmocka_unit_test(test_top_once_is_a_screen_of_text),
		cmocka_unit_test(test_top_without_a_terminal_says_what_to_do),
		cmocka_unit_test(test_top_refuses_what_it_cannot_do),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, start, stop);
}
