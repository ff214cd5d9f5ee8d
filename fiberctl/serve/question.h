/* SPDX-License-Identifier: MIT */
/*
 * question.h - a command of fiberctl about one program, made from a request
 *
 * A question is the words of a command line without the program, separated by newlines:
 * "list\n--json\n--limit=100\n--where=state=running". Equal questions have equal texts.
 */
#ifndef SERVE_QUESTION_H
#define SERVE_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVE_QUESTION_MOST 1024 /* bytes */
#define SERVE_ROWS_MOST	    10000
#define SERVE_TOP_MOST	    1000 /* rows of top */
#define SERVE_WORDS	    32

/* The parameters of a request, decoded. */
#define SERVE_PARAMS 16
struct serve_params {
	size_t count;
	struct serve_param {
		const char *name, *value;
	} at[SERVE_PARAMS];
};

/* The value of a parameter; NULL: absent. */
const char *serve_params_get(const struct serve_params *params, const char *name);

/*
 * Make the question `fiberctl COMMAND --json` with these parameters, each of them the name of an
 * option that only selects what is shown. False: *why says what is wrong, and *ret_status is 400 or
 * 404.
 */
bool serve_question_make(const char *command, const struct serve_params *params,
			 char ret[SERVE_QUESTION_MOST], unsigned *ret_status, char why[256]);

/* The same for the commands that change something: cancel, wake, policy, watchdog. */
bool serve_question_change(const char *command, const struct serve_params *params,
			   char ret[SERVE_QUESTION_MOST], unsigned *ret_status, char why[256]);

/* Whether it is the command, as "top". */
bool serve_question_is(const char *question, const char *command);

/*
 * Which share of time a question uses. LIVE: it is of a live view, and the worker itself answers it
 * from a look at all fibers. METRICS: a monitoring system asks it, and takes a missing answer for a
 * fault of the program. The questions of one share never delay those of another.
 */
enum serve_share { SERVE_LIVE, SERVE_METRICS, SERVE_OTHER, SERVE_SHARES };
enum serve_share serve_question_share(const char *question);

/* The content type of its answer. */
const char *serve_question_type(const char *question);

/*
 * Split into argv with the tool's name, the program after the command, and NULL at the end. words:
 * a copy of the question, which argv points to.
 */
void serve_question_split(char *words, char *program, char *argv[SERVE_WORDS]);

#endif
