/* SPDX-License-Identifier: MIT */
/*
 * mappings.c - read smaps or maps: an address line starts a mapping, "VmFlags:" belongs to the
 * mapping before it
 */
#include "inspect/elf/mappings.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char gone[] = " (deleted)";

/* Make room for one more. */
static int grow(struct ins_mappings *m)
{
	struct ins_mapping *more;

	if (m->count & (m->count - 1) || m->count == 1)
		return 0; /* the array doubles when count is a power of two */
	more = realloc(m->at, (m->count ? m->count * 2 : 2) * sizeof *more);
	if (!more)
		return -ENOMEM;
	m->at = more;
	return 0;
}

/* Parse a line "start-end rwxp offset dev inode path". Returns 1 if it is one and was added. */
static int take_line(struct ins_mappings *m, char *line)
{
	struct ins_mapping one = {0};
	char rights[5];
	size_t size;
	int at = 0, rc;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n",
		   &one.start, &one.end, rights, &one.offset, &one.inode, &at) < 5 ||
	    !at || one.end <= one.start)
		return 0;
	line += at;
	line[strcspn(line, "\n")] = 0;
	size = strlen(line);
	if (size >= sizeof gone && strcmp(line + size - (sizeof gone - 1), gone) == 0) {
		one.deleted = true;
		line[size - (sizeof gone - 1)] = 0;
	}
	one.flags = (rights[0] == 'r' ? PF_R : 0) | (rights[1] == 'w' ? PF_W : 0) |
		    (rights[2] == 'x' ? PF_X : 0);
	one.shared = rights[3] == 's';
	rc = grow(m);
	if (rc < 0)
		return rc;
	one.path = strdup(line);
	if (!one.path)
		return -ENOMEM;
	m->at[m->count++] = one;
	return 1;
}

/* "VmFlags: rd wr mr dd ": words of two letters. */
static void take_flags(struct ins_mapping *one, const char *line)
{
	static const char key[] = "VmFlags:";

	if (strncmp(line, key, sizeof key - 1) != 0)
		return;
	if (strstr(line, " dd") || strstr(line, " io"))
		one->withheld = true;
}

int ins_mappings_parse(FILE *text, struct ins_mappings *ret)
{
	size_t room = 0;
	char *line = NULL;
	int rc = 0;

	while (rc >= 0 && getline(&line, &room, text) > 0) {
		rc = take_line(ret, line);
		if (rc == 0 && ret->count)
			take_flags(&ret->at[ret->count - 1], line);
	}
	free(line);
	return rc < 0 ? rc : 0;
}

int ins_mappings_read(pid_t pid, struct ins_mappings *ret, struct ins_error *error)
{
	static const char *const files[] = {"smaps", "maps"};
	char path[64];
	size_t i;
	int rc = 0;

	memset(ret, 0, sizeof *ret);
	for (i = 0; i < 2 && !ret->count; i++) {
		FILE *f;

		snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, files[i]);
		f = fopen(path, "re");
		if (!f) {
			rc = -errno;
			continue;
		}
		rc = ins_mappings_parse(f, ret);
		fclose(f);
		if (rc < 0)
			return ins_error_set(error, rc, "out of memory");
	}
	if (ret->count)
		return 0;
	return ins_error_set(error, rc < 0 ? rc : -ESRCH, "process %d: %s: %s", (int)pid, path,
			     rc < 0 ? strerror(-rc) : "is empty: it is ending");
}

void ins_mappings_free(struct ins_mappings *mappings)
{
	size_t i;

	for (i = 0; i < mappings->count; i++)
		free(mappings->at[i].path);
	free(mappings->at);
	mappings->at = NULL;
	mappings->count = 0;
}
