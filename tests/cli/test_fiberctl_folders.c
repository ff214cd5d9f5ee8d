/* SPDX-License-Identifier: MIT */
/* test_fiberctl_folders.c - thousands of folders with control sockets do not hide a program */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/own_sockets.h"
#include "tests/harness/watchdog.h"

#define CROWD 2000

static const char *folder_of(uid_t user)
{
	static char path[64];

	snprintf(path, sizeof(path), "/tmp/fiber-%u", user);
	return path;
}

/* Folders of 2,000 user ids, each with a socket. */
static void make_folders(uid_t first, uid_t owner)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	for (uid_t user = first; user < first + CROWD; user++) {
		const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		own_folder(folder_of(user), owner ? owner : user);
		snprintf(at.sun_path, sizeof(at.sun_path), "%s/1.sock", folder_of(user));
		assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
		assert_int_equal(chown(at.sun_path, owner ? owner : user, 0), 0);
		close(fd);
	}
}

static void remove_folders(uid_t first)
{
	char path[96];

	for (uid_t user = first; user < first + CROWD; user++) {
		snprintf(path, sizeof(path), "%s/1.sock", folder_of(user));
		assert_int_equal(unlink(path), 0);
		assert_int_equal(rmdir(folder_of(user)), 0);
	}
}

static void test_thousands_of_folders_leave_out_only_the_last_users(void **state)
{
	struct crowd early, late, own;
	struct harness_process *p;

	(void)state;
	own_need();
	own_folder(OWN_FOLDER, OWN_USER);
	early = own_start_as(OWN_USER, "/tmp/early", NULL);
	own = crowd_start(&own_how, "crowd", "7", NULL);
	make_folders(3000, 0);
	/* A program of a user whose number is greater than all of those, and which is the last in
	 * the order. */
	own_folder("/tmp/fiber-60000", 60000);
	late = own_start_as(60000, "/tmp/late", NULL);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 1);
	assert_int_equal(own_lines_of(p, own.process->pid), 1);
	assert_int_equal(own_lines_of(p, early.process->pid), 1);
	assert_int_equal(own_lines_of(p, late.process->pid), 0);
	assert_int_equal(own_lines(p->err.bytes), 1);
	cli_contains(p->err.bytes,
		     "fiberctl: left out: 1,746 folders and 0 sockets of other users: name "
		     "a process by its id");
	harness_free(p);
	p = own_tool("--json", NULL, NULL);
	cli_expect(p, 1);
	cli_contains(p->out.bytes, "\"complete\":false");
	cli_contains(p->out.bytes, "1,746 folders");
	harness_free(p);
	own_expect(own_tool("metrics", NULL, NULL), 1, "libfiber_up", "1,746 folders");
	/* A process id is searched in every folder. */
	own_expect(own_tool("list", cli_number((uint64_t)late.process->pid), NULL), 0,
		   "of 5 fibers", "");
	crowd_end(&late);
	crowd_end(&own);
	crowd_end(&early);
	remove_folders(3000);
}

static void test_thousands_of_folders_that_are_not_trusted_hide_no_process(void **state)
{
	struct harness_process *p;
	struct crowd late;

	(void)state;
	own_need();
	make_folders(3000, 77);
	own_folder("/tmp/fiber-60000", 60000);
	late = own_start_as(60000, "/tmp/late", NULL);
	p = own_tool(NULL, NULL, NULL);
	cli_expect(p, 0);
	assert_int_equal(own_lines_of(p, late.process->pid), 1);
	assert_int_equal(own_lines(p->err.bytes), 1);
	cli_contains(p->err.bytes, "fiberctl: /tmp/fiber-3000: passed over: ");
	cli_contains(p->err.bytes, "; and 1,999 more like it\n");
	harness_free(p);
	crowd_end(&late);
	remove_folders(3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thousands_of_folders_leave_out_only_the_last_users),
		cmocka_unit_test(test_thousands_of_folders_that_are_not_trusted_hide_no_process),
	};

	own_tmp();
	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
