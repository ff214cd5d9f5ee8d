/* SPDX-License-Identifier: MIT */
/*
 * compressed.c - unpack a core file with zstd, xz or gzip: one loop, three libraries
 *
 * libelf and libdw decompress debug sections and modules themselves; only cores are unpacked here.
 * libdwfl would unpack a whole core into the heap, without a limit, and returns nothing of a
 * truncated stream.
 *
 * The stream may be hostile and unpack to more than any disk has. The bytes written are limited to
 * the free space of the folder, less a reserve. Zeros take no space but time, so the total size is
 * limited too.
 */
#include "inspect/elf/compressed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "inspect/text/progress.h"

#define IN_BYTES   (256u << 10)
#define OUT_BYTES  (1u << 20)
#define PAGE	   4096u
#define SIZE_MAX_  (UINT64_C(1) << 40)	/* of the output, with holes */
#define LEFT_FREE  (UINT64_C(64) << 20) /* of the folder's free space */
#define LZMA_BYTES (UINT64_C(512) << 20)

enum ins_compression ins_compressed_as(const void *bytes, size_t size)
{
	static const struct {
		enum ins_compression as;
		unsigned size;
		unsigned char magic[6];
	} known[] = {
		{INS_COMPRESSED_ZSTD, 4, {0x28, 0xb5, 0x2f, 0xfd}},
		{INS_COMPRESSED_XZ, 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
		{INS_COMPRESSED_GZIP, 3, {0x1f, 0x8b, 8}},
		{INS_COMPRESSED_OTHER, 4, {0x04, 0x22, 0x4d, 0x18}},
		{INS_COMPRESSED_OTHER, 3, {'B', 'Z', 'h'}},
	};
	size_t i;

	for (i = 0; i < sizeof known / sizeof known[0]; i++)
		if (size >= known[i].size && !memcmp(bytes, known[i].magic, known[i].size))
			return known[i].as;
	return INS_COMPRESSED_NOT;
}

const char *ins_compressed_name(enum ins_compression as)
{
	static const char *const names[] = {"not", "zstd", "xz", "gzip", "lz4 or bzip2"};

	return names[as];
}

/* -- three decoders -- */

struct decoder {
	enum ins_compression as;
	ZSTD_DCtx *zstd;
	lzma_stream lzma;
	z_stream gzip;
	bool between; /* a frame has ended, and the next has not started */
};

struct piece {
	const unsigned char *in;
	size_t in_size;
	bool in_last; /* the file has no more bytes */
	unsigned char *out;
	size_t out_size;
};

static bool decoder_start(struct decoder *d)
{
	switch (d->as) {
	case INS_COMPRESSED_ZSTD:
		d->zstd = ZSTD_createDCtx();
		return d->zstd != NULL;
	case INS_COMPRESSED_XZ:
		return lzma_stream_decoder(&d->lzma, LZMA_BYTES, LZMA_CONCATENATED) == LZMA_OK;
	case INS_COMPRESSED_GZIP:
		return inflateInit2(&d->gzip, 15 + 16) == Z_OK;
	default:
		return false;
	}
}

static void decoder_end(struct decoder *d)
{
	ZSTD_freeDCtx(d->zstd);
	lzma_end(&d->lzma);
	if (d->as == INS_COMPRESSED_GZIP)
		inflateEnd(&d->gzip);
}

static const char *step_zstd(struct decoder *d, struct piece *p)
{
	ZSTD_inBuffer in = {p->in, p->in_size, 0};
	ZSTD_outBuffer out = {p->out, p->out_size, 0};
	size_t rc = ZSTD_decompressStream(d->zstd, &out, &in);

	p->in += in.pos;
	p->in_size -= in.pos;
	p->out_size -= out.pos;
	if (ZSTD_isError(rc))
		return ZSTD_getErrorName(rc);
	if (in.pos || out.pos)
		d->between = rc == 0;
	return NULL;
}

static const char *step_lzma(struct decoder *d, struct piece *p)
{
	lzma_ret rc;

	d->lzma.next_in = p->in;
	d->lzma.avail_in = p->in_size;
	d->lzma.next_out = p->out;
	d->lzma.avail_out = p->out_size;
	rc = lzma_code(&d->lzma, p->in_last ? LZMA_FINISH : LZMA_RUN);
	p->in = d->lzma.next_in;
	p->in_size = d->lzma.avail_in;
	p->out_size = d->lzma.avail_out;
	d->between = rc == LZMA_STREAM_END;
	if (rc == LZMA_OK || rc == LZMA_STREAM_END || rc == LZMA_BUF_ERROR)
		return NULL;
	return rc == LZMA_MEMLIMIT_ERROR ? "it needs more memory than the limit allows"
	       : rc == LZMA_MEM_ERROR	 ? "out of memory"
					 : "its data are damaged";
}

static const char *step_gzip(struct decoder *d, struct piece *p)
{
	int rc;

	if (d->between && p->in_size && (inflateReset(&d->gzip) != Z_OK))
		return "out of memory";
	d->gzip.next_in = (unsigned char *)p->in;
	d->gzip.avail_in = (unsigned)p->in_size;
	d->gzip.next_out = p->out;
	d->gzip.avail_out = (unsigned)p->out_size;
	rc = inflate(&d->gzip, Z_NO_FLUSH);
	p->in = d->gzip.next_in;
	p->in_size = d->gzip.avail_in;
	p->out_size = d->gzip.avail_out;
	if (rc == Z_OK || rc == Z_STREAM_END)
		d->between = rc == Z_STREAM_END;
	if (rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR)
		return NULL;
	return "its data are damaged";
}

/* Decode some bytes. Returns NULL, or what is wrong. */
static const char *step(struct decoder *d, struct piece *p)
{
	return d->as == INS_COMPRESSED_ZSTD ? step_zstd(d, p)
	       : d->as == INS_COMPRESSED_XZ ? step_lzma(d, p)
					    : step_gzip(d, p);
}

/* -- output -- */

struct sink {
	int fd;
	const char *folder;
	uint64_t size;	  /* of the output so far */
	uint64_t written; /* without holes */
	uint64_t room;
};

static int open_unnamed(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	char path[PATH_MAX];

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd;
	if (snprintf(path, sizeof path, "%s/fibertrace.XXXXXX", folder) >= (int)sizeof path)
		return errno = ENAMETOOLONG, -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int sink_open(const char *name, struct sink *s, struct ins_error *error)
{
	struct statvfs room;

	s->folder = getenv("TMPDIR");
	if (!s->folder || !s->folder[0])
		s->folder = "/var/tmp";
	s->fd = open_unnamed(s->folder);
	if (s->fd < 0)
		return ins_error_set(error, -errno,
				     "%s: cannot be unpacked into the folder %s: %s; name another "
				     "with TMPDIR",
				     name, s->folder, strerror(errno));
	s->room = UINT64_MAX;
	if (fstatvfs(s->fd, &room) == 0) {
		s->room = (uint64_t)room.f_bavail * room.f_frsize;
		s->room -= s->room < 2 * LEFT_FREE ? s->room / 2 : LEFT_FREE;
	}
	return 0;
}

static int write_run(struct sink *s, const unsigned char *bytes, size_t size, uint64_t at)
{
	size_t done = 0;

	s->written += size;
	if (s->written > s->room)
		return -ENOSPC;
	while (done < size) {
		ssize_t n = pwrite(s->fd, bytes + done, size - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/* Write the pages that are not all zeros. */
static int sink_write(struct sink *s, const unsigned char *bytes, size_t size)
{
	static const unsigned char zeros[PAGE];
	size_t at = 0, begin = 0;
	int rc = 0;

	if (s->size + size > SIZE_MAX_)
		return -EFBIG;
	while (at < size && rc == 0) {
		size_t n = size - at < PAGE ? size - at : PAGE;
		bool zero = memcmp(bytes + at, zeros, n) == 0;

		if (zero && begin < at)
			rc = write_run(s, bytes + begin, at - begin, s->size + begin);
		at += n;
		if (zero)
			begin = at;
	}
	if (rc == 0 && begin < size)
		rc = write_run(s, bytes + begin, size - begin, s->size + begin);
	s->size += size;
	return rc;
}

static int no_room(const char *name, const struct sink *s, int rc, struct ins_error *error)
{
	if (rc == -EFBIG)
		return ins_error_set(error, rc, "%s: unpacks to more than %llu GiB: refused", name,
				     (unsigned long long)(SIZE_MAX_ >> 30));
	if (rc == -ENOSPC)
		return ins_error_set(error, rc,
				     "%s: no room to unpack it in the folder %s; name another with "
				     "TMPDIR",
				     name, s->folder);
	return ins_error_set(error, rc, "%s: cannot be unpacked into the folder %s: %s", name,
			     s->folder, strerror(-rc));
}

/* -- the loop -- */

struct unpacking {
	const char *name;
	int fd;
	struct decoder decoder;
	struct sink sink;
	struct ins_progress progress;
	unsigned char *in, *out;
	const char *wrong; /* what is wrong with the stream; NULL: nothing */
};

static ssize_t read_some(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Unpack the contents of the buffer. */
static int unpack_piece(struct unpacking *u, struct piece *p)
{
	int rc = 0;

	while (!u->wrong && rc == 0) {
		size_t before = p->in_size, got;

		p->out = u->out;
		p->out_size = OUT_BYTES;
		if (u->decoder.between && u->decoder.as == INS_COMPRESSED_XZ)
			break;
		if (u->decoder.between && !p->in_size)
			break;
		u->wrong = step(&u->decoder, p);
		got = OUT_BYTES - p->out_size;
		rc = sink_write(&u->sink, u->out, got);
		ins_progress_bytes(&u->progress, u->sink.size);
		if (!got && p->in_size == before)
			break;
	}
	return rc;
}

static int unpack_all(struct unpacking *u)
{
	int rc = 0;

	for (;;) {
		ssize_t n = read_some(u->fd, u->in, IN_BYTES);
		struct piece p = {.in = u->in, .in_size = n > 0 ? (size_t)n : 0, .in_last = n <= 0};

		if (n < 0)
			u->wrong = strerror(errno);
		else
			rc = unpack_piece(u, &p);
		if (rc == 0 && !u->wrong && n > 0 && p.in_size)
			u->wrong = "its data are damaged";
		if (n > 0 && rc == 0 && !u->wrong)
			continue;
		if (rc == 0 && !u->wrong && !u->decoder.between)
			u->wrong = "it ends too early";
		return rc;
	}
}

static int unpack(struct unpacking *u, struct ins_error *error, struct ins_unpacked *ret)
{
	int rc = decoder_start(&u->decoder) && u->in && u->out ? 0 : -ENOMEM;

	if (rc < 0)
		return ins_error_set(error, rc, "%s: out of memory", u->name);
	rc = unpack_all(u);
	if (rc == 0 && ftruncate(u->sink.fd, (off_t)u->sink.size) < 0)
		rc = -errno;
	if (rc < 0)
		return no_room(u->name, &u->sink, rc, error);
	if (u->wrong && !u->sink.size)
		return ins_error_set(error, -EINVAL, "%s: cannot be unpacked (%s): %s", u->name,
				     ins_compressed_name(u->decoder.as), u->wrong);
	ret->fd = u->sink.fd;
	ret->size = u->sink.size;
	snprintf(ret->cut, sizeof ret->cut, "%s", u->wrong ? u->wrong : "");
	return 0;
}

int ins_compressed_unpack(const char *name, int fd, enum ins_compression as,
			  struct ins_error *error, struct ins_unpacked *ret)
{
	struct unpacking u = {.name = name, .fd = fd, .decoder = {.as = as}, .sink = {.fd = -1}};
	int rc;

	*ret = (struct ins_unpacked){.fd = -1};
	if (as == INS_COMPRESSED_NOT || as == INS_COMPRESSED_OTHER)
		return ins_error_set(error, -EINVAL,
				     "%s: is compressed with %s, which is not read here; unpack it "
				     "first",
				     name, ins_compressed_name(as));
	rc = sink_open(name, &u.sink, error);
	if (rc < 0)
		return rc;
	ins_progress_begin(&u.progress, "unpacking");
	u.in = malloc(IN_BYTES);
	u.out = malloc(OUT_BYTES);
	rc = unpack(&u, error, ret);
	ins_progress_end(&u.progress);
	decoder_end(&u.decoder);
	free(u.in);
	free(u.out);
	if (rc < 0)
		close(u.sink.fd);
	return rc;
}
