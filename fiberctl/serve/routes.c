/* SPDX-License-Identifier: MIT */
/*
 * routes.c - which answer belongs to which path
 *
 * GET looks and never changes anything. Each POST is a change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fiberctl/serve/assets.h"
#include "fiberctl/serve/server.h"
#include "inspect/render/render.h"
#include "inspect/text/escape.h"
#include "tool/tool.h"

#define PATH_MOST    512
#define PROFILE_MOST 300 /* s */
#define SECOND	     INT64_C(1000000000)

/* One request on its way through the table. */
struct route {
	struct serve_server *server;
	struct serve_request *request;
	char *segment[8]; /* of the path, after the route's own prefix */
	unsigned segments;
	int64_t now;
};

static void answer(const struct route *r, struct serve_answer *answer)
{
	r->request->waiter.done(&r->request->waiter, answer);
}

static void refuse(const struct route *r, unsigned status, const char *why)
{
	answer(r, serve_answer_error(status, "%s", why));
}

static bool no_params(const struct route *r)
{
	if (!r->request->params.count)
		return true;
	refuse(r, MHD_HTTP_BAD_REQUEST, "this path has no parameters");
	return false;
}

/* The program that `who` names; NULL after an answer. */
static const struct serve_found *program(const struct route *r, const char *who)
{
	char clean[128];
	bool several;
	const struct serve_found *found =
		serve_programs_find(&r->server->desk.programs, who, &several);

	if (!found)
		answer(r,
		       serve_answer_error(several ? MHD_HTTP_CONFLICT : MHD_HTTP_NOT_FOUND,
					  several ? "%s: several programs have that name: give a "
						    "process id"
						  : "%s: no such program of this user with a "
						    "control socket",
					  ins_escape(who, clean, sizeof clean)));
	return found;
}

/* -- what is known here -- */

static void session(const struct route *r)
{
	const struct serve_access *access = &r->server->access;

	answer(r, serve_answer_json(MHD_HTTP_OK,
				    json_pack("{s:s, s:b, s:o}", "version", FIBER_VERSION,
					      "allowChanges", access->changes, "token",
					      access->changes ? json_string(access->page_token)
							      : json_null())));
}

static void health(const struct route *r)
{
	char *text = strdup("ok\n");

	answer(r, serve_answer_new(MHD_HTTP_OK, SERVE_TEXT, text, text ? 3 : 0, 0));
}

static void metrics(const struct route *r)
{
	if (no_params(r))
		serve_gather_ask(&r->server->gathers, &r->server->desk, SERVE_GATHER_METRICS,
				 &r->request->waiter, r->now);
}

static void processes(const struct route *r)
{
	if (no_params(r))
		serve_gather_ask(&r->server->gathers, &r->server->desk, SERVE_GATHER_PROCESSES,
				 &r->request->waiter, r->now);
}

static void recordings(const struct route *r)
{
	if (no_params(r))
		answer(r, serve_recordings_list(&r->server->recordings));
}

/* /recordings/ID/report.html, /recordings/ID/timeline.json */
static void recording(const struct route *r)
{
	uint64_t id;
	const bool report = r->segments == 2 && strcmp(r->segment[1], "report.html") == 0;
	const bool timeline = r->segments == 2 && strcmp(r->segment[1], "timeline.json") == 0;

	if (!(report || timeline) || !tool_parse_number(r->segment[0], 1, UINT32_MAX, &id)) {
		refuse(r, MHD_HTTP_NOT_FOUND, "there is nothing at this path");
		return;
	}
	r->request->page = report;
	serve_recordings_show(&r->server->recordings, &r->server->errands, (unsigned)id,
			      report ? SERVE_RECORDING_REPORT : SERVE_RECORDING_TIMELINE,
			      &r->request->waiter, r->now);
}

static void history(const struct route *r, const struct serve_found *found)
{
	static const struct serve_history empty;
	const struct serve_history *history = serve_desk_history(&r->server->desk, found);
	char *text =
		serve_history_json(history ? history : &empty, (int)found->socket.pid, found->name);

	answer(r, serve_answer_new(MHD_HTTP_OK, SERVE_JSON, text, text ? strlen(text) : 0, 0));
}

/* -- questions -- */

static void ask(const struct route *r, const struct serve_found *found, const char *command)
{
	const char *after = serve_params_get(&r->request->params, "after");
	char question[SERVE_QUESTION_MOST], why[256];
	unsigned status;

	if (after && !tool_parse_number(after, 0, UINT64_MAX, &r->request->waiter.after)) {
		refuse(r, MHD_HTTP_BAD_REQUEST, "after: is no number");
		return;
	}
	if (serve_question_make(command, &r->request->params, question, &status, why))
		serve_desk_ask(&r->server->desk, found, question, &r->request->waiter, r->now);
	else
		refuse(r, status, why);
}

/* One fiber's stack with the lines of source around each place, as text: ?id=ID&lines=5 */
static void source(const struct route *r, const struct serve_found *found)
{
	const struct serve_params *params = &r->request->params;
	const char *id = serve_params_get(params, "id"), *lines = serve_params_get(params, "lines");
	char question[SERVE_QUESTION_MOST];
	uint64_t fiber = 0, around = 5;

	if (!id || !tool_parse_id(id, &fiber)) {
		refuse(r, MHD_HTTP_BAD_REQUEST, "id: the number of a fiber is needed");
		return;
	}
	if (params->count > (lines ? 2 : 1) ||
	    (lines && !tool_parse_number(lines, 1, 100, &around))) {
		refuse(r, MHD_HTTP_BAD_REQUEST, "lines: 1 to 100, and no other parameter");
		return;
	}
	snprintf(question, sizeof question, "bt\n%llu\n--source=%llu\n--color=never",
		 (unsigned long long)fiber, (unsigned long long)around);
	serve_desk_ask(&r->server->desk, found, question, &r->request->waiter, r->now);
}

/* /api/v1/processes/PROGRAM/COMMAND */
static void about(const struct route *r)
{
	const struct serve_found *found = r->segments == 2 ? program(r, r->segment[0]) : NULL;

	if (r->segments != 2)
		refuse(r, MHD_HTTP_NOT_FOUND, "there is nothing at this path");
	else if (found && strcmp(r->segment[1], "history") == 0)
		history(r, found);
	else if (found && strcmp(r->segment[1], "source") == 0)
		source(r, found);
	else if (found)
		ask(r, found, r->segment[1]);
}

/* -- profiles -- */

/* The program of a request for a profile: named, or the only one. */
static const struct serve_found *profiled(const struct route *r)
{
	const struct serve_programs *programs = &r->server->desk.programs;
	const char *who = serve_params_get(&r->request->params, "process");

	if (who)
		return program(r, who);
	if (programs->count == 1)
		return &programs->all[0];
	refuse(r, MHD_HTTP_BAD_REQUEST, "process: is needed: a process id or a name");
	return NULL;
}

static bool seconds_of(const struct route *r, uint64_t most, uint64_t fallback, uint64_t *ret)
{
	const char *text = serve_params_get(&r->request->params, "seconds");

	*ret = fallback;
	if (!text || tool_parse_number(text, 1, most, ret))
		return true;
	answer(r, serve_answer_error(MHD_HTTP_BAD_REQUEST, "seconds: must be 1 to %u",
				     (unsigned)most));
	return false;
}

static void sample(const struct route *r, const struct serve_found *found, const char *mode)
{
	char name[] = "fiberctl", command[] = "profile", to[] = "--output=-", pid[16], time[32],
	     what[16];
	char *argv[] = {name, command, pid, what, time, to, NULL};
	struct serve_errand_how how = {
		.argv = argv, .type = "application/octet-stream", .most = SERVE_OUTPUT_MOST};
	uint64_t seconds;

	if (!seconds_of(r, PROFILE_MOST, 10, &seconds))
		return;
	snprintf(pid, sizeof pid, "%d", (int)found->socket.pid);
	snprintf(time, sizeof time, "--for=%us", (unsigned)seconds);
	snprintf(what, sizeof what, "--%s", mode);
	how.time = (int64_t)(seconds + 30) * SECOND;
	if (!serve_errand_start(&r->server->errands, &how, &r->request->waiter, r->now))
		refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too much runs at once: try again");
}

/* The stacks of all fibers now; debug=1: as groups of text; 2: each of them. */
static void stacks(const struct route *r, const struct serve_found *found)
{
	const char *debug = serve_params_get(&r->request->params, "debug");
	const char *question = !debug || strcmp(debug, "0") == 0 ? "stacks\n--pprof=-"
			       : strcmp(debug, "1") == 0	 ? "stacks"
			       : strcmp(debug, "2") == 0	 ? "bt\n--all"
								 : NULL;

	if (question)
		serve_desk_ask(&r->server->desk, found, question, &r->request->waiter, r->now);
	else
		refuse(r, MHD_HTTP_BAD_REQUEST, "debug: must be 0, 1 or 2");
}

static void index_of_profiles(const struct route *r)
{
	static const char text[] =
		"fiber    the stacks of all fibers now; ?debug=1 groups, ?debug=2 each, as text\n"
		"profile  where carriers computed, ?seconds=10\n"
		"block    where fibers waited, ?seconds=10\n"
		"mutex    where fibers waited for what others held, and behind whom, ?seconds=10\n"
		"\n"
		"?process=PID or NAME, if more than one program is served.\n";

	answer(r, serve_answer_static(SERVE_TEXT, text, sizeof text - 1));
}

static void profile(const struct route *r)
{
	static const struct {
		const char *name, *mode;
	} modes[] = {{"profile", "cpu"}, {"block", "wait"}, {"mutex", "block"}};
	const char *name = r->segments == 1 ? r->segment[0] : "";
	const struct serve_found *found;
	size_t i;

	if (r->segments == 0) {
		index_of_profiles(r);
		return;
	}
	for (i = 0; i < 3 && strcmp(name, modes[i].name) != 0; i++)
		;
	if (i == 3 && strcmp(name, "fiber") != 0) {
		refuse(r, MHD_HTTP_NOT_FOUND, "there is no such profile");
		return;
	}
	found = profiled(r);
	if (found && i == 3)
		stacks(r, found);
	else if (found)
		sample(r, found, modes[i].mode);
}

/* -- changes -- */

static void record(const struct route *r, const struct serve_found *found)
{
	uint64_t seconds;

	if (seconds_of(r, SERVE_RECORDING_LONGEST, 5, &seconds))
		answer(r, serve_recordings_start(&r->server->recordings, &r->server->errands, found,
						 (unsigned)seconds, r->now));
}

/* A change is no question: equal ones are not the same, and none waits for a turn. */
static void change(const struct route *r)
{
	const struct serve_found *found = r->segments == 2 ? program(r, r->segment[0]) : NULL;
	char words[SERVE_QUESTION_MOST], why[256], pid[16], *argv[SERVE_WORDS];
	const struct serve_errand_how how = {
		.argv = argv, .type = SERVE_JSON, .time = 10 * SECOND, .most = SERVE_OUTPUT_MOST};
	unsigned status;

	if (r->segments != 2) {
		refuse(r, MHD_HTTP_NOT_FOUND, "there is nothing at this path");
		return;
	}
	if (!found)
		return;
	if (strcmp(r->segment[1], "recordings") == 0) {
		record(r, found);
		return;
	}
	if (!serve_question_change(r->segment[1], &r->request->params, words, &status, why)) {
		refuse(r, status, why);
		return;
	}
	snprintf(pid, sizeof pid, "%d", (int)found->socket.pid);
	serve_question_split(words, pid, argv);
	if (!serve_errand_start(&r->server->errands, &how, &r->request->waiter, r->now))
		refuse(r, MHD_HTTP_SERVICE_UNAVAILABLE, "too much runs at once: try again");
}

/* -- the table -- */

static const struct {
	const char *prefix; /* with '/' at its end: more segments follow */
	void (*go)(const struct route *r);
	bool post;
} routes[] = {
	{"/healthz", health, false},
	{"/metrics", metrics, false},
	{"/api/v1/session", session, false},
	{"/api/v1/processes", processes, false},
	{"/api/v1/processes/", about, false},
	{"/api/v1/processes/", change, true},
	{"/api/v1/recordings", recordings, false},
	{"/recordings/", recording, false},
	{"/debug/pprof/", profile, false},
};

static bool has_prefix(const char *path, const char *prefix)
{
	const size_t n = strlen(prefix);

	return prefix[n - 1] == '/' ? strncmp(path, prefix, n) == 0 : strcmp(path, prefix) == 0;
}

static void split(struct route *r, char *rest)
{
	char *segment;

	while ((segment = strsep(&rest, "/")) && r->segments < 8)
		if (*segment)
			r->segment[r->segments++] = segment;
}

bool serve_is_open(const char *path)
{
	return serve_asset(path) != NULL || strcmp(path, "/healthz") == 0;
}

void serve_route(struct serve_server *server, struct serve_request *request, const char *path,
		 bool post, int64_t now)
{
	struct route r = {.server = server, .request = request, .now = now};
	char copy[PATH_MOST];
	bool other = false;
	size_t i;

	if (!post && serve_asset(path)) {
		answer(&r, serve_answer_use(serve_asset(path)));
		return;
	}
	snprintf(copy, sizeof copy, "%s", path);
	for (i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		if (!has_prefix(path, routes[i].prefix))
			continue;
		other = routes[i].post != post;
		if (other)
			continue;
		split(&r, copy + strlen(routes[i].prefix));
		routes[i].go(&r);
		return;
	}
	refuse(&r, other ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
	       other ? "not with this method" : "there is nothing at this path");
}
