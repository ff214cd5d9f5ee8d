/* SPDX-License-Identifier: MIT */
/* answer.h - one answer to any number of requests */
#ifndef SERVE_ANSWER_H
#define SERVE_ANSWER_H

#include <jansson.h>
#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct serve_answer {
	unsigned uses; /* freed when the last user drops it */
	unsigned status;
	uint64_t look; /* counts the looks at a program; 0: it is of none */
	const char *body;
	size_t size;
	size_t owned;		       /* bytes of the body that are freed with it */
	struct MHD_Response *response; /* owns the body */
};

/* For every answer of JSON. */
#define SERVE_JSON "application/json"
#define SERVE_TEXT "text/plain; charset=utf-8"

/*
 * Make an answer with one user. Takes over body, which was allocated; NULL: no memory. type: of the
 * content. look: the header X-Fiber-Look; 0: none. NULL: no memory.
 */
struct serve_answer *serve_answer_new(unsigned status, const char *type, char *body, size_t size,
				      uint64_t look);

/* The same for bytes that stay valid for ever. */
struct serve_answer *serve_answer_static(const char *type, const char *body, size_t size);

/* The same for an object, taken over. */
struct serve_answer *serve_answer_json(unsigned status, json_t *object);

/* The text of an object, which is taken over; allocated. NULL: no memory. */
char *serve_json(json_t *object, size_t *ret_size);

/* {"error": {"status": N, "text": "..."}}, printf style. */
struct serve_answer *serve_answer_error(unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Add a header to this answer only. */
void serve_answer_header(struct serve_answer *answer, const char *name, const char *value);

/* Allow the styles that are inside this page. NULL: nothing. */
void serve_answer_own_styles(struct serve_answer *answer);

/* The bytes of all answers that exist, but for those of serve_answer_static(). */
size_t serve_answer_bytes(void);

struct serve_answer *serve_answer_use(struct serve_answer *answer); /* NULL: NULL */
void serve_answer_drop(struct serve_answer *answer);		    /* NULL: nothing */

#endif
