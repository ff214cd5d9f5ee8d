/* SPDX-License-Identifier: MIT */
/*
 * programs.h - the programs of this user that can be asked
 *
 * Programs are searched for when a folder of sockets has changed, and not again and again.
 */
#ifndef SERVE_PROGRAMS_H
#define SERVE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fiberctl/serve/capture.h"
#include "tool/socket.h"

struct serve_desk;

/* A program, as the search finds it. */
struct serve_found {
	struct tool_socket socket;
	char name[64]; /* "": it has not answered */
	uint64_t started;
};

/* Whether its process is not there any more. False also for one that is not visible in our pid namespace. */
bool serve_found_has_ended(const struct serve_found *found);

struct serve_programs {
	struct serve_found *all;
	size_t count;
	const char *const *only; /* names and process ids that are served; NULL: all */
	struct serve_capture search;
	uint64_t folders;  /* a hash of the folders' state at the last search */
	int64_t looked_at; /* the last look at the folders, ns */
	int64_t search_began;
};

/* Search, and wait for the end of the search. False after a line on stderr. */
bool serve_programs_begin(struct serve_programs *programs, const char *const *only);

/*
 * Start another search if a folder has changed or a program has ended, at most once a second. now:
 * ns.
 */
void serve_programs_look(struct serve_programs *programs, int64_t now);

/* Take the result of a search that has ended. */
void serve_programs_take(struct serve_programs *programs);

/* The program of that process id, or the only one of that name. NULL: none, or *ret_several. */
const struct serve_found *serve_programs_find(const struct serve_programs *programs,
					      const char *who, bool *ret_several);

void serve_programs_end(struct serve_programs *programs);

#endif
