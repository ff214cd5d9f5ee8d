/* SPDX-License-Identifier: MIT */
/* test_fiberctl_policy.c - the policy for pinned fibers: read, changed from outside, in force */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/cli/one_server.h"
#include "tests/harness/cli/setting.h"
#include "tests/harness/watchdog.h"

/* GET /block, which waits while pinned. Returns the status. */
static int block(void)
{
	const int fd = http_connect(port);
	char body[128];
	int status;

	http_send(fd, "GET /block?ms=5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	status = http_answer(fd, body, sizeof(body));
	close(fd);
	return status;
}

/*
 * Run policy with an argument or NULL. Assert pinnedBlocking and previous ("": none); return
 * events.
 */
static json_int_t ask(const char *change, const char *now, const char *previous)
{
	json_t *policy =
		setting_ask("policy", server->pid, change, "pinnedBlocking:s events:i dropped:i");
	json_int_t events;

	assert_string_equal(json_text(policy, "pinnedBlocking"), now);
	assert_string_equal(json_text(policy, "previous"), previous);
	events = json_int(policy, "events");
	json_decref(policy);
	return events;
}

static void test_policy_is_read_changed_and_read_back(void **state)
{
	(void)state;
	ask(NULL, "warn", "");
	ask("error", "error", "warn");
	ask(NULL, "error", "");
	ask("silent", "silent", "error");
	ask("warn", "warn", "silent");
	ask("warn", "warn", "warn");
}

static void test_policy_holds_from_the_next_wait_on(void **state)
{
	(void)state;
	ask("silent", "silent", "warn");
	assert_int_equal(block(), 200);
	ask("error", "error", "silent");
	assert_int_equal(block(), 503);
	ask("silent", "silent", "error");
	assert_int_equal(block(), 200);
	ask("warn", "warn", "silent");
}

static void test_policy_counts_the_events_under_every_policy(void **state)
{
	const json_int_t before = ask(NULL, "warn", "");

	(void)state;
	assert_int_equal(block(), 200);
	assert_int_equal(ask("error", "error", "warn"), before + 1);
	assert_int_equal(block(), 503);
	assert_int_equal(ask("silent", "silent", "error"), before + 2);
	assert_int_equal(block(), 200);
	assert_int_equal(ask("warn", "warn", "silent"), before + 3);
}

/* One GET /block on a kept connection: refused at once. */
static int refuse(int fd)
{
	char body[128];

	http_send(fd, "GET /block?ms=5 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	return http_answer(fd, body, sizeof(body));
}

static void test_policy_says_how_many_events_the_ring_dropped(void **state)
{
	struct harness_process *other;
	unsigned other_port, i;
	json_t *policy;
	int fd;

	(void)state;
	other = http_start(NULL, NULL, NULL, &other_port);
	setting_says("policy", other->pid, "error",
		     "pinned blocking: error, was warn (0 events so far)\n");
	fd = http_connect(other_port);
	for (i = 0; i < 300; i++)
		assert_int_equal(refuse(fd), 503);
	close(fd);
	setting_says("policy", other->pid, NULL,
		     "pinned blocking: error (300 events so far, 44 dropped)\n");
	policy = setting_ask("policy", other->pid, NULL, "dropped:i");
	assert_int_equal(json_int(policy, "dropped"), 44);
	json_decref(policy);
	harness_free(other);
}

/* While a fiber blocks pinned, a change applies to the next wait; the current wait completes. */
static void change_while_it_blocks(const char *carriers)
{
	struct harness_process *other, *p;
	const char *text;
	unsigned other_port;
	char body[128];
	int blocked, fd;

	other = http_start(NULL, "--carriers", carriers, &other_port);
	text = cli_number((uint64_t)other->pid);
	blocked = http_connect(other_port);
	http_send(blocked, "GET /block?ms=1500 HTTP/1.1\r\nHost: localhost\r\n\r\n");
	do {
		p = cli_run("fiberctl", "policy", text, NULL);
		cli_expect(p, 0);
		fd = strstr(p->out.bytes, "(1 event ") != NULL;
		harness_free(p);
	} while (!fd);
	setting_says("policy", other->pid, "error", "pinned blocking: error, was warn");
	fd = http_connect(other_port);
	assert_int_equal(refuse(fd), 503);
	close(fd);
	assert_int_equal(http_answer(blocked, body, sizeof(body)), 200);
	close(blocked);
	harness_free(other);
}

static void test_policy_changes_while_fibers_wait_pinned(void **state)
{
	(void)state;
	change_while_it_blocks("1");
	change_while_it_blocks("2");
	change_while_it_blocks("4");
}

static void test_policy_text_shows_old_and_new(void **state)
{
	(void)state;
	setting_says("policy", server->pid, NULL, "pinned blocking: warn (");
	setting_says("policy", server->pid, "error", "pinned blocking: error, was warn (");
	ask("warn", "warn", "error");
}

static void test_policy_that_does_not_exist_is_a_usage_error(void **state)
{
	(void)state;
	cli_expect_error(cli_run("fiberctl", "policy", pid, "loud", NULL), 64, "fiberctl", "loud");
	ask(NULL, "warn", "");
}

static struct harness_process *start_server(const struct harness_how *how)
{
	unsigned other_port;

	return http_start(how, NULL, NULL, &other_port);
}

static void test_policy_is_not_changed_where_control_is_read_only(void **state)
{
	(void)state;
	setting_refused_read_only("policy", "error", "pinned blocking: warn (", start_server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_is_read_changed_and_read_back),
		cmocka_unit_test(test_policy_holds_from_the_next_wait_on),
		cmocka_unit_test(test_policy_counts_the_events_under_every_policy),
		cmocka_unit_test(test_policy_says_how_many_events_the_ring_dropped),
		cmocka_unit_test(test_policy_changes_while_fibers_wait_pinned),
		cmocka_unit_test(test_policy_text_shows_old_and_new),
		cmocka_unit_test(test_policy_that_does_not_exist_is_a_usage_error),
		cmocka_unit_test(test_policy_is_not_changed_where_control_is_read_only),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, one_server, one_server_end);
}
