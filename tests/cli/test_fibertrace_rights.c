/* SPDX-License-Identifier: MIT */
/*
 * test_fibertrace_rights.c - an unreadable process: the message names the missing right and a
 * working remedy
 *
 * The kernel itself refuses; nothing is simulated. Each time the tool is refused, and then run as
 * its message says.
 */
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tests/harness/cli/one_program.h"
#include "tests/harness/watchdog.h"

#define ASK "; or ask it itself, which takes no such right: 'fiberctl bt %d'"
#define SECRET                                                                               \
	"is not dumpable (set-user-ID, file capabilities, a file that is not to be read, a " \
	"change of its user, or "                                                            \
	"PR_SET_DUMPABLE)"

static const struct place root = {0}, user = {.user = PLACE_USER}, other = {.user = PLACE_OTHER};

/*
 * A program with file capabilities ignores the test's XDG_RUNTIME_DIR: remove its socket in /tmp.
 */
static void end_without_trace(uid_t owner)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/fiber-%u/%d.sock", owner, program->pid);
	end(NULL);
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
}

static struct harness_process *trace(const struct place *place)
{
	return place_run(place, "fibertrace", cli_number((uint64_t)program->pid), NULL);
}

/* Assert that fibertrace shows all fibers of the program. */
static void reads(const struct place *place)
{
	struct harness_process *p = trace(place);

	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fibers");
	harness_free(p);
}

/* Assert that fiberctl gets an answer from the program. Code 1: a running fiber has no frames. */
static void answers_with(const struct place *place, int code)
{
	struct harness_process *p = place_run(place, "fiberctl", "bt",
					      cli_number((uint64_t)program->pid), "--all", NULL);

	cli_expect(p, code);
	cli_contains(p->out.bytes, "fiber_park");
	assert_string_equal(p->err.bytes, "");
	harness_free(p);
}

static void answers(const struct place *place)
{
	answers_with(place, 0);
}

static const char *user_name(uid_t uid)
{
	const struct passwd *pw = getpwuid(uid);

	return pw ? pw->pw_name : "another user";
}

static const char *group_name(gid_t gid)
{
	const struct group *group = getgrgid(gid);

	return group ? group->gr_name : "another group";
}

static void test_another_users_process_is_read_as_that_user_or_by_root(void **state)
{
	(void)state;
	start(&user, "crowd", "110");
	place_refused(
		trace(&other), "fibertrace",
		"process %d: belongs to %s (uid 65534) and you are uid 65533: run this as that "
		"user (sudo -u %s fibertrace ...) or with CAP_SYS_PTRACE (sudo)",
		program->pid, user_name(PLACE_USER), user_name(PLACE_USER));
	reads(&user);
	reads(&root);
}

static void test_another_users_process_answers_its_user_and_root(void **state)
{
	(void)state;
	start(&user, "crowd", "110");
	place_refused(place_run(&other, "fiberctl", "bt", pid, "--all", NULL), "fiberctl",
		      "process %d: permission denied: it belongs to %s (uid 65534) and you are uid "
		      "65533: run this as that user (sudo -u %s fiberctl ...) or as root",
		      program->pid, user_name(PLACE_USER), user_name(PLACE_USER));
	answers(&user);
	answers(&root);
}

/* fiberctl asks the program in all commands but those with --module, which reads its memory. */
static void test_fiberctl_names_the_right_that_module_needs(void **state)
{
	struct harness_process *p;

	(void)state;
	start(&user, "crowd", "110");
	place_refused(
		place_run(&other, "fiberctl", "list", pid, "--module", "crowd", NULL), "fiberctl",
		"process %d: belongs to %s (uid 65534) and you are uid 65533: run this as that "
		"user (sudo -u %s fiberctl ...) or with CAP_SYS_PTRACE (sudo)",
		program->pid, user_name(PLACE_USER), user_name(PLACE_USER));
	p = place_run(&user, "fiberctl", "list", pid, "--module", "crowd", NULL);
	cli_expect(p, 0);
	cli_contains(p->out.bytes, "fibers, sampled over ");
	harness_free(p);
	end(NULL);
	start(&user, "stuck", "secret");
	place_refused(place_run(&user, "fiberctl", "list", pid, "--module", "stuck", NULL),
		      "fiberctl", "process %d: " SECRET ": needs CAP_SYS_PTRACE (sudo)",
		      program->pid);
}

static void test_root_without_the_capability_is_told_where_it_comes_from(void **state)
{
	const struct place less = {.less = true};

	(void)state;
	start(&user, "crowd", "110");
	place_refused(
		trace(&less), "fibertrace",
		"process %d: belongs to %s (uid 65534) and you are uid 0: run this as that user "
		"(sudo -u %s fibertrace ...) or with CAP_SYS_PTRACE, which no process of this "
		"container has: look from outside, or start it with --cap-add=SYS_PTRACE" ASK,
		program->pid, user_name(PLACE_USER), user_name(PLACE_USER), program->pid);
	answers(&less);
	reads(&user);
	reads(&root);
}

static void test_root_that_has_less_than_the_program_is_told_what(void **state)
{
	const struct place less = {.less = true};

	(void)state;
	start(&root, "crowd", "110");
	place_refused(
		trace(&less), "fibertrace",
		"process %d: has capabilities that you have not (sys_ptrace): needs "
		"CAP_SYS_PTRACE, which no process of this container has: look from outside, or "
		"start it with --cap-add=SYS_PTRACE" ASK,
		program->pid, program->pid);
	answers(&less);
}

static void test_where_sudo_gives_nothing_it_is_not_advised(void **state)
{
	const struct place shut = {.user = PLACE_OTHER, .never_more = true};

	(void)state;
	start(&user, "crowd", "110");
	place_refused(
		trace(&shut), "fibertrace",
		"process %d: belongs to %s (uid 65534) and you are uid 65533: run this as that "
		"user or with CAP_SYS_PTRACE, which sudo cannot give here (no_new_privs): look "
		"from another shell",
		program->pid, user_name(PLACE_USER));
}

static void test_a_process_of_the_same_user_in_another_group_is_read_in_that_group(void **state)
{
	const struct place in_group = {.user = PLACE_USER, .group = PLACE_OTHER};

	(void)state;
	start(&in_group, "crowd", "110");
	place_refused(
		trace(&user), "fibertrace",
		"process %d: belongs to %s (gid 65533) and you are gid 65534: run this in that "
		"group (sg, sudo -g) or with CAP_SYS_PTRACE (sudo)" ASK,
		program->pid, group_name(PLACE_OTHER), program->pid);
	reads(&in_group);
	reads(&root);
	answers(&user);
}

static void test_a_process_that_is_not_dumpable_answers_its_user(void **state)
{
	(void)state;
	start(&user, "stuck", "secret");
	place_refused(trace(&user), "fibertrace",
		      "process %d: " SECRET ": needs CAP_SYS_PTRACE (sudo)" ASK, program->pid,
		      program->pid);
	reads(&root);
	answers_with(&user, 1);
}

static void test_a_set_user_id_program_is_of_two_users(void **state)
{
	const char *const path = place_file("crowd");
	struct harness_process *p;

	(void)state;
	place_need(&user);
	p = harness_run((const char *[]){"install", "-m4755", "-o65533", place_program("crowd"),
					 path, NULL},
			NULL, CLI_SECONDS);
	cli_ended(p, 0);
	start(&user, path, "110");
	place_refused(trace(&user), "fibertrace",
		      "process %d: runs as several users at once (uid 65534, 65533, 65533): needs "
		      "CAP_SYS_PTRACE (sudo)",
		      program->pid);
	reads(&root);
	end_without_trace(PLACE_OTHER);
}

static void test_a_program_with_file_capabilities_is_not_dumpable(void **state)
{
	const struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data = {{.permitted = 1u << CAP_NET_BIND_SERVICE}},
	};
	const char *const path = place_file("crowd-file");
	struct harness_process *p;

	(void)state;
	place_need(&user);
	p = harness_run((const char *[]){"install", "-m755", place_program("crowd"), path, NULL},
			NULL, CLI_SECONDS);
	cli_ended(p, 0);
	if (setxattr(path, "security.capability", &data, XATTR_CAPS_SZ_2, 0))
		cli_skip("the file system of the test's folder keeps no capabilities");
	start(&user, path, "110");
	place_refused(trace(&user), "fibertrace",
		      "process %d: " SECRET ": needs CAP_SYS_PTRACE (sudo)" ASK, program->pid,
		      program->pid);
	reads(&root);
	end_without_trace(PLACE_USER);
}

/* A user who may execute a file but not read it may not read the process' memory either. */
static void test_a_program_whose_file_is_not_to_be_read_is_not_dumpable(void **state)
{
	(void)state;
	place_need(&user);
	start(&user, place_closed(), "110");
	place_refused(trace(&user), "fibertrace",
		      "process %d: " SECRET ": needs CAP_SYS_PTRACE (sudo)" ASK, program->pid,
		      program->pid);
	reads(&root);
}

static void test_capabilities_that_the_program_has_alone_are_named(void **state)
{
	const struct place able = {.user = PLACE_USER, .capability = CAP_NET_BIND_SERVICE};

	(void)state;
	start(&able, "crowd", "110");
	place_refused(trace(&user), "fibertrace",
		      "process %d: has capabilities that you have not (net_bind_service): needs "
		      "CAP_SYS_PTRACE (sudo)" ASK,
		      program->pid, program->pid);
	reads(&able);
	reads(&root);
	answers(&user);
}

static void test_a_process_in_a_container_is_read_by_root_or_inside(void **state)
{
	const struct place container = {.user = PLACE_USER, .container = true};
	struct place inside = {.user = PLACE_USER};

	(void)state;
	start(&container, "crowd", "110");
	place_refused(trace(&user), "fibertrace",
		      "process %d: runs in another user namespace (a container) than you: run this "
		      "as root of the host, or inside of that container" ASK,
		      program->pid, program->pid);
	reads(&root);
	inside.inside = program->pid;
	reads(&inside);
	answers(&user);
}

static void test_capabilities_of_a_container_do_not_count_outside(void **state)
{
	const struct place container = {.user = PLACE_OTHER, .container = true};

	(void)state;
	place_need(&container);
	start(&user, "crowd", "110");
	place_refused(
		trace(&container), "fibertrace",
		"process %d: runs in another user namespace (a container) than you, where your "
		"CAP_SYS_PTRACE does not count: run this as root of the host, or inside of that "
		"container",
		program->pid);
	reads(&root);
}

static void test_a_process_that_proc_hides_is_not_said_to_be_gone(void **state)
{
	const struct place hidden = {.user = PLACE_OTHER, .hides = true},
			   own = {.user = PLACE_USER, .hides = true};
	const char *const text =
		"process %d: /proc hides it (hidepid): it is another user's, or may "
		"not be traced: run this as its user or as root (sudo)";

	(void)state;
	place_need(&hidden);
	start(&user, "crowd", "110");
	place_refused(trace(&hidden), "fibertrace", text, program->pid);
	place_refused(place_run(&hidden, "fiberctl", "list", pid, NULL), "fiberctl", text,
		      program->pid);
	place_refused(place_run(&hidden, "fibertrace", "record", pid, "-o", "x.fbr", NULL),
		      "fibertrace", text, program->pid);
	reads(&own);
	reads(&root);
}

#define CASE(name) cmocka_unit_test_teardown(name, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_another_users_process_is_read_as_that_user_or_by_root),
		CASE(test_another_users_process_answers_its_user_and_root),
		CASE(test_fiberctl_names_the_right_that_module_needs),
		CASE(test_root_without_the_capability_is_told_where_it_comes_from),
		CASE(test_root_that_has_less_than_the_program_is_told_what),
		CASE(test_where_sudo_gives_nothing_it_is_not_advised),
		CASE(test_a_process_of_the_same_user_in_another_group_is_read_in_that_group),
		CASE(test_a_process_that_is_not_dumpable_answers_its_user),
		CASE(test_a_set_user_id_program_is_of_two_users),
		CASE(test_a_program_with_file_capabilities_is_not_dumpable),
		CASE(test_a_program_whose_file_is_not_to_be_read_is_not_dumpable),
		CASE(test_capabilities_that_the_program_has_alone_are_named),
		CASE(test_a_process_in_a_container_is_read_by_root_or_inside),
		CASE(test_capabilities_of_a_container_do_not_count_outside),
		CASE(test_a_process_that_proc_hides_is_not_said_to_be_gone),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, place_begin, NULL);
}
