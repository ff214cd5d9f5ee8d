/* SPDX-License-Identifier: MIT */
/*
 * browser.c - control Chromium over a pipe
 *
 * Messages are JSON objects, each followed by a NUL. Chromium reads from descriptor 3 and writes to
 * 4.
 */
#include "tests/harness/cli/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/clock.h"

#define ROOM (8u << 20)

struct browser {
	pid_t pid;
	int to, from;
	int last; /* number of the last message sent */
	char *session;
	char page[HARNESS_PATH + 16]; /* the file, or the origin of the address */
	char *got;
	size_t used;
	unsigned faults, refused, requests, loads;
	json_t *text; /* the last result of browser_text() */
};

/* -- start and end -- */

static void run(int in, int out, const char *folder)
{
	char home[HARNESS_PATH + 32], data[HARNESS_PATH + 32];
	int quiet = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(home, sizeof home, "%s", folder);
	snprintf(data, sizeof data, "--user-data-dir=%s/browser", folder);
	setenv("HOME", home, 1);
	/* Move both out of the way of descriptors 3 and 4. */
	in = fcntl(in, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	dup2(in, 3);
	dup2(out, 4);
	dup2(quiet, 1);
	dup2(quiet, 2);
	execlp("chromium", "chromium", "--headless", "--no-sandbox", "--disable-gpu",
	       "--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1200,900",
	       "--no-first-run", data, (char *)NULL);
	_exit(127);
}

static void start(struct browser *b)
{
	int in[2], out[2];

	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (b->pid == 0)
		run(in[0], out[1], harness_folder());
	close(in[0]);
	close(out[1]);
	b->to = in[1];
	b->from = out[0];
	signal(SIGPIPE, SIG_IGN);
}

/* -- messages -- */

static const char *member(const json_t *object, const char *key, const char *of)
{
	const char *text = json_string_value(json_object_get(json_object_get(object, key), of));

	return text ? text : "";
}

static bool is_of_page(const struct browser *b, const char *url)
{
	const size_t n = strlen(b->page);

	return strncmp(b->page, "http:", 5) == 0 ? strncmp(url, b->page, n) == 0 && url[n] == '/'
						 : strcmp(url, b->page) == 0;
}

static void take_event(struct browser *b, const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const json_t *params = json_object_get(message, "params");
	const bool logged = method && strcmp(method, "Log.entryAdded") == 0 &&
			    strcmp(member(params, "entry", "level"), "error") == 0;
	const char *text;

	if (!method)
		return;
	if (logged && strcmp(member(params, "entry", "source"), "network") == 0)
		b->refused++;
	else if (logged || strcmp(method, "Runtime.exceptionThrown") == 0) {
		char *all = json_dumps(params, 0);

		fprintf(stderr, "browser: %s\n", all);
		free(all);
		b->faults++;
	}
	if (strcmp(method, "Page.loadEventFired") == 0)
		b->loads++;
	if (strcmp(method, "Network.requestWillBeSent") != 0)
		return;
	text = member(params, "request", "url");
	if (!is_of_page(b, text)) {
		fprintf(stderr, "browser: asks for %s\n", text);
		b->requests++;
	}
}

/* The next message; the caller releases it. */
static json_t *receive(struct browser *b)
{
	struct pollfd p = {.fd = b->from, .events = POLLIN};
	char *end;
	json_t *message;
	ssize_t n;

	while (!(end = memchr(b->got, 0, b->used))) {
		assert_true(b->used < ROOM);
		assert_int_equal(poll(&p, 1, harness_seconds(CLI_SECONDS) * 1000), 1);
		n = read(b->from, b->got + b->used, ROOM - b->used);
		if (n <= 0)
			fail_msg("chromium does not run: is it installed? make deps");
		b->used += (size_t)n;
	}
	message = json_loads(b->got, 0, NULL);
	assert_non_null(message);
	b->used -= (size_t)(end + 1 - b->got);
	memmove(b->got, end + 1, b->used);
	return message;
}

/* Send a request and wait for its result, which the caller releases. Takes ownership of params. */
static json_t *ask(struct browser *b, const char *method, json_t *params)
{
	json_t *message = json_pack("{s:i, s:s, s:o}", "id", ++b->last, "method", method, "params",
				    params ? params : json_object());
	json_t *result;
	char *text;

	if (b->session)
		json_object_set_new(message, "sessionId", json_string(b->session));
	text = json_dumps(message, JSON_COMPACT);
	assert_non_null(text);
	if (write(b->to, text, strlen(text) + 1) != (ssize_t)strlen(text) + 1)
		fail_msg("chromium does not run: is it installed? make deps");
	free(text);
	json_decref(message);
	for (;;) {
		message = receive(b);
		if (json_integer_value(json_object_get(message, "id")) == b->last)
			break;
		take_event(b, message);
		json_decref(message);
	}
	result = json_incref(json_object_get(message, "result"));
	if (!result)
		fail_msg("%s: %s", method, json_dumps(message, 0));
	json_decref(message);
	return result;
}

void browser_tell(struct browser *b, const char *method, json_t *params)
{
	json_decref(ask(b, method, params));
}

/* -- the page -- */

json_t *browser_value(struct browser *b, const char *expression)
{
	json_t *answer = ask(b, "Runtime.evaluate",
			     json_pack("{s:s, s:b}", "expression", expression, "returnByValue", 1));
	json_t *value = json_incref(json_object_get(json_object_get(answer, "result"), "value"));

	if (json_object_get(answer, "exceptionDetails"))
		fail_msg("%s: %s", expression, json_dumps(answer, 0));
	json_decref(answer);
	return value;
}

json_int_t browser_number(struct browser *b, const char *expression)
{
	json_t *value = browser_value(b, expression);
	const json_int_t n = (json_int_t)json_number_value(value);

	assert_true(json_is_number(value));
	json_decref(value);
	return n;
}

const char *browser_text(struct browser *b, const char *expression)
{
	json_decref(b->text);
	b->text = browser_value(b, expression);
	assert_true(json_is_string(b->text));
	return json_string_value(b->text);
}

void browser_wait(struct browser *b, const char *expression)
{
	const struct timespec pause = {0, 50000000};
	int tries;
	bool is = false;
	json_t *value;

	for (tries = 0; tries < harness_seconds(CLI_SECONDS) * 20 && !is; tries++) {
		if (tries)
			nanosleep(&pause, NULL);
		value = browser_value(b, expression);
		is = json_is_true(value);
		json_decref(value);
	}
	if (is)
		return;
	fprintf(stderr, "browser: %s\n", browser_text(b, "document.body.innerText"));
	fail_msg("not true after %d s: %s", harness_seconds(CLI_SECONDS), expression);
}

void browser_go(struct browser *b, const char *address, const char *ready)
{
	browser_tell(b, "Page.navigate", json_pack("{s:s}", "url", address));
	browser_wait(b, ready);
}

void browser_reload(struct browser *b, const char *ready)
{
	const unsigned loads = b->loads;
	json_t *message;

	browser_tell(b, "Page.reload", NULL);
	while (b->loads == loads) {
		message = receive(b);
		take_event(b, message);
		json_decref(message);
	}
	browser_wait(b, ready);
}

/* The file, or the origin of the address: what the page may ask for. */
static void set_page(struct browser *b, const char *path)
{
	if (strncmp(path, "http://", 7) == 0)
		snprintf(b->page, sizeof b->page, "%.*s", (int)(7 + strcspn(path + 7, "/")), path);
	else
		snprintf(b->page, sizeof b->page, "file://%s", path);
}

struct browser *browser_open(const char *path, const char *ready)
{
	struct browser *b = calloc(1, sizeof *b);
	json_t *answer, *target;
	char *session;

	assert_non_null(b);
	b->got = malloc(ROOM);
	assert_non_null(b->got);
	set_page(b, path);
	start(b);
	target = ask(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
	answer = ask(b, "Target.attachToTarget",
		     json_pack("{s:O, s:b}", "targetId", json_object_get(target, "targetId"),
			       "flatten", 1));
	json_decref(target);
	session = strdup(json_string_value(json_object_get(answer, "sessionId")));
	json_decref(answer);
	b->session = session;
	browser_tell(b, "Page.enable", NULL);
	browser_tell(b, "Runtime.enable", NULL);
	browser_tell(b, "Log.enable", NULL);
	browser_tell(b, "Network.enable", NULL);
	browser_go(b, strncmp(b->page, "http:", 5) == 0 ? path : b->page, ready);
	return b;
}

unsigned browser_faults(const struct browser *b)
{
	return b->faults;
}

unsigned browser_refused(const struct browser *b)
{
	return b->refused;
}

unsigned browser_requests(const struct browser *b)
{
	return b->requests;
}

void browser_close(struct browser *b)
{
	int status;

	free(b->session);
	b->session = NULL;
	browser_tell(b, "Browser.close", NULL);
	close(b->to);
	close(b->from);
	waitpid(b->pid, &status, 0);
	json_decref(b->text);
	free(b->got);
	free(b);
}
