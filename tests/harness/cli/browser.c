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

#define ROOM (8u << 20)

struct browser {
	pid_t pid;
	int to, from;
	int last; /* number of the last message sent */
	char *session;
	char page[HARNESS_PATH + 16];
	char *got;
	size_t used;
	unsigned faults, requests;
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

static void take_event(struct browser *b, const json_t *message)
{
	const char *method = json_string_value(json_object_get(message, "method"));
	const json_t *params = json_object_get(message, "params");
	const char *text;

	if (!method)
		return;
	if (strcmp(method, "Runtime.exceptionThrown") == 0 ||
	    (strcmp(method, "Log.entryAdded") == 0 &&
	     strcmp(json_string_value(json_object_get(json_object_get(params, "entry"), "level")),
		    "error") == 0)) {
		char *all = json_dumps(params, 0);

		fprintf(stderr, "browser: %s\n", all);
		free(all);
		b->faults++;
	}
	if (strcmp(method, "Network.requestWillBeSent") != 0)
		return;
	text = json_string_value(json_object_get(json_object_get(params, "request"), "url"));
	if (text && strcmp(text, b->page) != 0) {
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
		assert_int_equal(poll(&p, 1, CLI_SECONDS * 1000), 1);
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

static void tell(struct browser *b, const char *method, json_t *params)
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

struct browser *browser_open(const char *path, const char *ready)
{
	struct browser *b = calloc(1, sizeof *b);
	json_t *answer, *target, *value = NULL;
	char *session;
	unsigned tries;

	assert_non_null(b);
	b->got = malloc(ROOM);
	assert_non_null(b->got);
	snprintf(b->page, sizeof b->page, "file://%s", path);
	start(b);
	target = ask(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
	answer = ask(b, "Target.attachToTarget",
		     json_pack("{s:O, s:b}", "targetId", json_object_get(target, "targetId"),
			       "flatten", 1));
	json_decref(target);
	session = strdup(json_string_value(json_object_get(answer, "sessionId")));
	json_decref(answer);
	b->session = session;
	tell(b, "Runtime.enable", NULL);
	tell(b, "Log.enable", NULL);
	tell(b, "Network.enable", NULL);
	tell(b, "Page.navigate", json_pack("{s:s}", "url", b->page));
	for (tries = 0; tries < CLI_SECONDS * 20; tries++) {
		const struct timespec pause = {0, 50000000};

		value = browser_value(b, ready);
		if (json_is_true(value))
			break;
		json_decref(value);
		value = NULL;
		nanosleep(&pause, NULL);
	}
	assert_true(json_is_true(value));
	json_decref(value);
	return b;
}

/* -- the mouse -- */

static void mouse(struct browser *b, const char *what, int x, int y, int buttons)
{
	tell(b, "Input.dispatchMouseEvent",
	     json_pack("{s:s, s:i, s:i, s:s, s:i, s:i}", "type", what, "x", x, "y", y, "button",
		       buttons ? "left" : "none", "buttons", buttons, "clickCount", buttons));
}

void browser_wheel(struct browser *b, int x, int y, int by)
{
	tell(b, "Input.dispatchMouseEvent",
	     json_pack("{s:s, s:i, s:i, s:i, s:i}", "type", "mouseWheel", "x", x, "y", y, "deltaX",
		       0, "deltaY", by));
}

void browser_click(struct browser *b, int x, int y)
{
	mouse(b, "mousePressed", x, y, 1);
	mouse(b, "mouseReleased", x, y, 1);
}

void browser_drag(struct browser *b, int x, int y, int by)
{
	mouse(b, "mousePressed", x, y, 1);
	mouse(b, "mouseMoved", x + by / 2, y, 1);
	mouse(b, "mouseMoved", x + by, y, 1);
	mouse(b, "mouseReleased", x + by, y, 1);
}

unsigned browser_faults(const struct browser *b)
{
	return b->faults;
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
	tell(b, "Browser.close", NULL);
	close(b->to);
	close(b->from);
	waitpid(b->pid, &status, 0);
	json_decref(b->text);
	free(b->got);
	free(b);
}
