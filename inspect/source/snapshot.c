/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - read a snapshot file
 *
 * The file is mapped, and nothing in it is trusted. Opening it walks all headers and checks each
 * length against what is left of the enclosing part. After that a walk need not check lengths
 * again. sigbus_guard.h handles a file that is truncated later, while it is mapped.
 *
 * Then the checksums are compared, so that damage to what the headers do not show is found too.
 *
 * A snapshot of a million fibers is larger than the memory that reading it may take. So pages that
 * were walked over are released; they are read again if they are needed.
 */
#include "inspect/source/snapshot.h"
#include "inspect/source/snapshot_order.h"
#include "inspect/source/snapshot_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/access.h"
#include "inspect/elf/vdso.h"

#define HELD	   (16 << 20) /* bytes of the file that are kept in memory at a time */
#define WRITES	   "'fiberctl snapshot PROCESS -o FILE' writes one"
#define AGAIN	   "copy it again, or take another one with 'fiberctl snapshot'"
#define LEAST_HEAD offsetof(struct ins_snapshot_head, host)

struct ins_snapshot {
	const unsigned char *bytes;
	size_t size;
	const unsigned char *sections; /* the first one */
	bool swapped;		       /* the program's byte order is not this machine's */
	struct ins_snapshot_head head;
};

bool ins_snapshot_meant(const char *path)
{
	struct stat st;

	/*
	 * A file that may not be examined is opened too, because the error of opening it says why.
	 */
	return stat(path, &st) == 0 ? S_ISREG(st.st_mode) : errno == EACCES;
}

bool ins_snapshot_begins(const char *path)
{
	char magic[sizeof((struct ins_snapshot_head *)0)->magic];
	int fd = ins_snapshot_meant(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	bool begins = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
		      memcmp(magic, INS_SNAPSHOT_MAGIC, sizeof magic) == 0;

	if (fd >= 0)
		close(fd);
	return begins;
}

static int bad(const char *path, struct ins_error *error, const char *why)
{
	ins_error_set(error, -EINVAL, "%s: %s", path, why);
	return -EINVAL;
}

/* Report a failed system call. */
static int failed(const char *path, struct ins_error *error)
{
	const int rc = errno > 0 ? -errno : -EIO;
	char why[INS_ACCESS_EXPLAIN_SIZE];

	return ins_error_set(error, rc, "%s: %s", path,
			     ins_access_explain(path, INS_ACCESS_READ, rc, why, sizeof why));
}

/* The file is shorter than a header. */
static int too_short(const char *path, int fd, struct ins_error *error)
{
	char bytes[LEAST_HEAD];
	const ssize_t n = read(fd, bytes, sizeof bytes);
	const size_t magic = sizeof((struct ins_snapshot_head *)0)->magic;

	if (n < 0)
		return failed(path, error);
	if (n == 0)
		return bad(path, error, "is empty: " WRITES);
	if (memcmp(bytes, INS_SNAPSHOT_MAGIC, (size_t)n < magic ? (size_t)n : magic) != 0)
		return bad(path, error, "is no snapshot: " WRITES);
	return ins_error_set(error, -EINVAL, "%s: is cut: it has %zd bytes; " AGAIN, path, n);
}

/* The header says how long the file was. */
static int check_size(const char *path, const struct ins_snapshot *s, struct ins_error *error)
{
	const unsigned long long has = s->size, wrote = s->head.size;

	if (has < wrote)
		return ins_error_set(error, -EINVAL,
				     "%s: is cut: it has %llu of %llu bytes; " AGAIN, path, has,
				     wrote);
	if (has > wrote)
		return ins_error_set(error, -EINVAL,
				     "%s: has bytes behind its end, %llu more than the %llu that "
				     "were written; " AGAIN,
				     path, has - wrote, wrote);
	return 0;
}

static int map(const char *path, struct ins_snapshot *s, struct ins_error *error)
{
	struct stat st;
	void *at;
	int fd, rc;

	if (stat(path, &st) < 0)
		return failed(path, error);
	if (!S_ISREG(st.st_mode))
		return bad(path, error, "is no file");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return failed(path, error);
	if (fstat(fd, &st) < 0) {
		rc = failed(path, error);
		close(fd);
		return rc;
	}
	if ((uint64_t)st.st_size < LEAST_HEAD) {
		rc = too_short(path, fd, error);
		close(fd);
		return rc;
	}
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	rc = at == MAP_FAILED ? failed(path, error) : 0;
	close(fd);
	if (rc < 0)
		return rc;
	s->bytes = at;
	s->size = (size_t)st.st_size;
	return 0;
}

/* Replace the bytes by a copy with this machine's byte order, if they have the other one. */
static int convert(const char *path, struct ins_snapshot *s, struct ins_error *error)
{
	void *copy;
	int rc;

	s->swapped = ins_snapshot_order_other(s->bytes, s->size);
	if (!s->swapped)
		return 0;
	rc = ins_snapshot_order_convert(s->bytes, s->size, &copy);
	if (rc < 0)
		return ins_error_set(
			error, rc,
			"%s: cannot be converted from another byte order, for which its %zu "
			"bytes must fit in memory: %s",
			path, s->size, strerror(-rc));
	munmap((void *)s->bytes, s->size);
	s->bytes = copy;
	return 0;
}

static int take_head(const char *path, struct ins_snapshot *s, struct ins_error *error)
{
	struct ins_snapshot_head *h = &s->head;

	memcpy(h, s->bytes, s->size < sizeof *h ? s->size : sizeof *h);
	if (memcmp(h->magic, ELFMAG, SELFMAG) == 0)
		return bad(path, error, "is no snapshot: a core is read by 'fibertrace --core'");
	if (memcmp(h->magic, INS_SNAPSHOT_MAGIC, sizeof h->magic) != 0)
		return bad(path, error, "is no snapshot: " WRITES);
	if (h->version != INS_SNAPSHOT_VERSION) {
		ins_error_set(error, -EINVAL,
			      "%s: is a snapshot of version %u, this tool reads version %u", path,
			      h->version, INS_SNAPSHOT_VERSION);
		return -EINVAL;
	}
	if (check_size(path, s, error) < 0)
		return -EINVAL;
	if (h->head_size < LEAST_HEAD || h->head_size > s->size)
		return bad(path, error, "is damaged: its header has no sensible length; " AGAIN);
	if (h->head_size < sizeof *h)
		memset((char *)h + h->head_size, 0, sizeof *h - h->head_size);
	h->name[sizeof h->name - 1] = 0;
	h->host[sizeof h->host - 1] = 0;
	s->sections = s->bytes + h->head_size;
	return 0;
}

/* Get the section at *at and move *at behind it. False at the end, or if no section fits. */
static bool next_section(const struct ins_snapshot *s, const unsigned char **at,
			 struct ins_snapshot_section *ret, const unsigned char **ret_bytes)
{
	size_t left = (size_t)(s->bytes + s->size - *at);

	if (left < sizeof *ret)
		return false;
	memcpy(ret, *at, sizeof *ret);
	if (ret->magic != INS_SNAPSHOT_SECTION || ret->size > left - sizeof *ret)
		return false;
	*ret_bytes = *at + sizeof *ret;
	*at = *ret_bytes + ret->size;
	return true;
}

/*
 * Release the pages that were walked over. They stay in the page cache, but no longer count as
 * memory of this process.
 */
static void let_go(struct ins_snapshot_frames *frames)
{
	const uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
	const uintptr_t from = (uintptr_t)frames->held & mask, to = (uintptr_t)frames->at & mask;

	madvise((void *)from, to - from, MADV_DONTNEED);
	frames->held = frames->at;
}

bool ins_snapshot_next(struct ins_snapshot_frames *frames, struct fib_wire_header *ret_header,
		       const void **ret_payload)
{
	size_t left = (size_t)(frames->end - frames->at);

	if (frames->held && frames->at - frames->held >= HELD)
		let_go(frames);
	if (left < sizeof *ret_header)
		return false;
	memcpy(ret_header, frames->at, sizeof *ret_header);
	if (fib_wire_check(ret_header, FIB_WIRE_FRAME_MAX) < 0 ||
	    ret_header->length > left - sizeof *ret_header)
		return false;
	*ret_payload = frames->at + sizeof *ret_header;
	frames->at += sizeof *ret_header + ret_header->length;
	return true;
}

/* Whether the bytes are whole frames, and only the last frame ends an answer. */
static bool is_answer(const unsigned char *bytes, uint64_t size)
{
	struct ins_snapshot_frames frames = {bytes, bytes + size, bytes};
	struct fib_wire_header header;
	const void *payload;

	while (ins_snapshot_next(&frames, &header, &payload))
		if (header.type == FIB_WIRE_END || header.type == FIB_WIRE_ERROR)
			return frames.at == frames.end;
	return false;
}

/* The sums section ends the file, and has the sums of all parts before it. */
static int check_sums(const char *path, const struct ins_snapshot *s,
		      const struct ins_snapshot_sums *sums, const unsigned char *bytes,
		      uint64_t size, struct ins_error *error)
{
	const int part = ins_snapshot_sums_compare(sums, bytes, size);
	char what[64] = "its list of checksums is wrong";

	if (bytes + size != s->bytes + s->size)
		return bad(path, error, "is damaged: its checksums are not at its end; " AGAIN);
	if (part < 0)
		return 0;
	if (part == 0)
		snprintf(what, sizeof what, "its header differs from its checksum");
	else if (part < (int)sums->count)
		snprintf(what, sizeof what, "section %d differs from its checksum", part);
	return ins_error_set(error, -EINVAL, "%s: is damaged: %s; " AGAIN, path, what);
}

/* The checksum of a section, of which `bytes` are the contents. */
static uint32_t sum_of(const struct ins_snapshot_section *section, const unsigned char *bytes)
{
	const uint32_t sum = ins_snapshot_sum_pages(0, bytes, section->size);

	return ins_snapshot_sum(sum, section, sizeof *section);
}

/*
 * Compare all parts with their checksums. A file without any is of an older version: then its
 * header does not promise them.
 */
static int check_parts(const char *path, const struct ins_snapshot *s, struct ins_error *error)
{
	const bool promised = s->head.flags & INS_SNAPSHOT_SUMMED;
	const unsigned char *at = s->sections, *bytes;
	struct ins_snapshot_sums sums = {0};
	struct ins_snapshot_section section;

	ins_snapshot_sums_add(&sums, ins_snapshot_sum(0, s->bytes, s->head.head_size));
	while (next_section(s, &at, &section, &bytes)) {
		if (section.type == INS_SNAPSHOT_SUMS && promised)
			return check_sums(path, s, &sums, bytes, section.size, error);
		if (section.type == INS_SNAPSHOT_SUMS)
			return bad(path, error,
				   "is damaged: its header denies its checksums; " AGAIN);
		if (promised && !ins_snapshot_sums_add(&sums, sum_of(&section, bytes)))
			return bad(path, error, "is damaged: it has too many sections; " AGAIN);
	}
	return promised ? bad(path, error, "is damaged: its checksums are missing; " AGAIN) : 0;
}

static int check_sections(const char *path, const struct ins_snapshot *s, struct ins_error *error)
{
	const unsigned char *at = s->sections, *bytes;
	struct ins_snapshot_section section;

	while (next_section(s, &at, &section, &bytes)) {
		if ((section.type < INS_SNAPSHOT_FILES ||
		     section.type == INS_SNAPSHOT_THREAD_ROWS) &&
		    !is_answer(bytes, section.size))
			return ins_error_set(
				error, -EINVAL,
				"%s: is damaged: the answer at byte %llu is not whole; " AGAIN,
				path, (unsigned long long)(bytes - s->bytes));
	}
	if (at != s->bytes + s->size)
		return ins_error_set(error, -EINVAL, "%s: is damaged at byte %llu; " AGAIN, path,
				     (unsigned long long)(at - s->bytes));
	return 0;
}

int ins_snapshot_open(const char *path, struct ins_error *error, struct ins_snapshot **ret)
{
	struct ins_snapshot *s = calloc(1, sizeof *s);
	int rc;

	if (!s)
		return ins_error_set(error, -ENOMEM, "out of memory");
	rc = map(path, s, error);
	if (s->bytes) {
		rc = convert(path, s, error);
		if (rc == 0)
			rc = take_head(path, s, error);
	}
	if (rc == 0)
		rc = check_sections(path, s, error);
	if (rc == 0)
		rc = check_parts(path, s, error);
	if (rc < 0) {
		ins_snapshot_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void ins_snapshot_close(struct ins_snapshot *snapshot)
{
	if (!snapshot)
		return;
	if (snapshot->bytes)
		munmap((void *)snapshot->bytes, snapshot->size);
	free(snapshot);
}

const struct ins_snapshot_head *ins_snapshot_head(const struct ins_snapshot *snapshot)
{
	return &snapshot->head;
}

bool ins_snapshot_swapped(const struct ins_snapshot *snapshot)
{
	return snapshot->swapped;
}

static bool find(const struct ins_snapshot *s, uint32_t type, struct ins_snapshot_frames *ret)
{
	const unsigned char *at = s->sections, *bytes;
	struct ins_snapshot_section section;

	while (next_section(s, &at, &section, &bytes)) {
		if (section.type != type)
			continue;
		*ret = (struct ins_snapshot_frames){bytes, bytes + section.size, bytes};
		return true;
	}
	return false;
}

bool ins_snapshot_answer(const struct ins_snapshot *snapshot, uint32_t type,
			 struct ins_snapshot_frames *ret)
{
	return (type < INS_SNAPSHOT_FILES || type == INS_SNAPSHOT_THREAD_ROWS) &&
	       find(snapshot, type, ret);
}

bool ins_snapshot_threads(const struct ins_snapshot *snapshot, struct ins_snapshot_frames *ret)
{
	return find(snapshot, INS_SNAPSHOT_THREADS, ret);
}

/* The module that starts at this address. */
static struct ins_module *module_at(struct ins_modules *modules, uint64_t start)
{
	const size_t below = ins_modules_below(modules, modules->count, start);

	return below && modules->at[below - 1].start == start ? &modules->at[below - 1] : NULL;
}

static void report_problem(struct ins_modules *modules, const struct ins_snapshot_file *f,
			   const unsigned char *segments)
{
	struct ins_module *m = module_at(modules, f->start);

	if (!m || m->looked || m->known)
		return;
	m->image.type = f->type;
	m->image.machine = (struct ins_machine){f->machine, modules->machine.swapped};
	m->image.loaded = true; /* the image is trusted as if it came from memory */
	m->image.base = f->start;
	m->image.bias = m->bias = f->bias;
	m->image.segments = f->segments;
	memcpy(m->image.segment, segments, f->segments * sizeof(Elf64_Phdr));
	m->image.build_id_size = f->build_id_size;
	memcpy(m->image.build_id, f->build_id, f->build_id_size);
	m->known = true;
}

void ins_snapshot_files(const struct ins_snapshot *snapshot, struct ins_modules *modules)
{
	struct ins_snapshot_frames all;
	struct ins_snapshot_file file;

	if (modules->vdso < 0 && find(snapshot, INS_SNAPSHOT_VDSO, &all))
		modules->vdso = ins_vdso_keep(all.at, (size_t)(all.end - all.at));
	if (!find(snapshot, INS_SNAPSHOT_FILES, &all))
		return;
	while ((size_t)(all.end - all.at) >= sizeof file) {
		size_t left = (size_t)(all.end - all.at) - sizeof file;

		memcpy(&file, all.at, sizeof file);
		if (file.segments > INS_IMAGE_SEGMENTS || file.build_id_size > INS_BUILD_ID_MAX ||
		    file.segments * sizeof(Elf64_Phdr) > left)
			return;
		report_problem(modules, &file, all.at + sizeof file);
		all.at += sizeof file + file.segments * sizeof(Elf64_Phdr);
	}
}
