/* SPDX-License-Identifier: MIT */
/*
 * answer.c - one answer to any number of requests
 *
 * The headers make a browser treat every answer as data of this server alone: no script but the
 * files of the page, no frame, no guess of the content's type, no copy that another page can read.
 */
#include "fiberctl/serve/answer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "inspect/render/render.h"
#include "inspect/text/json_put.h"

#define POLICY(styles)                                                                  \
	"default-src 'none'; script-src 'self'; style-src " styles "; img-src 'self'; " \
	"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

static const char policy[] = POLICY("'self'");

static const struct {
	const char *name, *value;
} headers[] = {
	{"Content-Security-Policy", policy},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
};

static size_t bytes; /* of all answers */

static struct serve_answer *make(unsigned status, const char *type, const char *body, size_t size,
				 struct MHD_Response *response)
{
	struct serve_answer *answer = response ? malloc(sizeof *answer) : NULL;
	size_t i;

	if (!answer) {
		if (response)
			MHD_destroy_response(response);
		return NULL;
	}
	*answer = (struct serve_answer){
		.uses = 1, .status = status, .body = body, .size = size, .response = response};
	for (i = 0; i < sizeof headers / sizeof headers[0]; i++)
		serve_answer_header(answer, headers[i].name, headers[i].value);
	serve_answer_header(answer, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	return answer;
}

struct serve_answer *serve_answer_new(unsigned status, const char *type, char *body, size_t size,
				      uint64_t look)
{
	struct MHD_Response *response =
		body ? MHD_create_response_from_buffer_with_free_callback(size, body, free) : NULL;
	struct serve_answer *answer = make(status, type, body, size, response);
	char number[24];

	if (!response)
		free(body);
	if (answer) {
		answer->owned = size;
		bytes += size;
	}
	if (answer && look) {
		answer->look = look;
		snprintf(number, sizeof number, "%" PRIu64, look);
		serve_answer_header(answer, "X-Fiber-Look", number);
	}
	return answer;
}

struct serve_answer *serve_answer_static(const char *type, const char *body, size_t size)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		size, (void *)(uintptr_t)body, MHD_RESPMEM_PERSISTENT);

	return make(MHD_HTTP_OK, type, body, size, response);
}

char *serve_json(json_t *object, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = object ? open_memstream(&text, ret_size) : NULL;

	if (out && ins_json_put(out, object) < 0) {
		fclose(out);
		free(text);
		out = NULL;
		text = NULL;
	}
	if (out && fclose(out) != 0)
		text = NULL;
	json_decref(object);
	return text;
}

struct serve_answer *serve_answer_json(unsigned status, json_t *object)
{
	size_t size = 0;
	char *text = serve_json(object, &size);

	return serve_answer_new(status, SERVE_JSON, text, size, 0);
}

struct serve_answer *serve_answer_error(unsigned status, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return serve_answer_json(status, json_pack("{s:{s:i, s:o}}", "error", "status", (int)status,
						   "text", ins_json_text(text)));
}

void serve_answer_header(struct serve_answer *answer, const char *name, const char *value)
{
	if (answer)
		MHD_add_response_header(answer->response, name, value);
}

void serve_answer_own_styles(struct serve_answer *answer)
{
	if (!answer)
		return;
	MHD_del_response_header(answer->response, "Content-Security-Policy", policy);
	serve_answer_header(answer, "Content-Security-Policy", POLICY("'self' 'unsafe-inline'"));
}

struct serve_answer *serve_answer_use(struct serve_answer *answer)
{
	if (answer)
		answer->uses++;
	return answer;
}

void serve_answer_drop(struct serve_answer *answer)
{
	if (!answer || --answer->uses)
		return;
	bytes -= answer->owned;
	MHD_destroy_response(answer->response);
	free(answer);
}

size_t serve_answer_bytes(void)
{
	return bytes;
}
