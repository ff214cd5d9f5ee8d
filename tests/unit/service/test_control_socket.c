/* SPDX-License-Identifier: MIT */
/* test_control_socket.c - the socket's file is made safely, and removed only if it is ours */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "hear.h"
#include "service/control_socket.h"
#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"

static struct fib_socket_path place;
static struct fib_control_socket door;
static struct hearing heard;

/* A new empty parent folder for each test; place is what a program would choose in it. */
static int setup(void **state)
{
	static char parent[HARNESS_PATH];
	static int count;
	char name[16];

	(void)state;
	snprintf(name, sizeof name, "t%d", count++);
	harness_file(parent, name);
	if (mkdir(parent, 0700) < 0)
		return -1;
	setenv("XDG_RUNTIME_DIR", parent, 1);
	unsetenv("FIBER_CONTROL");
	unsetenv("FIBER_CONTROL_PATH");
	return fib_socket_path_choose(&place, NULL, getpid());
}

static int open_heard(void)
{
	int rc;

	hear_begin(&heard);
	rc = fib_control_socket_open(&door, &place);
	hear_end(&heard);
	return rc;
}

static void bind_at(const char *path, int *ret_fd)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	*ret_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*ret_fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(*ret_fd, 1), 0);
}

/* The id of a process that has ended. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void test_door_makes_private_folder_and_socket(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(open_heard(), 0);
	assert_string_equal(heard.text, "");
	assert_int_equal(stat(place.folder, &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(stat(place.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	assert_int_equal(access(place.draft, F_OK), -1);
	fib_control_socket_close(&door);
	assert_int_equal(access(place.path, F_OK), -1);
	assert_int_equal(door.fd, -1);
}

static void test_door_refuses_a_folder_that_is_a_link(void **state)
{
	(void)state;
	assert_int_equal(symlink("/tmp", place.folder), 0);
	assert_int_equal(open_heard(), -ENOTDIR);
	assert_true(said(heard.text, "is not a directory but a link or a file: remove it"));
	assert_int_equal(door.fd, -1);
}

/* A folder that the same user made earlier is as good as a new one. */
static void test_door_takes_a_folder_that_is_there_and_private(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	assert_int_equal(open_heard(), 0);
	assert_string_equal(heard.text, "");
	assert_int_equal(stat(place.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	fib_control_socket_close(&door);
}

/*
 * A symbolic link is in the place of the socket or its draft; an attacker wants its target
 * overwritten.
 */
static void test_door_follows_no_link_in_its_folder(void **state)
{
	char target[HARNESS_PATH];
	struct stat st;
	int fd;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	harness_file(target, "precious");
	fd = open(target, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(target, place.path), 0);
	assert_int_equal(open_heard(), -EEXIST);
	assert_true(said(heard.text, "exists and is not a socket: remove it"));
	assert_int_equal(unlink(place.path), 0);
	assert_int_equal(symlink(target, place.draft), 0);
	assert_true(open_heard() < 0);
	assert_true(said(heard.text, place.draft));
	assert_int_equal(door.fd, -1);
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(unlink(target), 0);
}

static void test_door_refuses_a_folder_open_to_others(void **state)
{
	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	assert_int_equal(chmod(place.folder, 0750), 0);
	assert_int_equal(open_heard(), -EPERM);
	assert_true(said(heard.text, "is open to other users: chmod 700 it"));
}

static void test_door_refuses_a_folder_of_another_user(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdir(place.folder, 0700), 0);
	assert_int_equal(chown(place.folder, 65534, 65534), 0);
	assert_int_equal(open_heard(), -EPERM);
	assert_true(said(heard.text, "belongs to another user"));
}

static void test_door_removes_sockets_of_dead_processes_only(void **state)
{
	char dead[HARNESS_PATH], alive[HARNESS_PATH], other[HARNESS_PATH], far[HARNESS_PATH];
	int fd, listening;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	snprintf(dead, sizeof dead, "%s/%d.sock", place.folder, (int)dead_pid());
	bind_at(dead, &fd);
	close(fd);
	/* There is a listener but no visible process with that number: another pid namespace. */
	snprintf(far, sizeof far, "%s/%d.sock", place.folder, (int)dead_pid());
	bind_at(far, &listening);
	/* The socket has no mark of its maker: the process with that id may have made it. */
	snprintf(alive, sizeof alive, "%s/%d.sock", place.folder, (int)getppid());
	bind_at(alive, &fd);
	close(fd);
	snprintf(other, sizeof other, "%s/notes.sock", place.folder);
	bind_at(other, &fd);
	close(fd);
	assert_int_equal(open_heard(), 0);
	assert_int_equal(access(dead, F_OK), -1);
	assert_int_equal(access(far, F_OK), 0);
	assert_int_equal(access(alive, F_OK), 0);
	assert_int_equal(access(other, F_OK), 0);
	close(listening);
	fib_control_socket_close(&door);
}

/* A process that only sleeps. */
static pid_t sleeper(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	assert_true(pid > 0);
	return pid;
}

static void end_sleeper(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/*
 * A container's process has ended. On a machine that shares the folder another process has the same
 * id.
 */
static void test_door_removes_the_socket_of_another_process_with_the_id_of_a_living_one(
	void **state)
{
	char foreign[HARNESS_PATH], far[HARNESS_PATH], own[HARNESS_PATH];
	struct timespec times[2] = {{0, UTIME_OMIT}, {time(NULL), fib_wire_mark(7)}};
	const pid_t first = sleeper(), second = sleeper();
	int fd, listening;
	uint64_t started;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	snprintf(foreign, sizeof foreign, "%s/%d.sock", place.folder, (int)first);
	bind_at(foreign, &fd);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, foreign, times, 0), 0);
	snprintf(far, sizeof far, "%s/%d.sock", place.folder, (int)second);
	bind_at(far, &listening);
	assert_int_equal(utimensat(AT_FDCWD, far, times, 0), 0);
	assert_int_equal(open_heard(), 0);
	assert_int_equal(access(foreign, F_OK), -1);
	assert_int_equal(access(far, F_OK), 0);
	close(listening);
	fib_control_socket_close(&door);
	/* A connection to a socket made by the process with that id is not even tried. */
	assert_int_equal(fib_os_started(first, &started), 0);
	times[1].tv_nsec = fib_wire_mark(started);
	snprintf(own, sizeof own, "%s", foreign);
	bind_at(own, &fd);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, own, times, 0), 0);
	assert_int_equal(open_heard(), 0);
	assert_int_equal(access(own, F_OK), 0);
	fib_control_socket_close(&door);
	end_sleeper(first);
	end_sleeper(second);
}

/* Between bind() and listen() a connection to a draft is refused although its program is
 * starting. */
static void test_door_removes_drafts_only_when_they_are_old(void **state)
{
	const struct timespec old[2] = {{time(NULL) - 3600, 0}, {time(NULL) - 3600, 0}};
	char fresh[HARNESS_PATH], stale[HARNESS_PATH];
	int fd;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	snprintf(fresh, sizeof fresh, "%s/.%d", place.folder, (int)dead_pid());
	bind_at(fresh, &fd);
	close(fd);
	snprintf(stale, sizeof stale, "%s/.%d", place.folder, (int)dead_pid());
	bind_at(stale, &fd);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, stale, old, 0), 0);
	assert_int_equal(open_heard(), 0);
	assert_int_equal(access(fresh, F_OK), 0);
	assert_int_equal(access(stale, F_OK), -1);
	fib_control_socket_close(&door);
}

static void test_door_marks_the_socket_with_the_start_of_its_process(void **state)
{
	struct fib_os_entry entry;
	uint64_t started;

	(void)state;
	assert_int_equal(open_heard(), 0);
	assert_int_equal(fib_os_look(place.path, &entry), 0);
	assert_true(fib_wire_marked(entry.modified));
	assert_in_range(entry.age, 0, 60);
	assert_int_equal(fib_os_started(getpid(), &started), 0);
	assert_int_equal(entry.modified, fib_wire_mark(started));
	fib_control_socket_close(&door);
}

static void test_door_replaces_what_an_earlier_process_of_our_number_left(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	bind_at(place.path, &fd);
	close(fd);
	bind_at(place.draft, &fd);
	close(fd);
	assert_int_equal(open_heard(), 0);
	fib_control_socket_close(&door);
}

/* A plugin has a copy of the library, beside the program's own copy. */
static void test_door_says_when_the_listener_is_in_this_process(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	bind_at(place.path, &fd);
	assert_int_equal(open_heard(), -EADDRINUSE);
	assert_true(said(heard.text, "another copy of libfiber in this process"));
	assert_int_equal(access(place.path, F_OK), 0);
	close(fd);
}

static void test_door_does_not_take_over_a_socket_in_use(void **state)
{
	int ready[2], fd, rc;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		bind_at(place.path, &fd);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	rc = open_heard();
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(rc, -EADDRINUSE);
	assert_true(said(heard.text, "another process listens there"));
	assert_int_equal(access(place.path, F_OK), 0);
}

static void test_door_does_not_overwrite_a_file(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(mkdir(place.folder, 0700), 0);
	fd = open(place.path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_heard(), -EEXIST);
	assert_true(said(heard.text, "exists and is not a socket: remove it"));
	assert_int_equal(access(place.path, F_OK), 0);
}

static void test_door_close_leaves_a_file_that_is_not_the_one_it_made(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(open_heard(), 0);
	assert_int_equal(unlink(place.path), 0);
	bind_at(place.path, &fd);
	fib_control_socket_close(&door);
	assert_int_equal(access(place.path, F_OK), 0);
	close(fd);
}

static void test_door_says_when_the_folder_cannot_be_made(void **state)
{
	(void)state;
	setenv("FIBER_CONTROL_PATH", "/proc/no/such/folder/x.sock", 1);
	assert_int_equal(fib_socket_path_choose(&place, NULL, getpid()), 0);
	assert_int_equal(open_heard(), -ENOENT);
	assert_true(said(heard.text, "No such file or directory; going on without"));
}

/* A connection is accepted with the peer's identity. A socket that was shut reports why, refuses
 * connections and removes its file. */
static void test_door_that_is_shut_says_so_and_removes_its_file(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct fib_os_who who = {0};
	int fd, got;

	(void)state;
	assert_int_equal(open_heard(), 0);
	assert_int_equal(fib_control_socket_accept(&door, &who), -EAGAIN);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", place.path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
	got = fib_control_socket_accept(&door, &who);
	assert_true(got >= 0);
	assert_int_equal(who.pid, getpid());
	assert_int_equal(who.uid, geteuid());
	close(got);
	close(fd);
	hear_begin(&heard);
	fib_control_socket_shut(&door, "accept4");
	fib_control_socket_shut(&door, "accept4");
	assert_true(said(hear_end(&heard), "sandbox refuses accept4"));
	assert_int_equal(door.fd, -1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), -1);
	assert_int_equal(errno, ECONNREFUSED);
	close(fd);
	assert_int_equal(access(place.path, F_OK), 0);
	fib_control_socket_close(&door);
	assert_int_equal(access(place.path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_door_makes_private_folder_and_socket, setup),
		cmocka_unit_test_setup(test_door_that_is_shut_says_so_and_removes_its_file, setup),
		cmocka_unit_test_setup(test_door_refuses_a_folder_that_is_a_link, setup),
		cmocka_unit_test_setup(test_door_takes_a_folder_that_is_there_and_private, setup),
		cmocka_unit_test_setup(test_door_follows_no_link_in_its_folder, setup),
		cmocka_unit_test_setup(test_door_refuses_a_folder_open_to_others, setup),
		cmocka_unit_test_setup(test_door_refuses_a_folder_of_another_user, setup),
		cmocka_unit_test_setup(test_door_removes_sockets_of_dead_processes_only, setup),
		cmocka_unit_test_setup(
			test_door_removes_the_socket_of_another_process_with_the_id_of_a_living_one,
			setup),
		cmocka_unit_test_setup(test_door_removes_drafts_only_when_they_are_old, setup),
		cmocka_unit_test_setup(test_door_marks_the_socket_with_the_start_of_its_process,
				       setup),
		cmocka_unit_test_setup(
			test_door_replaces_what_an_earlier_process_of_our_number_left, setup),
		cmocka_unit_test_setup(test_door_does_not_take_over_a_socket_in_use, setup),
		cmocka_unit_test_setup(test_door_says_when_the_listener_is_in_this_process, setup),
		cmocka_unit_test_setup(test_door_does_not_overwrite_a_file, setup),
		cmocka_unit_test_setup(test_door_close_leaves_a_file_that_is_not_the_one_it_made,
				       setup),
		cmocka_unit_test_setup(test_door_says_when_the_folder_cannot_be_made, setup),
	};

	harness_watchdog(60);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
