/* SPDX-License-Identifier: MIT */
/* crowd.c - what the fixtures crowd and spin say about their fibers */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/crowd.h"

struct crowd crowd_start(const struct harness_how *how, const char *program, const char *first,
			 const char *second)
{
	struct crowd crowd = {0};

	crowd.process = cli_start(how, "ready ", program, first, second, NULL);
	for (const char *at = crowd.process->out.bytes, *end; (end = strchr(at, '\n'));
	     at = end + 1) {
		struct crowd_member m;

		if (sscanf(at, "%" SCNu64 "\t%23[^\t]\t%31[^\t]\t%31[^\t]\t%31[^\n]", &m.id, m.kind,
			   m.object, m.holder, m.name) != 5)
			continue;
		crowd.members = realloc(crowd.members, (crowd.count + 1) * sizeof(m));
		assert_non_null(crowd.members);
		crowd.members[crowd.count++] = m;
	}
	assert_true(crowd.count > 0);
	return crowd;
}

void crowd_end(struct crowd *crowd)
{
	harness_free(crowd->process);
	free(crowd->members);
	*crowd = (struct crowd){0};
}

const struct crowd_member *crowd_find(const struct crowd *crowd, const char *kind,
				      const char *prefix)
{
	for (size_t i = 0; i < crowd->count; i++)
		if (!strcmp(crowd->members[i].kind, kind) &&
		    !strncmp(crowd->members[i].name, prefix, strlen(prefix)))
			return &crowd->members[i];
	print_error("no %s named %s*\n", kind, prefix);
	fail();
	return NULL;
}

size_t crowd_count(const struct crowd *crowd, const char *kind)
{
	size_t n = 0;

	for (size_t i = 0; i < crowd->count; i++)
		n += !strcmp(crowd->members[i].kind, kind);
	return n;
}

/* "fd-read-7" is of the same kind as "fd-read-18". */
static bool same_kind(const char *a, const char *b)
{
	const size_t length = (size_t)(strrchr(a, '-') - a) + 1;

	return !strncmp(a, b, length) && strrchr(b, '-') == b + length - 1;
}

size_t crowd_kinds(const struct crowd *crowd)
{
	size_t n = 0;

	for (size_t i = 0, k; i < crowd->count; i++) {
		for (k = 0; k < i; k++)
			if (same_kind(crowd->members[k].name, crowd->members[i].name))
				break;
		n += k == i;
	}
	return n;
}

bool crowd_walkable(const struct crowd_member *member)
{
	return strcmp(member->kind, "running") && strcmp(member->kind, "dead");
}
