/* SPDX-License-Identifier: MIT */
/*
 * core_write.c - headers, memory with holes, notes
 *
 * Memory comes before the notes, since nobody knows how many fibers there will be when the first page is written. A
 * part has its full size in the file, and what was never written in it is a hole: a program whose stacks span a terabyte
 * has a core that seems to be as large, and takes the blocks that were used. More parts than an ELF header can count are
 * counted in a section header, as the kernel does it.
 */
#include "inspect/core_write.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/image.h"

#define PAGE	   4096u
#define NOTES_ROOM (1u << 18)

static int put(const struct ins_core_writer *w, uint64_t at, const void *buf, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n =
			pwrite(w->fd, (const char *)buf + done, size - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

static bool counted_elsewhere(const struct ins_core_writer *w)
{
	return w->parts + 1 >= PN_XNUM;
}

int ins_core_writer_begin(struct ins_core_writer *ret, int fd, struct ins_core_part *part,
			  size_t parts)
{
	uint64_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + (parts + 1) * sizeof(Elf64_Phdr);
	size_t i;

	memset(ret, 0, sizeof *ret);
	ret->fd = fd;
	ret->part = part;
	ret->parts = parts;
	ret->notes = malloc(NOTES_ROOM);
	if (!ret->notes)
		return -ENOMEM;
	at = (at + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	for (i = 0; i < parts; i++) {
		part[i].offset = at;
		at += (part[i].size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	}
	ret->notes_at = at;
	return 0;
}

/* The first part that ends behind address, or NULL. */
static const struct ins_core_part *find(const struct ins_core_writer *w, uint64_t address)
{
	size_t low = 0, high = w->parts;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->part[mid].end <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low < w->parts ? &w->part[low] : NULL;
}

static bool all_zero(const unsigned char *at, size_t size)
{
	return size == 0 || (at[0] == 0 && memcmp(at, at + 1, size - 1) == 0);
}

/* Within one part: runs of pages that are to be written, each with one call. */
static int put_runs(const struct ins_core_writer *w, uint64_t at, const unsigned char *buf,
		    size_t size, bool over)
{
	size_t from = 0, to = 0;

	while (to <= size) {
		size_t n = PAGE - (at + to) % PAGE;
		bool hole;

		n = n < size - to ? n : size - to;
		hole = to == size || (!over && all_zero(buf + to, n));
		if (hole && to > from) {
			int rc = put(w, at + from, buf + from, to - from);

			if (rc < 0)
				return rc;
		}
		if (to == size)
			break;
		to += n;
		if (hole)
			from = to;
	}
	return 0;
}

int ins_core_writer_memory(struct ins_core_writer *w, uint64_t address, const void *buf,
			   size_t size, bool over)
{
	const unsigned char *bytes = buf;
	uint64_t end = address + size;
	int rc = 0;

	while (rc == 0 && address < end) {
		const struct ins_core_part *p = find(w, address);
		uint64_t n;

		if (!p || p->start >= end)
			break;
		if (p->start > address) {
			bytes += p->start - address;
			address = p->start;
		}
		n = p->end < end ? p->end - address : end - address;
		if (address - p->start < p->size) {
			uint64_t has = p->size - (address - p->start);

			rc = put_runs(w, p->offset + (address - p->start), bytes, n < has ? n : has,
				      over);
		}
		bytes += n;
		address += n;
	}
	return rc;
}

static int flush(struct ins_core_writer *w)
{
	int rc = put(w, w->notes_at + w->noted, w->notes, w->pending);

	if (rc == 0) {
		w->noted += w->pending;
		w->pending = 0;
	}
	return rc;
}

int ins_core_writer_notes(struct ins_core_writer *w, const void *bytes, size_t size)
{
	int rc = 0;

	if (size > NOTES_ROOM - w->pending)
		rc = flush(w);
	if (rc < 0)
		return rc;
	if (size > NOTES_ROOM) {
		rc = put(w, w->notes_at + w->noted, bytes, size);
		if (rc == 0)
			w->noted += size;
		return rc;
	}
	memcpy(w->notes + w->pending, bytes, size);
	w->pending += size;
	return 0;
}

int ins_core_writer_note(struct ins_core_writer *w, const char *name, uint32_t type,
			 const void *contents, size_t size)
{
	static const unsigned char zeros[4];
	Elf64_Nhdr head = {(uint32_t)strlen(name) + 1, (uint32_t)size, type};
	unsigned char named[sizeof head + 16] = {0};
	int rc;

	if (head.n_namesz > 16 || size > UINT32_MAX)
		return -EINVAL;
	memcpy(named, &head, sizeof head);
	memcpy(named + sizeof head, name, head.n_namesz);
	rc = ins_core_writer_notes(w, named, sizeof head + ((head.n_namesz + 3) & ~3u));
	if (rc == 0)
		rc = ins_core_writer_notes(w, contents, size);
	if (rc == 0)
		rc = ins_core_writer_notes(w, zeros, -size & 3);
	return rc;
}

static int put_segments(const struct ins_core_writer *w)
{
	uint64_t at = sizeof(Elf64_Ehdr);
	Elf64_Phdr ph = {
		.p_type = PT_NOTE,
		.p_offset = w->notes_at,
		.p_filesz = w->noted,
		.p_align = 4,
	};
	size_t i;
	int rc = put(w, at, &ph, sizeof ph);

	for (i = 0; rc == 0 && i < w->parts; i++) {
		const struct ins_core_part *p = &w->part[i];

		at += sizeof ph;
		ph = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = p->flags,
			.p_offset = p->offset,
			.p_vaddr = p->start,
			.p_filesz = p->size,
			.p_memsz = p->end - p->start,
			.p_align = PAGE,
		};
		rc = put(w, at, &ph, sizeof ph);
	}
	return rc;
}

int ins_core_writer_end(struct ins_core_writer *w)
{
	uint64_t after = sizeof(Elf64_Ehdr) + (w->parts + 1) * sizeof(Elf64_Phdr);
	bool elsewhere = counted_elsewhere(w);
	const Elf64_Shdr counts = {.sh_info = (uint32_t)w->parts + 1, .sh_size = 1};
	Elf64_Ehdr eh = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = (uint16_t)ins_machine_self(),
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)(elsewhere ? PN_XNUM : w->parts + 1),
		.e_shoff = elsewhere ? after : 0,
		.e_shentsize = elsewhere ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = elsewhere ? 1 : 0,
	};
	int rc = flush(w);

	w->end = w->notes_at + w->noted;
	/* Where nothing is behind a hole, the file still has it. */
	if (rc == 0 && ftruncate(w->fd, (off_t)w->end) < 0)
		rc = -errno;
	if (rc == 0)
		rc = put_segments(w);
	if (rc == 0 && elsewhere)
		rc = put(w, after, &counts, sizeof counts);
	if (rc == 0)
		rc = put(w, 0, &eh, sizeof eh);
	return rc;
}

void ins_core_writer_free(struct ins_core_writer *w)
{
	free(w->notes);
	w->notes = NULL;
}
