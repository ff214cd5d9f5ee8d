/* SPDX-License-Identifier: MIT */
/*
 * place.c - run programs and tools with few rights and on restricted systems
 *
 * Many kernels lack Yama, so its effects are simulated:
 * - a mount namespace has a file ptrace_scope with the value;
 * - a seccomp filter answers EPERM to process_vm_readv(2) and ptrace(2);
 * - a device on a file system mounted without devices is mounted over /proc/PID/mem, so opening it
 *   fails with EACCES.
 * Files that Yama does not restrict, such as /proc/PID/maps, are unchanged.
 *
 * On Linux 6.1 with Yama the same calls were refused, and the tools' messages and remedies were as
 * the tests expect.
 *
 * A child makes only system calls between fork(2) and exec(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/cli/place.h"

#define KERNEL	"/proc/sys/kernel"
#define REFUSED KERNEL "/refused"
#define MOST	16

/* -- in the process that becomes the program -- */

static bool put(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	const bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

static bool refuse_reading(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0 /* offset of nr in struct seccomp_data */),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	return !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static bool under_yama(const struct place *p)
{
	const char value[] = {(char)('0' + p->yama), '\n', 0};
	char memory[64];

	if (mount("none", KERNEL, "tmpfs", MS_NODEV, "mode=755") || mkdir(KERNEL "/yama", 0755) ||
	    !put(KERNEL "/yama/ptrace_scope", value))
		return false;
	if (!p->user && p->yama < 3 && !p->less)
		return true;
	snprintf(memory, sizeof(memory), "/proc/%d/mem", p->yama_of);
	return !mknod(REFUSED, S_IFCHR | 0666, makedev(1, 3)) &&
	       !mount(REFUSED, memory, NULL, MS_BIND, NULL) && refuse_reading();
}

/* Run by the parent, outside of the new namespace: a process inside may map only its own user. */
static bool map_users(pid_t pid, uid_t user)
{
	char path[64], map[32];

	snprintf(map, sizeof(map), "0 %u 1\n", user);
	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	if (!put(path, map))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	return put(path, map);
}

static bool make_container(uid_t user)
{
	const pid_t self = getpid();
	int made[2], status;
	pid_t mapper;
	char byte;

	if (pipe2(made, O_CLOEXEC))
		return false;
	mapper = fork();
	if (mapper == 0)
		_exit(read(made[0], &byte, 1) != 1 || !map_users(self, user));
	if (mapper < 0 || unshare(CLONE_NEWUSER) || write(made[1], "", 1) != 1)
		return false;
	close(made[0]);
	close(made[1]);
	return waitpid(mapper, &status, 0) == mapper && status == 0;
}

static bool go_inside(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && !setns(fd, CLONE_NEWUSER);
}

static bool keep(unsigned capability)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	const __u32 bit = 1u << capability;
	struct __user_cap_data_struct data[2] = {{bit, bit, bit}, {0}};

	return !syscall(SYS_capset, &head, data) &&
	       !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0);
}

static bool become(const struct place *p)
{
	const uid_t user = p->container || p->inside ? 0 : p->user;
	const gid_t group = user && p->group ? p->group : user;

	if (p->capability && prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return false;
	if (p->user &&
	    (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user)))
		return false;
	if (p->capability && !keep(p->capability))
		return false;
	return !p->never_more || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static bool enter(const void *place)
{
	const struct place *p = place;

	if ((p->yama || p->hides) &&
	    (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL)))
		return false;
	if (p->hides && mount("none", "/proc", "proc", 0, "hidepid=2"))
		return false;
	if (p->yama && !under_yama(p))
		return false;
	if (p->less && prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0))
		return false;
	if (p->container && !make_container(p->user))
		return false;
	if (p->inside && !go_inside(p->inside))
		return false;
	/*
	 * Needed where the machine's own Yama is at 1: the tools do not start the programs that
	 * they inspect.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	return become(p);
}

/* -- in the test -- */

static void make_folder(const char *name, uid_t owner)
{
	char path[HARNESS_PATH];

	harness_file(path, name);
	if (mkdir(path, 0700) && errno != EEXIST)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(chown(path, owner, owner), 0);
}

int place_begin(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	if (geteuid() != 0)
		return 0;
	make_folder("bin", 0);
	if (chmod(harness_folder(), 0711) || chmod(harness_file(path, "bin"), 0755))
		return -1;
	make_folder("user", PLACE_USER);
	make_folder("other", PLACE_OTHER);
	make_folder("root", 0);
	return 0;
}

/* ptrace_scope of this machine. */
static int own_scope(void)
{
	FILE *f = fopen(KERNEL "/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

void place_need(const struct place *place)
{
	struct place probe = *place;
	int status;
	pid_t pid;

	if (geteuid() != 0)
		cli_skip("needs root, who gives up rights");
	if (own_scope() > 1)
		cli_skip("this machine's ptrace_scope is above 1");
	if (prctl(PR_CAPBSET_READ, CAP_SYS_PTRACE) != 1 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0))
		cli_skip("needs a root with CAP_SYS_PTRACE, who can give it");
	probe.yama_of = getpid();
	probe.inside = 0;
	pid = fork();
	if (pid == 0)
		_exit(!enter(&probe));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		cli_skip("the system does not let root make such a place (a container?)");
}

const char *place_file(const char *name)
{
	static char path[4][HARNESS_PATH];
	static unsigned turn;
	char inner[HARNESS_PATH / 2];

	snprintf(inner, sizeof(inner), "user/%s", name);
	turn = (turn + 1) % 4;
	return harness_file(path[turn], inner);
}

const char *place_closed(void)
{
	const char *const path = place_file("crowd-closed");

	cli_ended(harness_run(
			  (const char *[]){"install", "-m711", place_program("crowd"), path, NULL},
			  NULL, CLI_SECONDS),
		  0);
	return path;
}

const char *place_program(const char *name)
{
	static char path[4][HARNESS_PATH];
	static unsigned turn;
	char inner[HARNESS_PATH / 2], from[HARNESS_PATH];
	struct harness_process *p;

	snprintf(inner, sizeof(inner), "bin/%s", name);
	turn = (turn + 1) % 4;
	harness_file(path[turn], inner);
	if (access(path[turn], F_OK) == 0)
		return path[turn];
	/* stuck has a malloc of its own */
	if (strcmp(name, "stuck") == 0)
		harness_plain(from, name);
	else
		harness_program(from, name);
	p = harness_run((const char *[]){"install", "-m755", from, path[turn], NULL}, NULL,
			CLI_SECONDS);
	cli_ended(p, 0);
	return path[turn];
}

struct way {
	struct harness_how how;
	char runtime[HARNESS_PATH + 32];
	const char *env[4];
};

static const struct harness_how *way_of(const struct place *place, struct way *way)
{
	char folder[HARNESS_PATH];

	harness_file(folder, place->user == PLACE_USER	  ? "user"
			     : place->user == PLACE_OTHER ? "other"
							  : "root");
	snprintf(way->runtime, sizeof(way->runtime), "XDG_RUNTIME_DIR=%s", folder);
	/* LeakSanitizer needs ptrace(2). */
	way->env[0] = "ASAN_OPTIONS=detect_leaks=0";
	way->env[1] = way->runtime;
	way->env[2] = place->setting;
	way->env[3] = NULL;
	way->how = (struct harness_how){.env = way->env, .enter = enter, .place = place};
	return &way->how;
}

struct harness_process *place_start(const struct place *place, const char *ready,
				    const char *program, const char *argument)
{
	struct way way;

	place_need(place);
	return cli_start(way_of(place, &way), ready,
			 *program == '/' ? program : place_program(program), argument, NULL);
}

struct harness_process *place_run(const struct place *place, const char *program, ...)
{
	const char *argv[MOST + 2] = {place_program(program)};
	struct way way;
	va_list ap;
	int n = 1;

	va_start(ap, program);
	while ((argv[n] = va_arg(ap, const char *)))
		assert_true(++n <= MOST);
	va_end(ap);
	return harness_run(argv, way_of(place, &way), CLI_SECONDS);
}

void place_refused(struct harness_process *p, const char *tool, const char *text, ...)
{
	char expected[1024];
	size_t n = (size_t)snprintf(expected, sizeof(expected), "%s: ", tool);
	va_list ap;

	va_start(ap, text);
	n += (size_t)vsnprintf(expected + n, sizeof(expected) - n, text, ap);
	va_end(ap);
	assert_true(n + 1 < sizeof(expected));
	strcpy(expected + n, "\n");
	cli_expect(p, 2);
	assert_string_equal(p->err.bytes, expected);
	assert_string_equal(p->out.bytes, "");
	harness_free(p);
}
