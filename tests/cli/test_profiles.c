/* SPDX-License-Identifier: MIT */
/*
 * test_profiles.c - programs and tools under the usual profiles of system calls
 *
 * Docker refuses some calls with EPERM, and clone3 with ENOSYS, in the program and in tools that run
 * in the same container. A systemd unit with SystemCallFilter=@system-service is killed when it makes
 * a call that is not in that list; the tools are outside of the unit.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"
#include "tests/harness/forbid.h"
#include "tests/harness/watchdog.h"

#define FIBERS "100"

/* -- Docker -- */

/*
 * The calls that Docker's documentation of its default profile names as blocked, and those of
 * libfiber that the profile does not allow without CAP_SYS_PTRACE.
 */
static const unsigned docker[] = {
	SYS_acct,
	SYS_add_key,
	SYS_bpf,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_finit_module,
	SYS_get_mempolicy,
	SYS_init_module,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
	SYS_kcmp,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_lookup_dcookie,
	SYS_mbind,
	SYS_mount,
	SYS_move_pages,
	SYS_open_by_handle_at,
	SYS_perf_event_open,
	SYS_pidfd_getfd,
	SYS_pivot_root,
	SYS_process_madvise,
	SYS_quotactl,
	SYS_reboot,
	SYS_request_key,
	SYS_set_mempolicy,
	SYS_setns,
	SYS_settimeofday,
	SYS_swapoff,
	SYS_swapon,
	SYS_umount2,
	SYS_unshare,
	SYS_userfaultfd,
};

/* Before 20.10, and where the kernel is older than 4.8. */
static const unsigned old_docker[] = {SYS_epoll_pwait2, SYS_process_vm_readv, SYS_process_vm_writev,
				      SYS_ptrace};

static bool refuse(const unsigned calls[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!harness_forbid(calls[i], EPERM))
			return false;
	return true;
}

static bool enter_docker(const void *old)
{
	return harness_forbid(SYS_clone3, ENOSYS) &&
	       refuse(docker, sizeof(docker) / sizeof(docker[0])) &&
	       (!old || refuse(old_docker, sizeof(old_docker) / sizeof(old_docker[0])));
}

/* LeakSanitizer needs ptrace. */
static const char *env[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};
static const struct harness_how in_docker = {.env = env, .enter = enter_docker};
static const struct harness_how in_old_docker = {.env = env, .enter = enter_docker, .place = "old"};

/* Every fiber is found, and walked under the name that the program printed. */
static void assert_walked(const struct crowd *crowd, struct harness_process *tool)
{
	json_t *answer = json_ended(tool, 0);

	crowd_walked(crowd, answer);
	json_decref(answer);
}

static void work_in(const struct harness_how *how)
{
	struct crowd crowd = crowd_start(how, "crowd", FIBERS, NULL);
	const char *pid = cli_number((uint64_t)crowd.process->pid);

	assert_walked(&crowd, cli_run_how(how, "fiberctl", "bt", "--all", pid, "--json", NULL));
	assert_walked(&crowd, cli_run_how(how, "fibertrace", "--each", "--json", pid, NULL));
	crowd_end(&crowd);
}

static void test_docker_has_all_that_programs_and_tools_need(void **state)
{
	(void)state;
	work_in(&in_docker);
}

/* The program copies its own stacks through a pipe, and the tool reads /proc/PID/mem. */
static void test_an_old_docker_has_all_that_they_need(void **state)
{
	(void)state;
	work_in(&in_old_docker);
}

/* -- systemd -- */

#define LIST_SETS "systemd-analyze syscall-filter --no-pager 2>/dev/null"
#define SETS_SIZE (256 << 10)

/* Append the calls of a set of `systemd-analyze syscall-filter`, and of those that it refers to. */
static void add_set(const char *sets, const char *name, char *ret, size_t size)
{
	char begin[64], line[128];
	const char *at;
	int length;

	snprintf(begin, sizeof(begin), "\n%s\n", name);
	at = strstr(sets, begin);
	if (!at)
		fail_msg("systemd-analyze has no %s", name);
	for (at += strlen(begin); sscanf(at, " %127[^\n]%n", line, &length) == 1 && *at == ' ';
	     at += length + 1) {
		const size_t used = strlen(ret);

		if (line[0] == '@')
			add_set(sets, line, ret, size);
		else if (line[0] != '#')
			snprintf(ret + used, size - used, " %s", line);
	}
}

static const char *system_service(void)
{
	static char sets[SETS_SIZE], calls[16 << 10];
	FILE *from = popen(LIST_SETS, "r"); /* NOLINT(cert-env33-c) */
	size_t n;

	assert_non_null(from);
	sets[0] = '\n';
	n = fread(sets + 1, 1, sizeof(sets) - 2, from);
	sets[n + 1] = 0;
	calls[0] = 0;
	if (pclose(from) != 0)
		cli_skip("systemd-analyze is missing: make deps");
	add_set(sets, "@system-service", calls, sizeof(calls));
	return calls;
}

/* Start the program under the filter, let it work, and look at it from outside. */
static void live_as_a_service(const char *poller)
{
	char setting[64];
	const char *with[] = {setting, "FIBER_CONTROL=admin", NULL};
	const struct harness_how how = {.env = with};
	struct harness_process *p;
	const char *pid;

	snprintf(setting, sizeof(setting), "FIBER_POLLER=%s", poller);
	p = cli_start(&how, "ready ", "sandbox", "--compute", "25", "--allow", system_service(),
		      "--early", NULL);
	pid = cli_number((uint64_t)p->pid);
	/* 1: fibers that ran meanwhile. */
	assert_true(harness_exit_code(cli_run("fiberctl", "bt", "--all", pid, NULL)) <= 1);
	cli_ended(cli_run("fiberctl", "list", pid, NULL), 0);
	assert_true(harness_exit_code(cli_run("fibertrace", pid, NULL)) <= 1);
	assert_int_equal(kill(p->pid, SIGTERM), 0);
	assert_true(harness_wait_end(p, CLI_SECONDS));
	cli_expect(p, 0);
	harness_free(p);
}

static void test_system_service_has_all_that_programs_need(void **state)
{
	(void)state;
	if (harness_sanitizer()[0])
		cli_skip("a sanitizer makes system calls of its own");
	live_as_a_service("epoll");
	live_as_a_service("uring");
	live_as_a_service("poll");
}

/* The filter is in force: it kills a program whose list lacks a call. */
static void test_service_without_a_call_is_killed(void **state)
{
	char calls[16 << 10], *at;
	struct harness_process *p;

	(void)state;
	if (harness_sanitizer()[0])
		cli_skip("a sanitizer makes system calls of its own");
	snprintf(calls, sizeof(calls), "%s ", system_service());
	at = strstr(calls, " membarrier ");
	assert_non_null(at);
	memset(at, ' ', strlen(" membarrier"));
	p = cli_run("sandbox", "--allow", calls, "--early", "--finish", NULL);
	assert_true(WIFSIGNALED(p->status) && WTERMSIG(p->status) == SIGSYS);
	harness_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docker_has_all_that_programs_and_tools_need),
		cmocka_unit_test(test_an_old_docker_has_all_that_they_need),
		cmocka_unit_test(test_system_service_has_all_that_programs_need),
		cmocka_unit_test(test_service_without_a_call_is_killed),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
