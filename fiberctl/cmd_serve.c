/* SPDX-License-Identifier: MIT */
/*
 * cmd_serve.c - fiberctl serve: a page to look at, and endpoints for other tools
 *
 * The loop waits for three kinds of descriptors: HTTP (libmicrohttpd's epoll), the workers that ask
 * programs, and children with long commands. What has arrived from programs is handled before
 * requests, which may change what is waited for.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "fiberctl/fiberctl.h"
#include "fiberctl/serve/assets.h"
#include "fiberctl/serve/listen.h"
#include "fiberctl/serve/server.h"
#include "inspect/text/duration.h"
#include "inspect/text/escape.h"
#include "tool/process.h"
#include "tool/report.h"

#define SLOTS (1 + SERVE_TARGETS + 1 + SERVE_ERRANDS)

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Let these signals end the loop; they only arrive in ppoll(). */
static sigset_t catch_signals(void)
{
	const struct sigaction action = {.sa_handler = interrupt};
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t set, before;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof signals / sizeof signals[0]; i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&set, signals[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, &before);
	return before;
}

static int64_t wait_until(struct serve_server *server, int64_t now)
{
	int64_t until = serve_desk_until(&server->desk, now);
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(server->daemon, &ms) == MHD_YES && ms < 1000 &&
	    now + (int64_t)ms * 1000000 < until)
		until = now + (int64_t)ms * 1000000;
	return until;
}

static void loop(struct serve_server *server, const sigset_t *signals)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd slots[SLOTS];
	int64_t now = ins_duration_now(), left;
	unsigned desk, errands;
	struct timespec time;

	while (!interrupted) {
		slots[0] = (struct pollfd){.fd = info->epoll_fd, .events = POLLIN};
		desk = serve_desk_fill(&server->desk, slots + 1);
		errands = serve_errands_fill(&server->errands, slots + 1 + desk);
		left = wait_until(server, now) - now;
		time = (struct timespec){.tv_nsec = left > 0 ? left % 1000000000 : 0,
					 .tv_sec = left > 0 ? left / 1000000000 : 0};
		if (ppoll(slots, 1 + desk + errands, &time, signals) < 0)
			memset(slots, 0, sizeof slots);
		now = ins_duration_now();
		serve_desk_work(&server->desk, slots + 1, desk, now);
		serve_errands_work(&server->errands, slots + 1 + desk, errands, now);
		serve_http_work(server);
		now = ins_duration_now();
		/* Requests have brought questions: their turns may begin. */
		serve_desk_work(&server->desk, NULL, 0, now);
	}
}

static void say_where(const struct serve_access *access, const struct serve_listen *at)
{
	if (at->path[0])
		printf("fiberctl: serving on unix:%s\n", at->path);
	else
		printf("fiberctl: serving on http://%s:%u/\n", access->host, access->port);
	fflush(stdout);
}

static int serve(struct serve_server *server, const char *where, const char *const *only)
{
	const sigset_t signals = catch_signals();
	struct serve_listen at;
	struct ins_error error = {""};
	int code = serve_listen_open(where, &server->access, &at, &error);

	if (code == TOOL_USAGE)
		return tool_wrong(&ctl_serve, "%s", error.text);
	if (code != TOOL_WELL)
		return tool_cannot("%s", error.text);
	code = TOOL_CANNOT;
	if (serve_programs_begin(&server->desk.programs, only) && serve_http_begin(server, at.fd)) {
		say_where(&server->access, &at);
		loop(server, &signals);
		code = tool_written(TOOL_WELL);
	}
	/* The waiters of open questions belong to connections. */
	serve_errands_end(&server->errands);
	serve_desk_end(&server->desk);
	serve_gathers_end(&server->gathers);
	serve_http_end(server);
	serve_recordings_end(&server->recordings);
	serve_assets_end();
	serve_listen_close(&at);
	return code;
}

/* A program of that name may start later; a process of that id cannot. */
static int check_program(const char *word)
{
	char clean[256];
	uint64_t pid;

	ins_escape_quoted(word, clean, sizeof clean);
	if (strchr(word, '/'))
		return tool_cannot("%s: is a path, and this needs the process itself: give its id "
				   "or its name",
				   clean);
	if (tool_parse_number(word, 0, UINT64_MAX, &pid) &&
	    (pid < 1 || pid > INT32_MAX || !tool_process_alive((pid_t)pid)))
		return tool_cannot("process %s: no such process", clean);
	return TOOL_WELL;
}

static int run(const struct tool_arguments *arguments)
{
	static struct serve_server server;
	const char *where = arguments->option[TOOL_OPT_LISTEN];
	const char *token = arguments->option[TOOL_OPT_TOKEN_FILE];
	const char *only[TOOL_WORDS + 1] = {NULL};
	int i, code = TOOL_WELL;

	for (i = 0; code == TOOL_WELL && i < arguments->words; i++) {
		only[i] = arguments->word[i];
		code = check_program(only[i]);
	}
	if (code != TOOL_WELL)
		return code;
	server.access.changes = arguments->option[TOOL_OPT_ALLOW_CHANGES] != NULL;
	if (token && !serve_access_read_token(token, server.access.token))
		return TOOL_CANNOT;
	if (!serve_access_make_token(server.access.page_token))
		return tool_cannot("no random bytes: %s", strerror(errno));
	return serve(&server, where ? where : SERVE_LISTEN, arguments->words ? only : NULL);
}

const struct tool_command ctl_serve = {
	.name = "serve",
	.usage = "[PROGRAM]...",
	.summary = "a page, /metrics and pprof over HTTP",
	.help = "Serves a page with the programs of this user: verdicts, fibers, stacks, waits,\n"
		"carriers and recordings, live. For other tools: /metrics for Prometheus,\n"
		"/debug/pprof/ for pprof, Pyroscope and Parca, /api/v1/ with the answers of\n"
		"--json, /healthz. PROGRAM: a process id or a name; only these are served. A\n"
		"program is asked at most once a second, however many viewers there are.\n"
		"--listen: 127.0.0.1:6060, another address, port 0 for any, or unix:PATH. An\n"
		"address that other machines can reach needs --token-file. Nothing in a program\n"
		"is changed unless --allow-changes is given: then a viewer may record, cancel\n"
		"and wake fibers, and set policies, as far as the program allows. Ctrl-C ends\n"
		"it.\n",
	.example = "serve\n"
		   "fiberctl: serving on http://127.0.0.1:6060/\n",
	.least = 0,
	.most = TOOL_WORDS,
	.live = true,
	.options = TOOL_TAKES(TOOL_OPT_LISTEN) | TOOL_TAKES(TOOL_OPT_TOKEN_FILE) |
		   TOOL_TAKES(TOOL_OPT_ALLOW_CHANGES),
	.run = run,
};
