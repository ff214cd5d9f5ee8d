/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_identity.c - a program is shown as the process that listens at its socket
 *
 * The name of a socket and its answers are compared with the kernel's data.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/listener.h"
#include "tests/harness/cli/own_sockets.h"
#include "tests/harness/cli/prom.h"
#include "tests/harness/watchdog.h"

static void test_program_of_another_user_is_not_shown_as_the_process_it_is_named_for(void **state)
{
	char series[64], said[160];
	struct crowd victim, liar;
	struct harness_process *p;
	unsigned n;

	(void)state;
	own_need();
	victim = crowd_start(&own_how, "crowd", "33", NULL);
	own_folder(OWN_FOLDER, OWN_USER);
	liar = own_start_as(OWN_USER, "/tmp/sshd", own_path(OWN_FOLDER, victim.process->pid));
	snprintf(said, sizeof(said),
		 "%s: left out: process %d \"sshd\" (uid %d) listens there, and "
		 "not process %d\n",
		 own_path(OWN_FOLDER, victim.process->pid), liar.process->pid, OWN_USER,
		 victim.process->pid);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, victim.process->pid), 1);
	assert_null(strstr(p->out.bytes, "sshd"));
	cli_contains(p->err.bytes, said);
	harness_free(p);
	p = own_tool("metrics", NULL, NULL);
	cli_expect(p, 0);
	prom_check(p->out.bytes);
	snprintf(series, sizeof(series), "pid=\"%d\"", victim.process->pid);
	prom_sum(p->out.bytes, "libfiber_up", series, &n);
	assert_int_equal(n, 1);
	assert_null(strstr(p->out.bytes, "sshd"));
	harness_free(p);
	/* Each is found by its id. */
	own_expect(own_tool("list", cli_number((uint64_t)victim.process->pid), NULL), 0,
		   "of 33 fibers", "");
	own_expect(own_tool("list", cli_number((uint64_t)liar.process->pid), NULL), 0,
		   "of 5 fibers", "");
	own_expect(own_tool("policy", cli_number((uint64_t)liar.process->pid), "--json"), 0,
		   cli_number((uint64_t)liar.process->pid), "");
	crowd_end(&liar);
	crowd_end(&victim);
}

static void test_process_without_a_socket_is_not_what_another_user_names_for_it(void **state)
{
	struct crowd liar;
	char said[160];

	(void)state;
	own_need();
	own_folder(OWN_FOLDER, OWN_USER);
	liar = own_start_as(OWN_USER, "/tmp/sshd", own_path(OWN_FOLDER, getpid()));
	snprintf(said, sizeof(said),
		 "process %d: has no control socket: process %d (uid %d) listens "
		 "at %s",
		 getpid(), liar.process->pid, OWN_USER, own_path(OWN_FOLDER, getpid()));
	own_expect(own_tool("list", cli_number((uint64_t)getpid()), NULL), 2, "", said);
	crowd_end(&liar);
}

static void test_program_of_another_user_that_is_what_it_says_is_shown(void **state)
{
	struct harness_process *p;
	struct crowd crowd;

	(void)state;
	own_need();
	own_folder(OWN_FOLDER, OWN_USER);
	crowd = own_start_as(OWN_USER, "/tmp/honest", NULL);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, crowd.process->pid), 1);
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
	p = own_tool("--json", NULL, NULL);
	cli_contains(p->out.bytes, "\"uid\":1234");
	cli_contains(p->out.bytes, own_path(OWN_FOLDER, crowd.process->pid));
	harness_free(p);
	own_expect(own_tool("list", "honest", NULL), 0, "of 5 fibers", "");
	crowd_end(&crowd);
}

/*
 * Start a listener whose socket in OWN_FOLDER is named after its own pid. The pid is only known
 * after the start.
 */
static pid_t start_named(struct listener_how how)
{
	static const char path[] = OWN_FOLDER "/early.sock";
	pid_t pid;

	own_need();
	own_folder(OWN_FOLDER, OWN_USER);
	how.path = path;
	pid = listener_start(&how);
	assert_int_equal(rename(path, own_path(OWN_FOLDER, pid)), 0);
	return pid;
}

static void test_answer_of_another_user_that_names_another_process_is_left_out(void **state)
{
	const struct listener_how how = {.user = OWN_USER, .claims = getpid()};
	struct harness_process *p;
	char said[128];
	pid_t pid;

	(void)state;
	pid = start_named(how);
	snprintf(said, sizeof(said),
		 "process %d \"liar\" (uid %d) listens there, and answers that it is "
		 "process %d\n",
		 pid, OWN_USER, getpid());
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "sshd"));
	assert_int_equal(own_lines_of(p, getpid()) + own_lines_of(p, pid), 0);
	cli_contains(p->err.bytes, said);
	harness_free(p);
	p = own_tool("metrics", NULL, NULL);
	cli_expect(p, 0);
	assert_null(strstr(p->out.bytes, "sshd"));
	cli_contains(p->err.bytes, said);
	harness_free(p);
	own_expect(own_tool("list", "sshd", NULL), 2, "", "no process of that name");
	/* Asked by its id, it is shown under that id. */
	own_expect(own_tool("policy", cli_number((uint64_t)pid), NULL), 2, "", "");
	listener_end();
}

static void test_listener_that_became_another_user_is_left_out(void **state)
{
	const struct listener_how how = {.user = OWN_USER, .back = true};
	pid_t pid;

	(void)state;
	pid = start_named(how);
	own_expect(own_tool(NULL, NULL, NULL), 0, "", ", and runs as another user now\n");
	own_expect(own_tool("list", cli_number((uint64_t)pid), NULL), 2, "",
		   cli_number((uint64_t)pid));
	listener_end();
}

static void test_socket_that_a_child_of_a_dead_process_holds_is_left_out(void **state)
{
	const struct listener_how how = {.user = OWN_USER, .heir = true};
	struct harness_process *p;
	pid_t pid;

	(void)state;
	pid = start_named(how);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, pid), 0);
	cli_contains(p->err.bytes,
		     "left out: the process that made it has ended, and another one holds it");
	harness_free(p);
	own_expect(own_tool("list", cli_number((uint64_t)pid), NULL), 2, "", "no such process");
	listener_end();
}

static void test_link_into_the_folder_of_another_user_leads_nowhere(void **state)
{
	struct crowd own;
	struct harness_process *p;

	(void)state;
	own_need();
	own = crowd_start(&own_how, "crowd", "7", NULL);
	own_folder(OWN_FOLDER, OWN_USER);
	assert_int_equal(link(own_path("/tmp/fiber-0", own.process->pid), OWN_FOLDER "/77.sock"),
			 0);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, own.process->pid), 1);
	cli_contains(p->err.bytes, OWN_FOLDER "/77.sock: left out: process ");
	cli_contains(p->err.bytes, "and the folder belongs to uid 1234");
	harness_free(p);
	assert_int_equal(unlink(OWN_FOLDER "/77.sock"), 0);
	crowd_end(&own);
}

/* Fill the listener's queue: for further connections the kernel does not report who listens. */
static void fill_queue(const char *path, int fd[64])
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	strcpy(at.sun_path, path);
	for (int i = 0; i < 64; i++) {
		fd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)connect(fd[i], (struct sockaddr *)&at, sizeof(at));
	}
}

static void test_stopped_program_with_a_full_queue_is_shown_if_it_is_its_users(void **state)
{
	const struct listener_how how = {
		.user = OWN_USER, .heir = true, .path = OWN_FOLDER "/1.sock"};
	struct harness_process *p;
	struct crowd crowd;
	int fd[2][64];
	char said[96];

	(void)state;
	own_need();
	own_folder(OWN_FOLDER, OWN_USER);
	crowd = crowd_start(&own_how, "crowd", "5", NULL);
	kill(crowd.process->pid, SIGSTOP);
	assert_true(harness_until(cli_stopped, &crowd.process->pid, CLI_SECONDS));
	fill_queue(own_path("/tmp/fiber-0", crowd.process->pid), fd[0]);
	/* Another user's listener, with the pid of a process of root in its name. */
	listener_start(&how);
	fill_queue(how.path, fd[1]);
	p = own_tool(NULL, NULL, NULL);
	snprintf(said, sizeof(said), "incomplete: process %d: no answer", crowd.process->pid);
	cli_contains(p->err.bytes, how.path);
	cli_contains(p->err.bytes, "its queue of connections is full");
	own_expect(p, 1, said, "");
	for (int i = 0; i < 128; i++)
		close(fd[i / 64][i % 64]);
	listener_end();
	assert_int_equal(unlink(how.path), 0);
	crowd_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_program_of_another_user_is_not_shown_as_the_process_it_is_named_for),
		cmocka_unit_test(
			test_process_without_a_socket_is_not_what_another_user_names_for_it),
		cmocka_unit_test(test_program_of_another_user_that_is_what_it_says_is_shown),
		cmocka_unit_test(
			test_answer_of_another_user_that_names_another_process_is_left_out),
		cmocka_unit_test(test_listener_that_became_another_user_is_left_out),
		cmocka_unit_test(test_socket_that_a_child_of_a_dead_process_holds_is_left_out),
		cmocka_unit_test(test_link_into_the_folder_of_another_user_leads_nowhere),
		cmocka_unit_test(
			test_stopped_program_with_a_full_queue_is_shown_if_it_is_its_users),
	};

	own_tmp();
	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
