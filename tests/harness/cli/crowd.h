/* SPDX-License-Identifier: MIT */
/* crowd.h - what the fixtures crowd and spin say about their fibers. */
#ifndef HARNESS_CLI_CROWD_H
#define HARNESS_CLI_CROWD_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

struct crowd_member {
	uint64_t id;
	char kind[24];	 /* a wait kind, or created, dead, running */
	char object[32]; /* name, descriptor or joined id; "-": none */
	char holder[32]; /* fiber id, "thread:TID"; "-": none */
	char name[32];
	int64_t since; /* ns of the monotonic clock; 0: it does not wait, or it is not known */
};

struct crowd {
	struct harness_process *process;
	struct crowd_member *members;
	size_t count;
};

/* Start `program` (crowd, spin, or a path) with up to two arguments, wait until it is ready, read its lines. */
struct crowd crowd_start(const struct harness_how *how, const char *program, const char *first,
			 const char *second);

/* Assert that a fiber of an answer is what the crowd says of it: name, state, wait, object, holder. */
void crowd_agree(const struct crowd_member *member, const json_t *fiber);
/* The same of one that was started and is ready. */
struct crowd crowd_of(struct harness_process *process);

/* Assert that every member that is walkable is in an answer of --each, under its name and with a whole walk. */
void crowd_walked(const struct crowd *crowd, const json_t *answer);

/* End it and free the members. */
void crowd_end(struct crowd *crowd);

/* The first member of a kind whose name starts with prefix; asserts that there is one. */
const struct crowd_member *crowd_find(const struct crowd *crowd, const char *kind,
				      const char *prefix);

/* How many members are of a kind, and how many kinds of member there are, told apart by their names. */
size_t crowd_count(const struct crowd *crowd, const char *kind);
size_t crowd_kinds(const struct crowd *crowd);

/* Whether its stack exists and holds still: neither running nor dead. */
bool crowd_walkable(const struct crowd_member *member);

#endif
