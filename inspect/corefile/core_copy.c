/* SPDX-License-Identifier: MIT */
/*
 * core_copy.c - copy memory into a core, a megabyte at a time, without reading untouched pages
 *
 * The stacks of a million fibers take a quarter of a terabyte of addresses, but only some gigabytes
 * of memory. Reading a page that was never touched would give the process a page table for it. So
 * /proc/PID/pagemap is asked first which pages exist. A guard page counts as existing but cannot be
 * read; then its neighbours are read one by one.
 */
#include "inspect/corefile/core_copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/text/member.h"
#include "inspect/text/progress.h"

#define PIECE (1u << 20)
#define PAGE  4096u

#define THERE (UINT64_C(3) << 62) /* bits of a pagemap entry: in memory, or in swap */

int ins_core_parts_live(const struct ins_mappings *mappings, bool stacks_only,
			struct ins_core_part **ret)
{
	struct ins_core_part *part = calloc(mappings->count + 1, sizeof *part);
	size_t i;

	if (!part)
		return -ENOMEM;
	*ret = part;
	for (i = 0; i < mappings->count; i++) {
		const struct ins_mapping *m = &mappings->at[i];
		bool kept = (m->flags & PF_R) && !m->withheld &&
			    !(m->shared && m->inode && !m->deleted) &&
			    strcmp(m->path, "[vvar]") != 0 && strcmp(m->path, "[vsyscall]") != 0;

		part[i].start = m->start;
		part[i].end = m->end;
		part[i].flags = m->flags;
		part[i].file = (m->inode && !m->shared) || strcmp(m->path, "[vdso]") == 0;
		part[i].size = kept ? m->end - m->start : 0;
		part[i].withheld = m->withheld;
		if (kept && stacks_only && m->inode && !m->shared && !(m->flags & PF_W))
			part[i].size = m->offset ? 0 : PAGE;
	}
	return 0;
}

int ins_core_parts_core(const struct ins_core *core, bool stacks_only, struct ins_core_part **ret)
{
	struct ins_core_part *part = calloc(core->loads + 1, sizeof *part);
	unsigned char magic[SELFMAG];
	uint64_t sum = 0;
	size_t i;

	if (!part)
		return -ENOMEM;
	for (i = 0; i < core->loads; i++) {
		const struct ins_core_load *l = &core->load[i];

		/*
		 * Segments that share bytes of the file would make the output grow without limit.
		 */
		if (l->size > core->file_size - sum) {
			free(part);
			return -EINVAL;
		}
		sum += l->size;
		part[i].start = l->address;
		part[i].end = l->address + l->memory;
		part[i].flags = l->flags;
		part[i].size = l->size;
		/*
		 * A core does not say which mappings are files. Executable segments and ELF headers
		 * are taken for files.
		 */
		if (!stacks_only || (l->flags & PF_W) || l->size <= PAGE)
			continue;
		if (ins_core_read(core, l->address, magic, sizeof magic) == 0 &&
		    memcmp(magic, ELFMAG, SELFMAG) == 0 && l->address != core->vdso)
			part[i].size = PAGE;
		else if (l->flags & PF_X)
			part[i].size = l->address == core->vdso ? l->size : 0;
	}
	*ret = part;
	return 0;
}

struct copy {
	struct ins_core_writer *w;
	struct ins_source *source;
	const struct ins_core_gap *gap;
	int pagemap; /* -1: everything is read */
	unsigned char *buf;
	uint64_t done; /* bytes */
	struct ins_progress progress;
	uint64_t entry[PIECE / PAGE];
};

/* Read and write [at, at + size), which exists; page by page if it cannot be read as a whole. */
static int copy_run(struct copy *c, uint64_t at, size_t size)
{
	size_t done, n;
	int rc;

	c->done += size;
	ins_progress_bytes(&c->progress, c->done);
	if (c->source->memory(c->source, at, c->buf, size) == 0)
		return ins_core_writer_memory(c->w, at, c->buf, size, false);
	if (kill(c->source->pid, 0) < 0 && errno == ESRCH)
		return -ESRCH;
	for (done = 0; done < size; done += n) {
		n = PAGE - (at + done) % PAGE;
		n = n < size - done ? n : size - done;
		if (c->source->memory(c->source, at + done, c->buf, n) < 0)
			continue;
		rc = ins_core_writer_memory(c->w, at + done, c->buf, n, false);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Copy the pages of [at, at + size) that exist; size is at most PIECE bytes. */
static int copy_piece(struct copy *c, const struct ins_core_part *part, uint64_t at, size_t size)
{
	size_t pages = size / PAGE, bytes = pages * 8, from = 0, i;
	int rc = 0;

	if (part->file || c->pagemap < 0 ||
	    pread(c->pagemap, c->entry, bytes, (off_t)(at / PAGE * 8)) != (ssize_t)bytes)
		return copy_run(c, at, size);
	for (i = 0; rc == 0 && i <= pages; i++) {
		if (i < pages && (c->entry[i] & THERE))
			continue;
		if (i > from)
			rc = copy_run(c, at + from * PAGE, (i - from) * PAGE);
		from = i + 1;
	}
	return rc;
}

static int copy_part(struct copy *c, const struct ins_core_part *part)
{
	uint64_t at = part->start, end = part->start + part->size, n;
	int rc = 0;

	for (; rc == 0 && at < end; at += n) {
		n = end - at < PIECE ? end - at : PIECE;
		if (at >= c->gap->low && at < c->gap->high) {
			n = (c->gap->high < end ? c->gap->high : end) - at;
			continue;
		}
		if (at < c->gap->low && at + n > c->gap->low)
			n = c->gap->low - at;
		rc = copy_piece(c, part, at, n);
	}
	return rc;
}

int ins_core_copy_live(struct ins_core_writer *w, struct ins_source *source,
		       const struct ins_core_gap *gap)
{
	struct copy *c = malloc(sizeof *c);
	char path[64];
	size_t i;
	int rc = 0;

	if (!c)
		return -ENOMEM;
	*c = (struct copy){.w = w, .source = source, .gap = gap, .buf = malloc(PIECE)};
	snprintf(path, sizeof path, "/proc/%d/pagemap", (int)ins_member(source->pid));
	c->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (!c->buf)
		rc = -ENOMEM;
	ins_progress_begin(&c->progress, "copying");
	for (i = 0; rc == 0 && i < w->parts; i++)
		rc = copy_part(c, &w->part[i]);
	ins_progress_end(&c->progress);
	if (c->pagemap >= 0)
		close(c->pagemap);
	free(c->buf);
	free(c);
	return rc;
}

/*
 * Skip a hole of the file at offset and move *at behind it. Returns how many bytes of data follow,
 * at most size.
 */
static uint64_t skip_hole(const struct ins_core *core, uint64_t offset, uint64_t size)
{
	off_t data = lseek(core->fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? size : 0; /* a hole up to the end; else unknown */
	return (uint64_t)data - offset < size ? (uint64_t)data - offset : size;
}

int ins_core_copy_core(struct ins_core_writer *w, const struct ins_core *core)
{
	unsigned char *buf = malloc(PIECE);
	struct ins_progress progress;
	int rc = buf ? 0 : -ENOMEM;
	uint64_t done = 0;
	size_t i;

	ins_progress_begin(&progress, "copying");
	for (i = 0; rc == 0 && i < core->loads && i < w->parts; i++) {
		const struct ins_core_load *l = &core->load[i];
		uint64_t at = 0, n, size = w->part[i].size;

		while (rc == 0 && at < size) {
			at += skip_hole(core, l->offset + at, size - at);
			n = size - at < PIECE ? size - at : PIECE;
			if (!n)
				break;
			rc = ins_core_read(core, l->address + at, buf, n);
			if (rc == 0)
				rc = ins_core_writer_memory(w, l->address + at, buf, n, false);
			at += n;
			ins_progress_bytes(&progress, done += n);
		}
	}
	ins_progress_end(&progress);
	free(buf);
	return rc;
}
