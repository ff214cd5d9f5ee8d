/* SPDX-License-Identifier: MIT */
/* serve.c - run `fiberctl serve` and ask it over HTTP */
#include "tests/harness/cli/serve.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/clock.h"

#define WORDS 8

/* -- processes -- */

static bool read_stat(pid_t pid, char *ret_state, pid_t *ret_parent)
{
	char path[64], line[512] = "";
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return end && sscanf(end + 1, " %c %d", ret_state, ret_parent) == 2;
}

/* -- start and end -- */

static void read_token(struct serve *s)
{
	json_t *session = serve_json(s, 200, "/api/v1/session");

	json_promise(session, "session", "version:s allowChanges:b token:s?");
	snprintf(s->token, sizeof(s->token), "%s", json_text(session, "token"));
	json_decref(session);
}

static struct serve start(const struct harness_how *how, const char *where,
			  const char *const words[WORDS])
{
	static const char says[] = "fiberctl: serving on ";
	struct serve s = {.process = cli_start(how, says, "fiberctl", "serve", "--listen", where,
					       words[0], words[1], words[2], words[3], NULL)};
	const char *const at = s.process->line + sizeof(says) - 1;

	if (!strncmp(at, "unix:", 5))
		snprintf(s.path, sizeof(s.path), "%s", at + 5);
	else
		s.port = (unsigned)strtoul(strrchr(at, ':') + 1, NULL, 10);
	return s;
}

struct serve serve_start(const char *first, ...)
{
	const char *words[WORDS] = {first};
	struct serve s;
	va_list ap;
	int n = 0;

	va_start(ap, first);
	while (n < WORDS - 1 && words[n])
		words[++n] = va_arg(ap, const char *);
	va_end(ap);
	s = start(NULL, "127.0.0.1:0", words);
	read_token(&s);
	return s;
}

struct serve serve_start_at(const struct harness_how *how, const char *where, const char *first,
			    const char *second)
{
	const char *const words[WORDS] = {first, second};

	return start(how, where, words);
}

/* The state letter of a process, 0 if there is none. */
static char state_of(pid_t pid)
{
	char letter;
	pid_t parent;

	return read_stat(pid, &letter, &parent) ? letter : 0;
}

struct leftover {
	pid_t pid[SERVE_PROCESSES];
	size_t count;
};

/* A process without a parent may stay a zombie if process 1 of a container takes no notice. */
static bool is_alive(pid_t pid)
{
	return kill(pid, 0) == 0 && state_of(pid) != 'Z';
}

static bool are_gone(void *arg)
{
	const struct leftover *left = arg;

	for (size_t i = 0; i < left->count; i++)
		if (is_alive(left->pid[i]))
			return false;
	return true;
}

void serve_end(struct serve *server)
{
	struct leftover left;

	if (!server->process)
		return;
	left.count = serve_processes(server, left.pid);
	assert_int_equal(kill(server->process->pid, SIGTERM), 0);
	assert_true(harness_wait_end(server->process, CLI_SECONDS));
	cli_expect(server->process, 0);
	assert_string_equal(server->process->err.bytes, "");
	/* The system ends them after the server. */
	assert_true(harness_until(are_gone, &left, CLI_SECONDS));
	harness_free(server->process);
	server->process = NULL;
}

/* -- requests -- */

static int connect_local(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const struct timeval limit = {.tv_sec = harness_seconds(CLI_SECONDS)};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

int serve_connect(const struct serve *server)
{
	return server->port ? http_connect(server->port) : connect_local(server->path);
}

void serve_send(const struct serve *server, int fd, const char *method, const char *path,
		const char *fields)
{
	char *request, host[64];

	snprintf(host, sizeof(host), "Host: 127.0.0.1:%u\r\n", server->port);
	assert_true(asprintf(&request, "%s %s HTTP/1.1\r\n%s%s\r\n", method, path,
			     fields && strstr(fields, "Host: ") ? "" : host,
			     fields ? fields : "") > 0);
	http_send(fd, request);
	free(request);
}

struct http_reply serve_ask(const struct serve *server, const char *method, const char *path,
			    const char *fields)
{
	const int fd = serve_connect(server);
	struct http_reply reply;

	serve_send(server, fd, method, path, fields);
	reply = http_read(fd, !strcmp(method, "HEAD"));
	close(fd);
	return reply;
}

static char *format(const char *path, va_list ap)
{
	char *text;

	assert_true(vasprintf(&text, path, ap) > 0);
	return text;
}

struct http_reply serve_get(const struct serve *server, const char *path, ...)
{
	struct http_reply reply;
	va_list ap;
	char *text;

	va_start(ap, path);
	text = format(path, ap);
	va_end(ap);
	reply = serve_ask(server, "GET", text, NULL);
	free(text);
	return reply;
}

json_t *serve_parse(const struct http_reply *reply)
{
	char type[64];
	json_error_t error;
	json_t *answer = json_loadb(reply->body, reply->size, JSON_REJECT_DUPLICATES, &error);

	assert_string_equal(http_field(reply, "Content-Type", type, sizeof(type)),
			    "application/json");
	if (!json_is_object(answer))
		fail_msg("no JSON object: line %d: %s\n%.2000s", error.line, error.text,
			 reply->body);
	return answer;
}

static json_t *take_json(struct http_reply reply, int status)
{
	json_t *answer;

	if (reply.status != status)
		fail_msg("status %d instead of %d: %.500s", reply.status, status, reply.body);
	answer = serve_parse(&reply);
	http_drop(&reply);
	return answer;
}

json_t *serve_json(const struct serve *server, int status, const char *path, ...)
{
	json_t *answer;
	va_list ap;
	char *text;

	va_start(ap, path);
	text = format(path, ap);
	va_end(ap);
	answer = take_json(serve_ask(server, "GET", text, NULL), status);
	free(text);
	return answer;
}

json_t *serve_change(const struct serve *server, int status, const char *path, ...)
{
	char fields[128];
	json_t *answer;
	va_list ap;
	char *text;

	snprintf(fields, sizeof(fields), "X-Fiber-Token: %s\r\nContent-Length: 0\r\n",
		 server->token);
	va_start(ap, path);
	text = format(path, ap);
	va_end(ap);
	answer = take_json(serve_ask(server, "POST", text, fields), status);
	free(text);
	return answer;
}

void serve_refused(struct http_reply reply, int status, const char *what)
{
	json_t *answer = take_json(reply, status);
	const json_t *const error = json_object_get(answer, "error");

	json_promise(error, "error", "status:i text:s");
	assert_int_equal(json_int(error, "status"), status);
	cli_contains(json_text(error, "text"), what);
	json_decref(answer);
}

void serve_alive(const struct serve *server)
{
	struct http_reply reply = serve_get(server, "/healthz");

	assert_int_equal(reply.status, 200);
	assert_string_equal(reply.body, "ok\n");
	http_drop(&reply);
}

int serve_ask_about(const struct serve *server, pid_t about, const char *question)
{
	const int fd = serve_connect(server);
	char path[512];

	snprintf(path, sizeof(path), "/api/v1/processes/%d/%s", (int)about, question);
	serve_send(server, fd, "GET", path, NULL);
	return fd;
}

int serve_answered(int fd)
{
	struct http_reply reply = http_read(fd, false);
	const int status = reply.status;

	if (status != 200 && status != 502 && status != 504)
		fail_msg("%d: %.500s", status, reply.body);
	json_decref(serve_parse(&reply));
	http_drop(&reply);
	close(fd);
	return status;
}

struct awaited {
	const struct serve *server;
	pid_t about;
	bool known;
};

static bool is_known(void *arg)
{
	const struct awaited *a = arg;
	struct http_reply reply =
		serve_get(a->server, "/api/v1/processes/%d/history", (int)a->about);
	const bool known = reply.status == 200;

	http_drop(&reply);
	return known == a->known;
}

void serve_await_known(const struct serve *server, pid_t about, bool known)
{
	struct awaited a = {server, about, known};

	assert_true(harness_until(is_known, &a, CLI_SECONDS));
}

/* -- what the server uses -- */

size_t serve_processes(const struct serve *server, pid_t ret[SERVE_PROCESSES])
{
	static struct {
		pid_t pid, parent;
	} all[32768];
	size_t count = 0, found = 1;
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	char letter;

	assert_non_null(dir);
	while ((entry = readdir(dir)) && count < sizeof(all) / sizeof(all[0])) {
		const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid <= 0)
			continue;
		all[count].pid = pid;
		count += read_stat(pid, &letter, &all[count].parent);
	}
	closedir(dir);
	ret[0] = server->process->pid;
	for (size_t i = 0; i < found; i++)
		for (size_t k = 0; k < count && found < SERVE_PROCESSES; k++)
			if (all[k].parent == ret[i])
				ret[found++] = all[k].pid;
	return found;
}

static size_t memory_of(pid_t pid)
{
	char path[64], line[256];
	size_t kb = 0, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %zu", &n) == 1)
			kb = n;
	if (f)
		fclose(f);
	return kb * 1024;
}

size_t serve_memory(const struct serve *server)
{
	pid_t pids[SERVE_PROCESSES];
	const size_t count = serve_processes(server, pids);
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += memory_of(pids[i]);
	return sum;
}
