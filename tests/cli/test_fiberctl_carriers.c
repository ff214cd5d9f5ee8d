/* SPDX-License-Identifier: MIT */
/* test_fiberctl_carriers.c - which poller a runtime got, why, and what its carriers do */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/harness/cli/cli.h"
#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/watchdog.h"

#define CARRIER                                                                                   \
	"runtime:i index:i state:s fiberId:i? fiberName:s? runningNs:i? queued:i timers:i "       \
	"switches:i "                                                                             \
	"switchesPerSecond:* steals:i wakeUps:i polls:i timeouts:i cpuNs:i? cpuShare:* stacks:i " \
	"delayedNs:i delays:a"

static struct harness_process *start(const char *setting, unsigned forbid)
{
	const char *const env[] = {setting, NULL};
	const struct harness_how how = {.env = env, .forbid = forbid};

	return cli_start(&how, "ready", "runtimes", NULL);
}

/* Return the answer after checking it: one runtime has 1 carrier, the other has 2. */
static json_t *ask(const struct harness_process *process)
{
	struct harness_process *p =
		cli_run("fiberctl", "carriers", cli_number((uint64_t)process->pid), "--json", NULL);
	const json_t *carriers, *runtimes;
	json_t *answer;
	size_t i;

	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_string_equal(json_text(answer, "name"), "one");
	assert_int_equal(json_int(answer, "total"), 3);
	assert_true(json_int(answer, "sampledNs") > 0);
	assert_int_equal(json_int(answer, "shown"), 3);
	carriers = json_object_get(answer, "carriers");
	runtimes = json_object_get(answer, "runtimes");
	assert_int_equal(json_array_size(carriers), 3);
	assert_int_equal(json_array_size(runtimes), 2);
	for (i = 0; i < 3; i++)
		json_promise(json_array_get(carriers, i), "carrier", CARRIER);
	for (i = 0; i < 2; i++) {
		json_promise(json_array_get(runtimes, i), "runtime",
			     "id:i carriers:i substitutes:i polls:i queued:i spawned:i ended:i "
			     "pinnedEvents:i "
			     "poller:o");
		json_promise(json_object_get(json_array_get(runtimes, i), "poller"), "poller",
			     "name:s note:s?");
	}
	return answer;
}

/* Assert that every runtime has this poller and this note; note NULL: no note. */
static void expect_poller(json_t *answer, const char *name, const char *note)
{
	size_t i;

	for (i = 0; i < 2; i++) {
		const json_t *const poller = json_object_get(
			json_array_get(json_object_get(answer, "runtimes"), i), "poller");

		assert_string_equal(json_text(poller, "name"), name);
		if (note)
			cli_contains(json_text(poller, "note"), note);
		else
			assert_true(json_is_null(json_object_get(poller, "note")));
	}
	json_decref(answer);
}

static void test_carriers_are_shown_by_runtime_and_index(void **state)
{
	static const json_int_t expected[][2] = {{1, 0}, {2, 0}, {2, 1}};
	struct harness_process *process = start("FIBER_POLLER=", 0);
	json_t *answer = ask(process);
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		const json_t *const c = json_array_get(json_object_get(answer, "carriers"), i);

		assert_int_equal(json_int(c, "runtime"), expected[i][0]);
		assert_int_equal(json_int(c, "index"), expected[i][1]);
		assert_int_equal(json_int(c, "queued"), 0);
	}
	expect_poller(answer, "epoll", NULL);
	harness_free(process);
}

static void test_carriers_name_the_poller_of_the_environment(void **state)
{
	struct harness_process *process = start("FIBER_POLLER=poll", 0);

	(void)state;
	expect_poller(ask(process), "poll", NULL);
	harness_free(process);
}

static const char *count_lines(const char *text, const char *prefix, unsigned *ret)
{
	const char *at, *last = NULL;

	*ret = 0;
	for (at = text; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL)
		if (strncmp(at, prefix, strlen(prefix)) == 0) {
			last = at;
			++*ret;
		}
	return last;
}

static void test_carriers_say_once_for_each_runtime_why_it_is_another_poller(void **state)
{
	struct harness_process *process = start("FIBER_POLLER=uring", SYS_io_uring_setup), *p;
	unsigned n;

	(void)state;
	expect_poller(ask(process), "epoll", "FIBER_POLLER=uring cannot be used here (");
	p = cli_run("fiberctl", "carriers", cli_number((uint64_t)process->pid), NULL);
	cli_expect(p, 0);
	assert_non_null(strstr(count_lines(p->out.bytes, "note: ", &n), "), so epoll is\n"));
	assert_int_equal(n, 2);
	count_lines(p->out.bytes, "runtime ", &n);
	assert_int_equal(n, 2);
	cli_contains(p->out.bytes, "poller epoll");
	harness_free(p);
	/* The poller works. */
	p = cli_run("fiberctl", "list", cli_number((uint64_t)process->pid), NULL);
	cli_ended(p, 0);
	harness_free(process);
}

static void test_carriers_that_run_name_their_fibers(void **state)
{
	struct harness_process *process = cli_start(NULL, "ready", "spin", "--carriers", "3", NULL),
			       *p;
	const json_t *carriers, *c;
	json_t *answer;
	size_t i;

	(void)state;
	p = cli_run("fiberctl", "carriers", cli_number((uint64_t)process->pid), "--json", NULL);
	answer = json_well(p);
	carriers = json_object_get(answer, "carriers");
	assert_int_equal(json_array_size(carriers), 3);
	json_array_foreach (carriers, i, c) {
		assert_string_equal(json_text(c, "state"), "running");
		assert_true(json_int(c, "fiberId") > 0);
	}
	json_decref(answer);
	harness_free(process);
}

static void test_carriers_have_the_names_of_their_fibers_beside_the_ids(void **state)
{
	struct crowd crowd = crowd_start(NULL, "crowd", "60", "--stuck");
	json_t *answer = json_well(cli_run(
		"fiberctl", "carriers", cli_number((uint64_t)crowd.process->pid), "--json", NULL));
	const json_t *carriers = json_object_get(answer, "carriers"), *c;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(carriers), crowd_count(&crowd, "running"));
	json_array_foreach (carriers, i, c) {
		const uint64_t id = (uint64_t)json_int(c, "fiberId");
		size_t k = 0;

		while (k < crowd.count && crowd.members[k].id != id)
			k++;
		assert_true(k < crowd.count);
		assert_string_equal(json_text(c, "fiberName"), crowd.members[k].name);
	}
	json_decref(answer);
	crowd_end(&crowd);
}

/* option may be NULL. */
static json_t *ask_figures(const struct harness_process *process, const char *option)
{
	struct harness_process *p = cli_run(
		"fiberctl", "carriers", cli_number((uint64_t)process->pid), "--json", option, NULL);
	json_t *answer = json_well(p);

	json_promise_answer(answer, "control");
	return answer;
}

static double real(const json_t *object, const char *key)
{
	assert_true(json_is_real(json_object_get(object, key)));
	return json_real_value(json_object_get(object, key));
}

static bool unknown(const json_t *object, const char *key)
{
	return json_is_null(json_object_get(object, key));
}

/* The program is idle, so no rates are shown. */
static void test_carriers_say_what_they_have_done_and_what_they_do(void **state)
{
	struct harness_process *process = cli_start(NULL, "ready", "figures", NULL);
	const json_t *c, *stacks, *service, *delays;
	json_int_t sum = 0;
	json_t *answer;
	size_t i;

	(void)state;
	answer = ask_figures(process, NULL);
	c = json_array_get(json_object_get(answer, "carriers"), 0);
	json_promise(c, "carrier", CARRIER);
	assert_true(json_int(c, "switches") > 200);
	assert_int_equal(json_int(c, "timers"), 5);
	assert_int_equal(json_int(c, "steals"), 0);
	assert_true(json_int(c, "cpuNs") > 0);
	assert_true(unknown(c, "fiberId") && unknown(c, "fiberName") && unknown(c, "runningNs"));
	assert_true(real(c, "switchesPerSecond") == 0);
	assert_true(real(c, "cpuShare") >= 0);
	delays = json_object_get(c, "delays");
	assert_int_equal(json_array_size(delays), 16);
	for (i = 0; i < 16; i++)
		sum += json_integer_value(json_array_get(delays, i));
	assert_int_equal(sum, json_int(c, "switches"));
	stacks = json_object_get(answer, "stacks");
	json_promise(stacks, "stacks",
		     "made:i bytes:i used:i cached:i free:i cold:i promised:i trimmed:i");
	assert_int_equal(json_int(stacks, "used"), 10);
	assert_int_equal(json_int(stacks, "made"),
			 10 + json_int(stacks, "cached") + json_int(stacks, "free"));
	service = json_object_get(answer, "service");
	json_promise(service, "service", "cpuNs:i ageNs:i cpuShare:*");
	assert_true(json_int(service, "cpuNs") > 0);
	assert_true(json_int(service, "ageNs") >= json_int(service, "cpuNs"));
	assert_true(real(service, "cpuShare") >= 0);
	json_decref(answer);
	/* A single sample has no rates. */
	answer = ask_figures(process, "--once");
	c = json_array_get(json_object_get(answer, "carriers"), 0);
	assert_true(json_int(c, "switches") > 200);
	assert_true(unknown(c, "switchesPerSecond") && unknown(c, "cpuShare"));
	assert_true(unknown(json_object_get(answer, "service"), "cpuShare"));
	json_decref(answer);
	harness_free(process);
}

static void test_carriers_that_are_busy_use_the_cpu(void **state)
{
	struct harness_process *process = cli_start(NULL, "ready", "spin", "--carriers", "1", NULL);
	const json_t *before, *c;
	json_t *first, *second;

	(void)state;
	first = ask_figures(process, "--once");
	second = ask_figures(process, "--interval=50ms");
	before = json_array_get(json_object_get(first, "carriers"), 0);
	c = json_array_get(json_object_get(second, "carriers"), 0);
	assert_true(json_int(before, "cpuNs") > 0);
	assert_true(json_int(c, "cpuNs") >= json_int(before, "cpuNs"));
	/* The CPU time that the machine gave in between is unknown. */
	assert_true(real(c, "cpuShare") >= 0);
	assert_true(real(c, "switchesPerSecond") == 0);
	assert_true(json_int(c, "runningNs") >= json_int(before, "runningNs"));
	json_decref(first);
	json_decref(second);
	harness_free(process);
}

static void test_carriers_refuse_a_time_that_is_none(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "carriers", "1", "--interval", "0", NULL), 64,
			 "fiberctl", "--interval");
	cli_expect_error(cli_run("fiberctl", "carriers", "1", "--interval", "2h", NULL), 64,
			 "fiberctl", "--interval");
	cli_expect_error(cli_run("fiberctl", "carriers", "1", "--interval", "soon", NULL), 64,
			 "fiberctl", "--interval");
}

static void test_carriers_of_a_process_that_is_none_cannot_be_shown(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "carriers", "no-such-program", NULL), 2, "fiberctl",
			 "no-such-program");
}

static void test_carriers_of_a_name_that_is_no_poller_never_start(void **state)
{
	static const char *const env[] = {"FIBER_POLLER=select", NULL};
	const struct harness_how how = {.env = env};
	struct harness_process *p = cli_run_how(&how, "runtimes", NULL);

	(void)state;
	assert_int_not_equal(p->status, 0);
	cli_contains(p->err.bytes,
		     "libfiber: FIBER_POLLER=select: no such poller, it is one of epoll, ");
	harness_free(p);
}

#define NOBODY 65534

/*
 * A user who starts a setuid program must not choose its poller. If FIBER_POLLER were not ignored,
 * this program would not start.
 */
static void test_carriers_of_a_setuid_program_do_not_hear_who_starts_it(void **state)
{
	static const char *const env[] = {"FIBER_POLLER=select", NULL};
	const struct harness_how how = {.env = env, .user = NOBODY};
	char folder[] = "/tmp/fiber-setuid-XXXXXX", from[HARNESS_PATH], path[sizeof folder + 16];
	struct harness_process *process;
	struct statvfs fs;

	(void)state;
	if (geteuid() != 0 || statvfs("/tmp", &fs) < 0 || fs.f_flag & (ST_NOSUID | ST_NOEXEC))
		cli_skip("needs root, and a folder for setuid programs");
	/* The kernel randomizes the addresses of a setuid program again. */
	if (!strcmp(harness_sanitizer(), "thread"))
		cli_skip("ThreadSanitizer wants its addresses");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/runtimes", folder);
	harness_free(cli_run("/bin/cp", harness_program(from, "runtimes"), path, NULL));
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(chmod(path, 04755), 0);
	process = cli_start(&how, "ready", path, NULL);
	expect_poller(ask(process), "epoll", NULL);
	harness_free(process);
	unlink(path);
	rmdir(folder);
	/* The program's socket is not in the test's folder: let fiberctl remove it. */
	harness_free(cli_run("fiberctl", NULL));
}

static struct harness_process *ask_about(const struct harness_process *process, const char *command,
					 const char *who)
{
	return cli_run("fiberctl", command, cli_number((uint64_t)process->pid), who, NULL);
}

/* A fiber keeps the carrier, and two are bound to it. The finding comes when they have waited for long. */
static void test_carriers_have_substitutes_that_run_no_bound_fibers(void **state)
{
	struct harness_process *const process = cli_start(NULL, "ready ", "substitutes", NULL), *p;
	bool found = false;

	(void)state;
	p = ask_about(process, "carriers", NULL);
	cli_contains(p->out.bytes,
		     "2 of the carriers are substitutes for others that one fiber keeps\n");
	harness_free(p);
	p = ask_about(process, "show", "2");
	cli_contains(p->out.bytes,
		     " for carrier 0, to which it is bound; fiber 1 \"hog\" has run there for ");
	harness_free(p);
	while (!found) {
		p = ask_about(process, "why", NULL);
		found = strstr(p->out.bytes, "fiber 1 \"hog\" has kept carrier 0 for ") &&
			strstr(p->out.bytes, ", and 2 fibers that can run wait, 2 bound to it");
		harness_free(p);
	}
	harness_free(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_carriers_are_shown_by_runtime_and_index),
		cmocka_unit_test(test_carriers_name_the_poller_of_the_environment),
		cmocka_unit_test(test_carriers_say_once_for_each_runtime_why_it_is_another_poller),
		cmocka_unit_test(test_carriers_that_run_name_their_fibers),
		cmocka_unit_test(test_carriers_have_the_names_of_their_fibers_beside_the_ids),
		cmocka_unit_test(test_carriers_say_what_they_have_done_and_what_they_do),
		cmocka_unit_test(test_carriers_that_are_busy_use_the_cpu),
		cmocka_unit_test(test_carriers_refuse_a_time_that_is_none),
		cmocka_unit_test(test_carriers_of_a_process_that_is_none_cannot_be_shown),
		cmocka_unit_test(test_carriers_of_a_name_that_is_no_poller_never_start),
		cmocka_unit_test(test_carriers_of_a_setuid_program_do_not_hear_who_starts_it),
		cmocka_unit_test(test_carriers_have_substitutes_that_run_no_bound_fibers),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
