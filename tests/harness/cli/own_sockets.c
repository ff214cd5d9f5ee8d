/* SPDX-License-Identifier: MIT */
/* own_sockets.c - control sockets in a private /tmp */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/own_sockets.h"

/* The leak checker would not find its files in this namespace. */
#define SETTINGS "XDG_RUNTIME_DIR=", "ASAN_OPTIONS=detect_leaks=0"

static int forbidden; /* errno of own_tmp(), 0 on success */
static const char *const env[] = {SETTINGS, NULL};
const struct harness_how own_how = {.env = env};

/*
 * The entry of /tmp that contains the build folder, open, and its path; -1 if it is elsewhere. The
 * tests then still find their programs in the new /tmp.
 */
static int open_kept(char path[HARNESS_PATH])
{
	const char *const build = harness_build();

	if (strncmp(build, "/tmp/", 5) != 0)
		return -1;
	snprintf(path, HARNESS_PATH, "/tmp/%.*s", (int)strcspn(build + 5, "/"), build + 5);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int bind_kept(int kept, const char *path)
{
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", kept);
	return mkdir(path, 0755) || mount(from, path, NULL, MS_BIND | MS_REC, NULL) ? errno : 0;
}

static int unshare_tmp(void)
{
	char path[HARNESS_PATH];
	int kept, rc = 0;

	if (geteuid() != 0)
		return EPERM;
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return errno;
	kept = open_kept(path);
	if (mount("none", "/tmp", "tmpfs", MS_NODEV, "mode=1777"))
		rc = errno;
	else if (kept >= 0)
		rc = bind_kept(kept, path);
	if (kept >= 0)
		close(kept);
	if (rc)
		return rc;
	return mount("none", "/run/user", "tmpfs", MS_NODEV, "mode=755") && errno != ENOENT ? errno
											    : 0;
}

void own_tmp(void)
{
	forbidden = unshare_tmp();
}

void own_need(void)
{
	static char why[128];

	if (!forbidden)
		return;
	snprintf(why, sizeof(why), "needs root and a mount namespace: %s", strerror(forbidden));
	cli_skip(why);
}

void own_folder(const char *path, uid_t user)
{
	assert_true(!mkdir(path, 0700) || access(path, F_OK) == 0);
	assert_int_equal(chown(path, user, user), 0);
}

const char *own_path(const char *folder, pid_t pid)
{
	static char path[4][64];
	static unsigned turn;

	turn = (turn + 1) % 4;
	snprintf(path[turn], sizeof(path[turn]), "%s/%d.sock", folder, pid);
	return path[turn];
}

struct harness_process *own_tool(const char *a, const char *b, const char *c)
{
	return cli_run_how(&own_how, "fiberctl", a, b, c, NULL);
}

unsigned own_lines_of(const struct harness_process *p, pid_t pid)
{
	unsigned n = 0;

	for (const char *at = p->out.bytes, *end; (end = strchr(at, '\n')); at = end + 1)
		n += strtol(at, NULL, 10) == pid;
	return n;
}

unsigned own_lines(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

void own_expect(struct harness_process *p, int code, const char *out, const char *err)
{
	cli_expect(p, code);
	cli_contains(p->out.bytes, out);
	cli_contains(p->err.bytes, err);
	harness_free(p);
}

struct crowd own_start_as(uid_t user, const char *name, const char *path)
{
	char setting[128], from[HARNESS_PATH];
	const char *const own[] = {SETTINGS, setting, NULL};
	const struct harness_how how = {.env = own, .user = user};

	own_expect(harness_run((const char *[]){"install", "-m755", harness_program(from, "crowd"),
						name, NULL},
			       NULL, CLI_SECONDS),
		   0, "", "");
	snprintf(setting, sizeof(setting), "FIBER_CONTROL_PATH=%s", path ? path : "");
	return crowd_start(&how, name, "5", NULL);
}
