/* SPDX-License-Identifier: MIT */
/* mixed.h - run the fixture mixed, whose fibers and threads wait for each other, and ask about it */
#ifndef HARNESS_CLI_MIXED_H
#define HARNESS_CLI_MIXED_H

#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/json.h"

/* Start the fixture mixed with these words. */
static inline struct crowd mixed_start(const char *line)
{
	char words[128], *word[9] = {NULL}, *rest = words;
	unsigned n = 0;

	snprintf(words, sizeof(words), "%s", line);
	while (n < 8 && (word[n] = strtok_r(rest, " ", &rest)))
		n++;
	return crowd_of(cli_start(NULL, "ready ", "mixed", word[0], word[1], word[2], word[3],
				  word[4], word[5], word[6], word[7], NULL));
}

static inline const char *mixed_pid(const struct crowd *crowd)
{
	return cli_number((uint64_t)crowd->process->pid);
}

/* The answer of a command; code: its exit status. */
static inline json_t *mixed_answer(const char *command, const char *target, int code)
{
	struct harness_process *p = cli_run("fibertrace", command, target, "--json", NULL);
	json_t *answer;

	cli_expect(p, code);
	answer = json_answer(p);
	harness_free(p);
	return answer;
}

static inline size_t mixed_size(const json_t *object, const char *key)
{
	return json_array_size(json_object_get(object, key));
}

static inline bool mixed_has(const json_t *ids, uint64_t id)
{
	for (size_t i = 0; i < json_array_size(ids); i++)
		if ((uint64_t)json_integer_value(json_array_get(ids, i)) == id)
			return true;
	return false;
}

/* Assert that the finding has all parties, and so many carriers besides. */
static inline void mixed_all_in(const struct crowd *crowd, const json_t *finding, size_t carriers)
{
	size_t fibers = 0;

	for (size_t i = 0; i < crowd->count; i++) {
		const struct crowd_member *m = &crowd->members[i];
		const bool thread = !strcmp(m->kind, "thread");

		fibers += !thread;
		assert_true(mixed_has(json_object_get(finding, thread ? "threadIds" : "fiberIds"),
				      m->id));
	}
	assert_int_equal(mixed_size(finding, "fiberIds"), fibers);
	assert_int_equal(mixed_size(finding, "threadIds"), crowd->count - fibers + carriers);
	assert_int_equal(json_int(finding, "count"), crowd->count + carriers);
	assert_int_equal(mixed_size(finding, "fibers"), crowd->count + carriers);
}

/* Write a snapshot. Returns its path. */
static inline const char *mixed_snapshot(const struct crowd *crowd, char path[HARNESS_PATH])
{
	struct harness_process *p = cli_run("fiberctl", "snapshot", mixed_pid(crowd), "--force",
					    "-o", harness_file(path, "snap"), NULL);

	/* A running or pinned fiber has no stack in it: the exit status may be 1. */
	assert_in_range(harness_exit_code(p), 0, 1);
	harness_free(p);
	return path;
}

/* Call look for the process, for a snapshot, and for its core. */
static inline void mixed_look_everywhere(struct crowd *crowd, size_t carriers,
					 void (*look)(const struct crowd *, const char *, size_t))
{
	char core[HARNESS_PATH] = "", snapshot[HARNESS_PATH];

	look(crowd, mixed_snapshot(crowd, snapshot), carriers);
	look(crowd, mixed_pid(crowd), carriers);
	if (!*harness_sanitizer()) {
		cli_core(crowd->process->pid, "core", core);
		look(crowd, core, carriers);
	}
	crowd_end(crowd);
}

#endif
