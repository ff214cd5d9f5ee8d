/* SPDX-License-Identifier: MIT */
/*
 * process.c - start and end the programs of a test
 *
 * A pidfd reports the end of a program, so no timer is needed: one poll(2) waits for the two pipes
 * and the pidfd. After the end the pipes are read once more and then closed, since a grandchild may
 * keep them open indefinitely.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/clock.h"
#include "tests/harness/forbid.h"
#include "tests/harness/paths.h"
#include "tests/harness/process.h"

#define GRACE 10 /* s between SIGTERM and SIGKILL */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct harness_process *processes; /* under lock: all processes not freed yet */
static pid_t owner;

static void give_up(const char *what)
{
	fprintf(stderr, "# harness: %s: %s\n", what, strerror(errno));
	abort();
}

static int64_t now_ms(void)
{
	return harness_now() / 1000000;
}

static int64_t end_of(int seconds)
{
	return now_ms() + INT64_C(1000) * harness_seconds(seconds);
}

static void end_all(void)
{
	if (getpid() != owner)
		return;
	while (processes)
		harness_free(processes);
}

/* -- in the child: only system calls between fork and exec -- */

static void forbid(unsigned call)
{
	if (!harness_forbid(call, EPERM))
		_exit(126);
}

static void become(const char *const argv[], char **env, const struct harness_how *how, int out,
		   int err)
{
	struct rlimit core;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* A shell lets the programs that it starts in the background ignore this signal. */
	signal(SIGINT, SIG_DFL);
	if (dup2(open("/dev/null", O_RDONLY), 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(126);
	if (!getrlimit(RLIMIT_CORE, &core)) {
		core.rlim_cur = how->core ? core.rlim_max : 0;
		setrlimit(RLIMIT_CORE, &core);
	}
	if (how->enter && !how->enter(how->place))
		_exit(126);
	if (how->folder && chdir(how->folder))
		_exit(126);
	if (how->user && (setgroups(0, NULL) || setgid((gid_t)how->user) || setuid(how->user)))
		_exit(126);
	/* Set it after setuid, which clears it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (how->forbid_peeking)
		forbid(SYS_process_vm_readv);
	if (how->forbid)
		forbid(how->forbid);
	execvpe(argv[0], (char *const *)argv, env);
	_exit(127);
}

/* -- starting -- */

static bool names(const char *entry, const char *setting)
{
	const size_t n = (size_t)(strchrnul(setting, '=') - setting);

	return !strncmp(entry, setting, n) && entry[n] == '=';
}

/* The test's environment, overridden by the settings; the caller frees the array and
 * *runtime_dir. */
static char **environment(const struct harness_how *how, char **runtime_dir)
{
	size_t count = 2, given = 0, n = 0;
	char **env;

	while (environ[count - 2])
		count++;
	while (how->env && how->env[given])
		given++;
	env = calloc(count + given + 1, sizeof(*env));
	if (!env || asprintf(runtime_dir, "XDG_RUNTIME_DIR=%s", harness_folder()) < 0)
		give_up("memory");
	for (size_t i = 0; i < given; i++)
		env[n++] = (char *)(uintptr_t)how->env[i];
	env[n++] = *runtime_dir;
	for (size_t i = 0; environ[i]; i++)
		env[n++] = environ[i];
	/* The first entry of a name wins: remove the later ones. */
	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n;)
			if (names(env[k], env[i]))
				env[k] = env[--n];
			else
				k++;
	env[n] = NULL;
	return env;
}

struct harness_process *harness_start(const char *const argv[], const struct harness_how *how)
{
	static const struct harness_how plain;
	struct harness_process *p = calloc(1, sizeof(*p));
	char *runtime_dir, **env;
	int out[2], err[2];

	how = how ? how : &plain;
	if (!p || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		give_up("pipe");
	env = environment(how, &runtime_dir);
	p->pid = fork();
	if (p->pid == 0)
		become(argv, env, how, out[1], err[1]);
	if (p->pid < 0)
		give_up("fork");
	free(env);
	free(runtime_dir);
	close(out[1]);
	close(err[1]);
	p->out = (struct harness_text){calloc(1, 1), 0, out[0]};
	p->err = (struct harness_text){calloc(1, 1), 0, err[0]};
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0); /* musl has no function */
	if (p->pidfd < 0 || !p->out.bytes || !p->err.bytes)
		give_up("pidfd_open");
	fcntl(p->out.fd, F_SETFL, O_NONBLOCK);
	fcntl(p->err.fd, F_SETFL, O_NONBLOCK);
	pthread_mutex_lock(&lock);
	if (!owner) {
		owner = getpid();
		atexit(end_all);
	}
	p->next = processes;
	processes = p;
	pthread_mutex_unlock(&lock);
	return p;
}

/* -- collecting -- */

static void collect(struct harness_text *text)
{
	char piece[65536];
	ssize_t n;

	while (text->fd >= 0 && (n = read(text->fd, piece, sizeof(piece))) != 0) {
		if (n < 0) {
			if (errno == EINTR)
				continue;
			if (errno == EAGAIN)
				return;
			break;
		}
		text->bytes = realloc(text->bytes, text->size + (size_t)n + 1);
		if (!text->bytes)
			give_up("memory");
		memcpy(text->bytes + text->size, piece, (size_t)n);
		text->size += (size_t)n;
		text->bytes[text->size] = '\0';
	}
	if (text->fd >= 0)
		close(text->fd);
	text->fd = -1;
}

/* Wait for output or the end until `until` (ms); collect both. False after that time. */
static bool pump(struct harness_process *p, int64_t until)
{
	struct pollfd fds[] = {
		{p->out.fd, POLLIN, 0}, {p->err.fd, POLLIN, 0}, {p->pidfd, POLLIN, 0}};
	const int64_t left = until - now_ms();

	if (p->ended)
		return true;
	if (left <= 0)
		return false;
	if (poll(fds, 3, (int)left) <= 0)
		return true; /* the next call checks the time */
	if (fds[2].revents && waitpid(p->pid, &p->status, 0) == p->pid)
		p->ended = true;
	collect(&p->out);
	collect(&p->err);
	if (p->ended) {
		close(p->pidfd);
		p->pidfd = -1;
	}
	return true;
}

/* The first complete line of its output that starts with prefix; NULL: none yet. */
static const char *find_line(struct harness_process *p, const char *prefix)
{
	const size_t length = strlen(prefix);

	for (const char *at = p->out.bytes, *end; (end = strchr(at, '\n')); at = end + 1) {
		if (strncmp(at, prefix, length))
			continue;
		snprintf(p->line, sizeof(p->line), "%.*s", (int)(end - at), at);
		return p->line;
	}
	return NULL;
}

const char *harness_wait_line(struct harness_process *p, const char *prefix, int seconds)
{
	const int64_t until = end_of(seconds);
	/* The line may have come together with an earlier one. */
	const char *line = find_line(p, prefix);

	while (!line) {
		bool last = p->ended || !pump(p, until);

		line = find_line(p, prefix);
		if (last)
			break;
	}
	return line;
}

bool harness_wait_end(struct harness_process *p, int seconds)
{
	const int64_t until = end_of(seconds);

	while (!p->ended && pump(p, until))
		;
	return p->ended;
}

void harness_end(struct harness_process *p)
{
	if (p->ended)
		return;
	/* Continue a stopped process after SIGTERM, so that it finds the signal pending. In the
	 * other order SIGCONT would undo the stop in which LeakSanitizer holds the threads at exit,
	 * and it would wait for them forever. */
	kill(p->pid, SIGCONT);
	kill(p->pid, SIGTERM);
	if (!harness_wait_end(p, GRACE)) {
		kill(p->pid, SIGKILL);
		harness_wait_end(p, GRACE);
	}
}

void harness_free(struct harness_process *p)
{
	struct harness_process **at;

	if (!p)
		return;
	harness_end(p);
	pthread_mutex_lock(&lock);
	for (at = &processes; *at && *at != p; at = &(*at)->next)
		;
	if (*at)
		*at = p->next;
	pthread_mutex_unlock(&lock);
	if (p->pidfd >= 0)
		close(p->pidfd);
	if (p->out.fd >= 0)
		close(p->out.fd);
	if (p->err.fd >= 0)
		close(p->err.fd);
	free(p->out.bytes);
	free(p->err.bytes);
	free(p);
}

struct harness_process *harness_run(const char *const argv[], const struct harness_how *how,
				    int seconds)
{
	struct harness_process *p = harness_start(argv, how);

	if (!harness_wait_end(p, seconds)) {
		p->timed_out = true;
		harness_end(p);
	}
	return p;
}

int harness_exit_code(const struct harness_process *p)
{
	return p->ended && WIFEXITED(p->status) ? WEXITSTATUS(p->status) : -1;
}

void harness_forget_long_runs(struct harness_process *p)
{
	char *line = p->err.bytes, *end, *found;

	while ((end = strchr(line, '\n'))) {
		*end = 0;
		found = strncmp(line, "libfiber: fiber ", 16) ? NULL
							      : strstr(line, " holds carrier ");
		*end++ = '\n';
		if (found)
			memmove(line, end, strlen(end) + 1);
		else
			line = end;
	}
	p->err.size = strlen(p->err.bytes);
}

bool harness_until(bool (*ready)(void *arg), void *arg, int seconds)
{
	const int64_t until = end_of(seconds);

	while (!ready(arg)) {
		if (now_ms() > until)
			return false;
		usleep(2000);
	}
	return true;
}
