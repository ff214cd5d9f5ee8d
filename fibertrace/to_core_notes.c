/* SPDX-License-Identifier: MIT */
/* to_core_notes.c - a core's notes on a live process: its ids, its start, its files */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fibertrace/to_core.h"
#include "inspect/process/permission.h"
#include "inspect/text/member.h"
#include "inspect/text/read_file.h"

#define PAGE 4096u

static unsigned number(pid_t pid, const char *key)
{
	char text[64];

	return ins_permission_status(pid, key, text, sizeof text) < 0
		       ? 0
		       : (unsigned)strtoul(text, NULL, 10);
}

static int read_whole(pid_t pid, const char *file, char **ret, size_t *ret_size)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)ins_member(pid), file);
	return ins_read_file(path, ret, ret_size);
}

static void fill_info(struct elf_prpsinfo *info, pid_t pid)
{
	char *text, state[8];
	size_t size, i;

	memset(info, 0, sizeof *info);
	info->pr_pid = pid;
	info->pr_ppid = (pid_t)number(pid, "PPid");
	info->pr_pgrp = (pid_t)number(pid, "NSpgid");
	info->pr_sid = (pid_t)number(pid, "NSsid");
	info->pr_uid = number(pid, "Uid");
	info->pr_gid = number(pid, "Gid");
	if (ins_permission_status(pid, "State", state, sizeof state) == 0)
		info->pr_sname = state[0];
	if (read_whole(pid, "comm", &text, &size) == 0) {
		memcpy(info->pr_fname, text, strcspn(text, "\n") < 15 ? strcspn(text, "\n") : 15);
		free(text);
	}
	if (read_whole(pid, "cmdline", &text, &size) == 0) {
		size = size < ELF_PRARGSZ ? size : ELF_PRARGSZ - 1;
		for (i = 0; i < size; i++)
			info->pr_psargs[i] = text[i] ? text[i] : ' ';
		free(text);
	}
}

struct entry {
	uint64_t start, end, page;
};

/* The file note: a count, the page size, the position of each file, then their names. */
static int put_files(struct to_core *t, const struct ins_mappings *mappings)
{
	uint64_t head[2] = {0, PAGE};
	size_t size = sizeof head, i;
	unsigned char *note;
	char *name;
	int rc;

	for (i = 0; i < mappings->count; i++) {
		if (mappings->at[i].inode && mappings->at[i].path[0] == '/') {
			size += sizeof(struct entry) + strlen(mappings->at[i].path) + 1;
			head[0]++;
		}
	}
	note = malloc(size);
	if (!note)
		return -ENOMEM;
	memcpy(note, head, sizeof head);
	name = (char *)note + sizeof head + head[0] * sizeof(struct entry);
	size = sizeof head;
	for (i = 0; i < mappings->count; i++) {
		const struct ins_mapping *m = &mappings->at[i];
		const struct entry e = {m->start, m->end, m->offset / PAGE};

		if (!m->inode || m->path[0] != '/')
			continue;
		memcpy(note + size, &e, sizeof e);
		size += sizeof e;
		name = stpcpy(name, m->path) + 1;
	}
	rc = ins_core_writer_note(&t->writer, "CORE", NT_FILE, note, (size_t)(name - (char *)note));
	free(note);
	return rc;
}

int to_core_fibers(struct to_core *t, bool live)
{
	if (!t->threads_only)
		return ins_core_fibers_read(&t->fibers, t->source, &t->writer, live, &t->summary,
					    t->error);
	t->fibers = (struct ins_core_fibers){.source = t->source, .w = &t->writer, .live = live};
	return 0;
}

int to_core_process_notes(struct to_core *t, const struct ins_mappings *mappings)
{
	char *auxv;
	size_t size;
	int rc;

	fill_info(&t->fibers.info, t->source->pid);
	rc = read_whole(t->source->pid, "auxv", &auxv, &size);
	if (rc == 0) {
		rc = ins_core_writer_note(&t->writer, "CORE", NT_AUXV, auxv, size);
		free(auxv);
	}
	return rc == 0 ? put_files(t, mappings) : rc;
}
