/* SPDX-License-Identifier: MIT */
/*
 * regions.c - the readable memory of a live process, and the words that the kernel keeps for it
 *
 * maps is read and not smaps: smaps walks all page tables of the process. For an epoll descriptor
 * fdinfo has a line "tfd: 5 events: 19 data: 7f.. " for each descriptor in it.
 */
#include "inspect/process/regions.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/elf/mappings.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"

/* Reading the memory of a device may have an effect. */
static bool is_device(const struct ins_mapping *m)
{
	return strncmp(m->path, "/dev/", 5) == 0 && strncmp(m->path, "/dev/shm/", 9) != 0 &&
	       strcmp(m->path, "/dev/zero") != 0 && strncmp(m->path, "/dev/hugepages/", 15) != 0;
}

/* The kernel's own pages: no pointers of the program, and reading them may fail. */
static bool is_kernel(const struct ins_mapping *m)
{
	return strcmp(m->path, "[vvar]") == 0 || strcmp(m->path, "[vdso]") == 0 ||
	       strcmp(m->path, "[vsyscall]") == 0 || strcmp(m->path, "[vvar_vclock]") == 0;
}

int ins_regions_parse(FILE *maps, struct ins_regions *ret)
{
	struct ins_mappings mappings = {0};
	int rc = ins_mappings_parse(maps, &mappings);
	size_t i;

	*ret = (struct ins_regions){calloc(mappings.count + 1, sizeof *ret->at), 0};
	if (rc == 0 && !ret->at)
		rc = -ENOMEM;
	for (i = 0; rc == 0 && i < mappings.count; i++) {
		const struct ins_mapping *m = &mappings.at[i];

		if (!(m->flags & PF_R) || is_device(m) || is_kernel(m))
			continue;
		ret->at[ret->count++] = (struct ins_region){
			.start = m->start,
			.end = m->end,
			.writable = m->flags & PF_W,
			.shared = m->shared,
			.file = m->inode != 0,
			.heap = strcmp(m->path, "[heap]") == 0,
		};
	}
	ins_mappings_free(&mappings);
	return rc;
}

int ins_regions_live(pid_t pid, struct ins_regions *ret)
{
	char path[64], *text;
	size_t size;
	FILE *maps;
	int rc;

	*ret = (struct ins_regions){NULL, 0};
	snprintf(path, sizeof path, "/proc/%d/maps", (int)ins_member(pid));
	rc = ins_read_file(path, &text, &size);
	if (rc < 0)
		return rc;
	maps = size ? fmemopen(text, size, "r") : NULL;
	rc = maps ? ins_regions_parse(maps, ret) : -ESRCH;
	if (maps)
		fclose(maps);
	free(text);
	return rc;
}

/* The words in one file of fdinfo. */
static int words_of(const char *text, ins_kernel_word_fn *fn, void *context)
{
	const char *at = text;
	int rc = 0;

	while (rc == 0 && (at = strstr(at, "\ntfd:"))) {
		const char *data = strstr(at, "data:"), *end = strchr(at + 1, '\n');

		if (data && (!end || data < end))
			rc = fn(context, strtoull(data + 5, NULL, 16));
		at++;
	}
	return rc;
}

int ins_kernel_words(pid_t pid, ins_kernel_word_fn *fn, void *context)
{
	char path[sizeof "/proc//fdinfo/" + 300], *text;
	struct dirent *entry;
	size_t size;
	DIR *dir;
	int rc = 0;

	pid = ins_member(pid);
	snprintf(path, sizeof path, "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	while (rc == 0 && dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", (int)pid, entry->d_name);
		if (ins_read_file(path, &text, &size) < 0)
			continue; /* closed meanwhile */
		rc = words_of(text, fn, context);
		free(text);
	}
	if (dir)
		closedir(dir);
	return rc;
}
