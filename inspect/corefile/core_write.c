/* SPDX-License-Identifier: MIT */
/*
 * core_write.c - write headers, memory with holes, and notes
 *
 * Memory comes before the notes, because the number of fibers is unknown when the first page is
 * written. A part has its full size in the file; memory that was never written is a hole. So a
 * program whose stacks span a terabyte has a core of that apparent size, which takes only the
 * blocks that were used.
 *
 * If an ELF header cannot count the parts, a section header holds their number, as in the kernel's
 * cores.
 */
#include "inspect/corefile/core_write.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/elf/image.h"

#define PAGE	   4096u
#define NOTES_ROOM (1u << 18)
#define LITTLE	   (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define MINE	   (LITTLE ? ELFDATA2LSB : ELFDATA2MSB)
#define THEIRS	   (LITTLE ? ELFDATA2MSB : ELFDATA2LSB)

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

int ins_core_writer_begin(struct ins_core_writer *ret, int fd, struct ins_core_part *part,
			  size_t parts)
{
	/* Each late run of pages may cut a part in two. Unused space here is a hole. */
	const size_t segments = 1 + parts + 2 * INS_CORE_LATE_MOST;
	uint64_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr) + segments * sizeof(Elf64_Phdr);
	size_t i;

	memset(ret, 0, sizeof *ret);
	ret->fd = fd;
	ret->machine.number = (uint16_t)ins_machine_self();
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

/* Within one part: write each run of pages with one call. */
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

/* Write memory that has no place yet, page by page: it is rare. */
static int put_late(struct ins_core_writer *w, uint64_t address, const unsigned char *bytes,
		    uint64_t size)
{
	while (size) {
		uint64_t n = PAGE - address % PAGE, offset;
		int rc = w->noted || w->pending
				 ? -EMFILE
				 : ins_core_late_place(&w->late, address, &w->notes_at, &offset);

		n = n < size ? n : size;
		if (rc == 0)
			rc = put(w, offset, bytes, n);
		else if (rc == -EMFILE)
			w->left_out += n;
		if (rc < 0 && rc != -EMFILE)
			return rc;
		address += n;
		bytes += n;
		size -= n;
	}
	return 0;
}

/*
 * How many bytes from address on, which is less than end, are in one part or in none. *ret: that
 * part, or NULL.
 */
static uint64_t stretch(const struct ins_core_writer *w, uint64_t address, uint64_t end,
			const struct ins_core_part **ret)
{
	const struct ins_core_part *p = find(w, address);
	uint64_t until = end;

	*ret = p && address >= p->start ? p : NULL;
	if (*ret)
		until = address < p->start + p->size ? p->start + p->size : p->end;
	else if (p)
		until = p->start;
	return (until < end ? until : end) - address;
}

int ins_core_writer_memory(struct ins_core_writer *w, uint64_t address, const void *buf,
			   size_t size, bool over)
{
	const unsigned char *bytes = buf;
	const uint64_t end = address + size;
	const struct ins_core_part *p;
	uint64_t n;
	int rc = 0;

	for (; rc == 0 && address < end; address += n, bytes += n) {
		n = stretch(w, address, end, &p);
		if (p && address - p->start < p->size)
			rc = put_runs(w, p->offset + (address - p->start), bytes, n, over);
		else if (over && !(p && p->withheld))
			rc = put_late(w, address, bytes, n);
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
	if (w->machine.swapped)
		ins_swap_members(named, INS_SWAP_NHDR);
	rc = ins_core_writer_notes(w, named, sizeof head + ((head.n_namesz + 3) & ~3u));
	if (rc == 0)
		rc = ins_core_writer_notes(w, contents, size);
	if (rc == 0)
		rc = ins_core_writer_notes(w, zeros, -size & 3);
	return rc;
}

/* The program headers, written one after another. */
struct table {
	const struct ins_core_writer *w;
	uint64_t at;
	size_t count;
};

static int put_header(struct table *t, const Elf64_Phdr *ph)
{
	Elf64_Phdr header = *ph;
	int rc;

	if (t->w->machine.swapped)
		ins_swap_members(&header, INS_SWAP_PHDR);
	rc = put(t->w, t->at, &header, sizeof header);
	t->at += sizeof *ph;
	t->count++;
	return rc;
}

static int put_part(struct table *t, const struct ins_core_part *p)
{
	const Elf64_Phdr ph = {
		.p_type = PT_LOAD,
		.p_flags = p->flags,
		.p_offset = p->offset,
		.p_vaddr = p->start,
		.p_filesz = p->size,
		.p_memsz = p->end - p->start,
		.p_align = PAGE,
	};

	return p->end > p->start ? put_header(t, &ph) : 0;
}

static int put_run(struct table *t, const struct ins_core_late_run *run)
{
	const struct ins_core_part part = {.start = run->start,
					   .end = run->end,
					   .size = run->end - run->start,
					   .flags = PF_R | PF_W,
					   .offset = run->offset};

	return put_part(t, &part);
}

/* Write the runs that start before address. */
static int put_runs_until(struct table *t, uint64_t address, size_t *next)
{
	const struct ins_core_late *late = &t->w->late;
	int rc = 0;

	for (; rc == 0 && *next < late->count && late->run[*next].start < address; ++*next)
		rc = put_run(t, &late->run[*next]);
	return rc;
}

/*
 * Write a part and the runs that start before its end. The runs are cut out of the part's range, of
 * which the file has nothing.
 */
static int put_cut(struct table *t, const struct ins_core_part *part, size_t *next)
{
	const struct ins_core_late *late = &t->w->late;
	struct ins_core_part rest = *part;
	int rc = put_runs_until(t, part->start, next);

	if (*next && late->run[*next - 1].end > rest.start)
		rest.start = late->run[*next - 1].end; /* the file has nothing of the rest */
	for (; rc == 0 && *next < late->count && late->run[*next].start < part->end; ++*next) {
		struct ins_core_part before = rest;

		before.end = late->run[*next].start;
		rc = put_part(t, &before);
		if (rc == 0)
			rc = put_run(t, &late->run[*next]);
		rest.start = late->run[*next].end;
		rest.size = 0;
	}
	return rc == 0 ? put_part(t, &rest) : rc;
}

static int put_segments(struct ins_core_writer *w, size_t *ret_count)
{
	struct table t = {.w = w, .at = sizeof(Elf64_Ehdr)};
	const Elf64_Phdr notes = {
		.p_type = PT_NOTE,
		.p_offset = w->notes_at,
		.p_filesz = w->noted,
		.p_align = 4,
	};
	int rc = put_header(&t, &notes);
	size_t i, next = 0;

	ins_core_late_sort(&w->late);
	for (i = 0; rc == 0 && i < w->parts; i++)
		rc = put_cut(&t, &w->part[i], &next);
	*ret_count = t.count + w->late.count - next;
	return rc == 0 ? put_runs_until(&t, UINT64_MAX, &next) : rc;
}

/*
 * Write the ELF header, which says where the other headers are. If it cannot count them, a section
 * header does.
 */
static int put_ends(const struct ins_core_writer *w, size_t segments)
{
	const bool elsewhere = segments >= PN_XNUM;
	const uint64_t after = sizeof(Elf64_Ehdr) + segments * sizeof(Elf64_Phdr);
	Elf64_Shdr counts = {.sh_info = (uint32_t)segments, .sh_size = 1};
	Elf64_Ehdr eh = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			    w->machine.swapped ? THEIRS : MINE, EV_CURRENT},
		.e_type = ET_CORE,
		.e_machine = w->machine.number,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (uint16_t)(elsewhere ? PN_XNUM : segments),
		.e_shoff = elsewhere ? after : 0,
		.e_shentsize = elsewhere ? sizeof(Elf64_Shdr) : 0,
		.e_shnum = elsewhere ? 1 : 0,
	};
	int rc;

	if (w->machine.swapped) {
		ins_swap_members(&counts, INS_SWAP_SHDR);
		ins_swap_members(&eh, INS_SWAP_EHDR);
	}
	rc = elsewhere ? put(w, after, &counts, sizeof counts) : 0;
	return rc == 0 ? put(w, 0, &eh, sizeof eh) : rc;
}

int ins_core_writer_end(struct ins_core_writer *w)
{
	size_t segments;
	int rc = flush(w);

	w->end = w->notes_at + w->noted;
	/* A hole at the end is part of the file too. */
	if (rc == 0 && ftruncate(w->fd, (off_t)w->end) < 0)
		rc = -errno;
	if (rc == 0)
		rc = put_segments(w, &segments);
	return rc == 0 ? put_ends(w, segments) : rc;
}

void ins_core_writer_free(struct ins_core_writer *w)
{
	free(w->notes);
	w->notes = NULL;
	ins_core_late_free(&w->late);
}
