/* SPDX-License-Identifier: MIT */
/*
 * recordings.c - recordings that viewers have started, as files in a folder of this process
 *
 * The page of a report is one file with its script inside. This server allows no script inside a
 * page, so the script is served as a file of its own. It is always the same text, and the data
 * before it has no "<" (inspect/render/render_page.c): the last script of the page is that text.
 */
#include "fiberctl/serve/recordings.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inspect/render/render.h"
#include "tool/tool.h"

#define FILE_MOST   (256u << 20) /* bytes of a recording */
#define RECORD_REST INT64_C(30000000000)
#define SHOW_TIME   INT64_C(60000000000)

static const char *const states[] = {"running", "done", "failed"};

static void file_of(const struct serve_recordings *r, unsigned id, char path[96])
{
	snprintf(path, 96, "%s/%u.rec", r->folder, id);
}

static bool need_folder(struct serve_recordings *r)
{
	const char *parent = getenv("XDG_RUNTIME_DIR");
	char folder[sizeof r->folder];

	if (r->folder[0])
		return true;
	if (!parent || strlen(parent) > 32)
		parent = "/tmp";
	snprintf(folder, sizeof folder, "%s/fiberctl-serve-XXXXXX", parent);
	if (!mkdtemp(folder))
		return false;
	memcpy(r->folder, folder, sizeof folder);
	return true;
}

/*
 * Remove the file of a recording. fibertrace writes to ID.rec.XXXXXX and renames it at the end, so one
 * that was killed has left that.
 */
static void remove_files(const struct serve_recordings *r, unsigned id)
{
	char path[sizeof r->folder + 256], name[24];
	const int n = snprintf(name, sizeof name, "%u.rec", id);
	DIR *folder = opendir(r->folder);
	struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		snprintf(path, sizeof path, "%s/%.200s", r->folder, entry->d_name);
		if (strncmp(entry->d_name, name, (size_t)n) == 0)
			unlink(path);
	}
	if (folder)
		closedir(folder);
}

static void forget(struct serve_recordings *r, unsigned i)
{
	remove_files(r, r->at[i]->id);
	free(r->at[i]);
	memmove(&r->at[i], &r->at[i + 1], (--r->count - i) * sizeof r->at[0]);
}

/* Make room for one more. False: all of them are running. */
static bool need_room(struct serve_recordings *r)
{
	unsigned i;

	for (i = 0; r->count == SERVE_RECORDINGS && i < r->count; i++)
		if (r->at[i]->state != SERVE_RECORDING_RUNS)
			forget(r, i);
	return r->count < SERVE_RECORDINGS;
}

static bool is_recorded(const struct serve_recordings *r, int pid)
{
	unsigned i;

	for (i = 0; i < r->count; i++)
		if (r->at[i]->pid == pid && r->at[i]->state == SERVE_RECORDING_RUNS)
			return true;
	return false;
}

static void recorded(void *context, int code, const char *errors)
{
	struct serve_recording *one = context;

	one->state = code == TOOL_WELL || code == TOOL_PARTIAL ? SERVE_RECORDING_DONE
							       : SERVE_RECORDING_FAILED;
	serve_capture_line(errors, one->text, sizeof one->text);
	if (one->state == SERVE_RECORDING_FAILED)
		remove_files(one->all, one->id);
}

static json_t *object_of(const struct serve_recording *one)
{
	return json_pack("{s:i, s:i, s:o, s:I, s:i, s:s, s:o}", "id", (int)one->id, "pid", one->pid,
			 "name", ins_json_text(one->name), "startedNs", (json_int_t)one->started,
			 "seconds", (int)one->seconds, "state", states[one->state], "text",
			 ins_json_text(one->text));
}

static bool run(struct serve_recordings *r, struct serve_errands *errands,
		struct serve_recording *one, int64_t now)
{
	char pid[16], time[32], path[96], name[] = "fibertrace", what[] = "record", to[] = "-o";
	char *argv[] = {name, what, pid, time, to, path, NULL};
	const struct serve_errand_how how = {
		.argv = argv,
		.time = one->seconds * INT64_C(1000000000) + RECORD_REST,
		.most = FILE_MOST,
		.ended = recorded,
		.context = one,
	};

	snprintf(pid, sizeof pid, "%d", one->pid);
	snprintf(time, sizeof time, "--for=%us", one->seconds);
	file_of(r, one->id, path);
	return serve_errand_start(errands, &how, NULL, now);
}

struct serve_answer *serve_recordings_start(struct serve_recordings *r,
					    struct serve_errands *errands,
					    const struct serve_found *program, unsigned seconds,
					    int64_t now)
{
	struct serve_recording *one;
	struct timespec wall;

	if (is_recorded(r, program->socket.pid))
		return serve_answer_error(MHD_HTTP_CONFLICT, "process %d: is being recorded",
					  (int)program->socket.pid);
	if (!need_folder(r))
		return serve_answer_error(MHD_HTTP_INTERNAL_SERVER_ERROR,
					  "cannot make a folder for recordings: %s",
					  strerror(errno));
	one = need_room(r) ? calloc(1, sizeof *one) : NULL;
	if (!one)
		return serve_answer_error(MHD_HTTP_SERVICE_UNAVAILABLE,
					  "too many recordings at once: try again");
	clock_gettime(CLOCK_REALTIME, &wall);
	one->all = r;
	one->id = ++r->last;
	one->pid = program->socket.pid;
	snprintf(one->name, sizeof one->name, "%s", program->name);
	one->started = wall.tv_sec * INT64_C(1000000000) + wall.tv_nsec;
	one->seconds = seconds;
	r->at[r->count++] = one;
	if (run(r, errands, one, now))
		return serve_answer_json(MHD_HTTP_ACCEPTED, object_of(one));
	forget(r, r->count - 1);
	return serve_answer_error(MHD_HTTP_SERVICE_UNAVAILABLE, "too much runs at once: try again");
}

struct serve_answer *serve_recordings_list(const struct serve_recordings *r)
{
	json_t *list = json_array();
	unsigned i;

	for (i = 0; i < r->count; i++)
		json_array_append_new(list, object_of(r->at[i]));
	return serve_answer_json(MHD_HTTP_OK,
				 json_pack("{s:i, s:o}", "schemaVersion", 1, "recordings", list));
}

void serve_recordings_show(struct serve_recordings *r, struct serve_errands *errands, unsigned id,
			   enum serve_recording_as as, struct serve_waiter *w, int64_t now)
{
	const bool report = as == SERVE_RECORDING_REPORT;
	char path[96], name[] = "fibertrace", what[8], form[16];
	char *argv[] = {name, what, form, path, NULL};
	const struct serve_errand_how how = {
		.argv = argv,
		.type = report ? "text/html; charset=utf-8" : SERVE_JSON,
		.time = SHOW_TIME,
		.most = SERVE_OUTPUT_MOST,
	};
	unsigned i;

	for (i = 0; i < r->count && r->at[i]->id != id; i++)
		;
	if (i == r->count || r->at[i]->state != SERVE_RECORDING_DONE) {
		w->done(w, serve_answer_error(MHD_HTTP_NOT_FOUND,
					      i == r->count ? "there is no such recording"
							    : "the recording is not done"));
		return;
	}
	snprintf(what, sizeof what, "%s", report ? "report" : "export");
	snprintf(form, sizeof form, "%s", report ? "--html" : "--perfetto");
	file_of(r, id, path);
	if (!serve_errand_start(errands, &how, w, now))
		w->done(w, serve_answer_error(MHD_HTTP_SERVICE_UNAVAILABLE,
					      "too much runs at once: try again"));
}

/* Write `page` without the part from `from` up to the end of `to`, but with `instead`. */
static const char *cut(FILE *out, const char *page, const char *from, const char *to,
		       const char *instead)
{
	const char *end = from ? strstr(from, to) : NULL;

	if (!end)
		return page;
	fwrite(page, 1, (size_t)(from - page), out);
	fputs(instead, out);
	return end + strlen(to);
}

struct serve_answer *serve_recordings_page(struct serve_answer *page)
{
	static const char script[] = "<script>", rules[] = "<meta http-equiv=";
	const char *at = NULL, *next, *rest;
	struct serve_answer *ret;
	char *body = NULL;
	size_t size = 0;
	FILE *out;

	if (!page || page->status != MHD_HTTP_OK)
		return page;
	out = open_memstream(&body, &size);
	if (!out)
		return page;
	for (next = page->body; (next = strstr(next, script)); next++)
		at = next;
	/* Its own rules are for a file that is opened without a server. */
	rest = cut(out, page->body, strstr(page->body, rules), ">",
		   "<link rel=\"icon\" href=\"/favicon.svg\">");
	rest = cut(out, rest, at, "</script>", "<script src=\"/report.js\"></script>");
	fputs(rest, out);
	if (fclose(out) != 0) {
		free(body);
		body = NULL;
	}
	ret = serve_answer_new(MHD_HTTP_OK, "text/html; charset=utf-8", body, size, 0);
	serve_answer_own_styles(ret);
	serve_answer_drop(page);
	return ret;
}

void serve_recordings_end(struct serve_recordings *r)
{
	while (r->count)
		forget(r, r->count - 1);
	if (r->folder[0])
		rmdir(r->folder);
	r->folder[0] = 0;
}
