/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_changes.c - changes over HTTP do what the commands do, and the program decides
 *
 * What was changed is looked up with fiberctl, not with the server.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/serve.h"
#include "tests/harness/watchdog.h"

static const char *const admin[] = {"FIBER_CONTROL=admin", NULL};
static const struct harness_how as_admin = {.env = admin};

static struct serve server;
static struct harness_process *program;

static void start(struct harness_process *process)
{
	program = process;
	server = serve_start("--allow-changes", cli_number((uint64_t)process->pid), NULL);
}

static int finish(void **state)
{
	(void)state;
	serve_end(&server);
	harness_free(program);
	program = NULL;
	return 0;
}

/* The member of an answer of `fiberctl COMMAND PID [ID] --json`. */
static json_t *by_hand(const char *command, const char *id)
{
	json_t *answer = json_well(cli_run("fiberctl", command, cli_number((uint64_t)program->pid),
					   "--json", id, NULL));

	return answer;
}

static const char *state_of(uint64_t id)
{
	static char state[32];
	json_t *answer = by_hand("list", NULL);

	snprintf(state, sizeof(state), "%s", json_text(json_fiber(answer, id), "state"));
	json_decref(answer);
	return state;
}

static bool is_dead(void *id)
{
	return !strcmp(state_of(*(uint64_t *)id), "dead");
}

static void test_cancel_and_wake_act_on_that_fiber(void **state)
{
	struct crowd crowd = crowd_start(&as_admin, "crowd", "60", NULL);
	const struct crowd_member *sleeps = crowd_find(&crowd, "sleep", "");
	const struct crowd_member *parks = crowd_find(&crowd, "park", "park-21");
	uint64_t cancelled = sleeps->id, woken = parks->id;
	json_t *answer;

	(void)state;
	start(crowd.process);
	answer = serve_change(&server, 200, "/api/v1/processes/%d/cancel?id=%lu", program->pid,
			      (unsigned long)cancelled);
	json_promise(answer, "answer", JSON_ANSWER " cancel:o");
	assert_int_equal(json_int(json_object_get(answer, "cancel"), "fiberId"), cancelled);
	json_decref(answer);
	answer = serve_change(&server, 200, "/api/v1/processes/%d/wake?id=%lu", program->pid,
			      (unsigned long)woken);
	json_promise(answer, "answer", JSON_ANSWER " wake:o");
	assert_true(json_is_true(json_object_get(json_object_get(answer, "wake"), "endedWait")));
	json_decref(answer);
	assert_true(harness_until(is_dead, &cancelled, CLI_SECONDS));
	answer = by_hand("audit", NULL);
	assert_int_equal(json_array_size(json_object_get(answer, "audit")), 2);
	json_decref(answer);
	json_decref(
		serve_change(&server, 502, "/api/v1/processes/%d/cancel?id=999999", program->pid));
	free(crowd.members);
}

static void test_policy_and_watchdog_are_set(void **state)
{
	json_t *answer;

	(void)state;
	start(cli_start(NULL, "ready ", "crowd", "20", NULL));
	answer = serve_change(&server, 200, "/api/v1/processes/crowd/policy?policy=silent");
	assert_string_equal(json_text(json_object_get(answer, "policy"), "pinnedBlocking"),
			    "silent");
	json_decref(answer);
	answer = by_hand("policy", NULL);
	assert_string_equal(json_text(json_object_get(answer, "policy"), "pinnedBlocking"),
			    "silent");
	json_decref(answer);
	json_decref(serve_change(&server, 200, "/api/v1/processes/%d/watchdog?threshold=7s",
				 program->pid));
	answer = by_hand("watchdog", NULL);
	assert_int_equal(json_int(json_object_get(answer, "watchdog"), "thresholdNs"), 7000000000);
	json_decref(answer);
	json_decref(serve_change(&server, 200, "/api/v1/processes/%d/watchdog?threshold=off",
				 program->pid));
	answer = by_hand("watchdog", NULL);
	assert_true(json_is_false(json_object_get(json_object_get(answer, "watchdog"), "on")));
	json_decref(answer);
}

static void wrong(int status, const char *change, const char *what)
{
	json_t *answer =
		serve_change(&server, status, "/api/v1/processes/%d/%s", program->pid, change);

	cli_contains(json_text(json_object_get(answer, "error"), "text"), what);
	json_decref(answer);
}

static void test_wrong_changes_are_refused_and_change_nothing(void **state)
{
	json_t *answer;

	(void)state;
	start(cli_start(&as_admin, "ready ", "crowd", "20", NULL));
	wrong(400, "policy", "policy: is needed");
	wrong(400, "policy?policy=maybe", "maybe");
	wrong(400, "policy?policy=", "is no value for it");
	wrong(400, "policy?policy=--help", "is no value for it");
	wrong(400, "policy?policy=warn%0A--json", "is no value for it");
	wrong(400, "policy?policy=warn&policy=warn", "no other parameter");
	wrong(400, "policy?policy=warn&x=1", "no other parameter");
	wrong(400, "watchdog?threshold=-1", "is no value for it");
	wrong(400, "watchdog?threshold=soon", "soon");
	wrong(400, "cancel", "id: is needed");
	wrong(400, "cancel?id=x", "is no value for it");
	wrong(400, "wake?id=1&id=2", "no other parameter");
	wrong(404, "list", "there is no such change");
	wrong(404, "snapshot?output=x", "there is no such change");
	wrong(404, "policy/more?policy=warn", "nothing at this path");
	wrong(400, "recordings?seconds=0", "1 to 60");
	wrong(400, "recordings?seconds=61", "1 to 60");
	answer = by_hand("audit", NULL);
	assert_int_equal(json_array_size(json_object_get(answer, "audit")), 0);
	json_decref(answer);
}

static void test_the_program_decides_what_may_be_changed(void **state)
{
	static const char *const ro[] = {"FIBER_CONTROL=ro", NULL};
	static const struct harness_how as_ro = {.env = ro};

	(void)state;
	start(cli_start(&as_ro, "ready ", "crowd", "20", NULL));
	wrong(502, "policy?policy=silent", "FIBER_CONTROL=rw");
	wrong(502, "watchdog?threshold=7s", "FIBER_CONTROL=rw");
	wrong(502, "cancel?id=1", "FIBER_CONTROL=admin");
	wrong(502, "wake?id=1", "FIBER_CONTROL=admin");
	json_decref(serve_json(&server, 200, "/api/v1/processes/%d/list", program->pid));
}

/* -- recordings -- */

static bool has_ended(void *ret_state)
{
	json_t *answer = serve_json(&server, 200, "/api/v1/recordings");
	const json_t *one = json_array_get(json_object_get(answer, "recordings"), 0);
	char *state = ret_state;

	json_promise(one, "recording", "id:i pid:i name:s startedNs:i seconds:i state:s text:s");
	snprintf(state, 32, "%s", json_text(one, "state"));
	json_decref(answer);
	return strcmp(state, "running") != 0;
}

/* Check a timeline with timeline.py, beside this file. */
static void check_timeline(const struct http_reply *reply)
{
	char path[HARNESS_PATH], script[HARNESS_PATH + 16] = __FILE__;
	struct harness_process *p;
	FILE *file = fopen(harness_file(path, "timeline.json"), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(reply->body, 1, reply->size, file), reply->size);
	assert_int_equal(fclose(file), 0);
	strcpy(strrchr(script, '/'), "/timeline.py");
	p = cli_run("/usr/bin/env", "python3", script, path, NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, " slices");
	harness_free(p);
}

/* Every script of a page is a file of the server, or data. */
static void check_scripts(const char *page)
{
	unsigned files = 0;

	while ((page = strstr(page, "<script"))) {
		const bool file = !strncmp(page, "<script src=\"/report.js\">", 25);

		assert_true(file || !strncmp(page, "<script type=\"application/json\"", 31));
		files += file;
		page += 7;
	}
	assert_int_equal(files, 1);
}

static void check_report(struct http_reply *reply)
{
	char policy[512];

	assert_int_equal(reply->status, 200);
	http_field(reply, "Content-Security-Policy", policy, sizeof(policy));
	cli_contains(policy, "script-src 'self';");
	cli_contains(policy, "style-src 'self' 'unsafe-inline';");
	assert_null(strstr(reply->body, "<meta http-equiv="));
	check_scripts(reply->body);
	http_drop(reply);
	*reply = serve_get(&server, "/report.js");
	assert_int_equal(reply->status, 200);
	assert_true(reply->size > 1000);
	assert_null(strstr(reply->body, "<script"));
	http_drop(reply);
}

/* The number of files like this in the test's folder. */
static size_t count_files(const char *pattern)
{
	char path[2 * HARNESS_PATH];
	glob_t found;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s", harness_folder(), pattern);
	n = glob(path, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	return n;
}

static size_t count_folders(void)
{
	return count_files("fiberctl-serve-*");
}

static bool has_file(void *arg)
{
	(void)arg;
	return count_files("fiberctl-serve-*/1.rec*") > 0;
}

static void test_a_recording_is_made_shown_and_removed_at_the_end(void **state)
{
	struct harness_process *load;
	char recorded[32];
	struct http_reply reply;
	unsigned port;

	(void)state;
	start(http_start(NULL, NULL, NULL, &port));
	load = cli_start(NULL, "round 1", "load", cli_number(port), "--pause", "20", "--sleep",
			 "10", NULL);
	json_decref(serve_change(&server, 202, "/api/v1/processes/%d/recordings?seconds=1",
				 program->pid));
	wrong(409, "recordings?seconds=1", "is being recorded");
	serve_refused(serve_get(&server, "/recordings/1/report.html"), 404, "is not done");
	assert_int_equal(count_folders(), 1);
	assert_true(harness_until(has_ended, recorded, CLI_SECONDS));
	assert_string_equal(recorded, "done");
	harness_free(load);
	reply = serve_get(&server, "/recordings/1/report.html");
	check_report(&reply);
	reply = serve_get(&server, "/recordings/1/timeline.json");
	assert_int_equal(reply.status, 200);
	check_timeline(&reply);
	http_drop(&reply);
	serve_refused(serve_get(&server, "/recordings/2/report.html"), 404, "no such recording");
	serve_end(&server);
	assert_int_equal(count_folders(), 0);
}

static void test_a_recording_that_cannot_be_made_says_why(void **state)
{
	static const char *const ro[] = {"FIBER_CONTROL=ro", NULL};
	static const struct harness_how as_ro = {.env = ro};
	char recorded[32];
	json_t *answer;

	(void)state;
	start(cli_start(&as_ro, "ready ", "crowd", "20", NULL));
	json_decref(serve_change(&server, 202, "/api/v1/processes/%d/recordings?seconds=1",
				 program->pid));
	assert_true(harness_until(has_ended, recorded, CLI_SECONDS));
	assert_string_equal(recorded, "failed");
	answer = serve_json(&server, 200, "/api/v1/recordings");
	cli_contains(json_text(json_array_get(json_object_get(answer, "recordings"), 0), "text"),
		     "FIBER_CONTROL");
	json_decref(answer);
	serve_refused(serve_get(&server, "/recordings/1/timeline.json"), 404, "is not done");
}

/* A server that ends during a recording leaves neither the process nor the folder. */
static void test_the_end_during_a_recording_leaves_nothing(void **state)
{
	(void)state;
	start(cli_start(NULL, "ready ", "crowd", "20", NULL));
	json_decref(serve_change(&server, 202, "/api/v1/processes/%d/recordings?seconds=60",
				 program->pid));
	/* fibertrace has begun to write. */
	assert_true(harness_until(has_file, NULL, CLI_SECONDS));
	serve_end(&server);
	assert_int_equal(count_folders(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_cancel_and_wake_act_on_that_fiber, finish),
		cmocka_unit_test_teardown(test_policy_and_watchdog_are_set, finish),
		cmocka_unit_test_teardown(test_wrong_changes_are_refused_and_change_nothing,
					  finish),
		cmocka_unit_test_teardown(test_the_program_decides_what_may_be_changed, finish),
		cmocka_unit_test_teardown(test_a_recording_is_made_shown_and_removed_at_the_end,
					  finish),
		cmocka_unit_test_teardown(test_a_recording_that_cannot_be_made_says_why, finish),
		cmocka_unit_test_teardown(test_the_end_during_a_recording_leaves_nothing, finish),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
