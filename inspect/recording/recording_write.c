/* SPDX-License-Identifier: MIT */
/*
 * recording_write.c - write a recording to a file
 *
 * The file is a draft until it is complete. Only its owner may read it, since it has names and
 * stacks of a program.
 */
#include "inspect/recording/recording_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inspect/text/atomic_file.h"

struct ins_recording_writer {
	FILE *out;
	char *path, *atomic_file;
	bool replace;
	int rc; /* the first error */
	struct fib_recording_part part;
	long part_at; /* 0: no section is open */
};

static void put(struct ins_recording_writer *w, const void *bytes, size_t size)
{
	if (w->rc == 0 && size && fwrite(bytes, 1, size, w->out) != size)
		w->rc = errno ? -errno : -EIO;
}

static void put_at(struct ins_recording_writer *w, long at, const void *bytes, size_t size)
{
	if (w->rc == 0 && fseek(w->out, at, SEEK_SET) < 0)
		w->rc = -errno;
	put(w, bytes, size);
	if (w->rc == 0 && fseek(w->out, 0, SEEK_END) < 0)
		w->rc = -errno;
}

static void close_part(struct ins_recording_writer *w)
{
	if (w->part_at)
		put_at(w, w->part_at, &w->part, sizeof w->part);
	w->part_at = 0;
}

static void open_part(struct ins_recording_writer *w, enum fib_recording_section type)
{
	close_part(w);
	w->part_at = ftell(w->out);
	w->part = (struct fib_recording_part){.type = type};
	put(w, &w->part, sizeof w->part);
}

static void append(struct ins_recording_writer *w, const void *bytes, size_t size)
{
	put(w, bytes, size);
	w->part.size += size;
}

int ins_recording_put(struct ins_recording_writer *w, enum fib_recording_section type,
		      const void *bytes, size_t size)
{
	if (!w->part_at || w->part.type != type)
		open_part(w, type);
	append(w, bytes, size);
	return w->rc;
}

int ins_recording_put_events(struct ins_recording_writer *w, const struct fib_recording_events *e,
			     const struct fib_event *events)
{
	open_part(w, FIB_RECORDING_EVENTS);
	append(w, e, sizeof *e);
	append(w, events, e->count * sizeof *events);
	return w->rc;
}

int ins_recording_put_text(struct ins_recording_writer *w, enum fib_recording_section type,
			   uint64_t key, const char *text)
{
	const struct fib_recording_text head = {.key = key, .size = (uint32_t)strlen(text)};

	ins_recording_put(w, type, &head, sizeof head);
	append(w, text, head.size);
	return w->rc;
}

static void let_go(struct ins_recording_writer *w)
{
	if (w->out)
		fclose(w->out);
	free(w->path);
	free(w->atomic_file);
	free(w);
}

void ins_recording_drop(struct ins_recording_writer *w)
{
	if (w->out)
		unlink(w->atomic_file);
	let_go(w);
}

int ins_recording_begin(const char *path, bool replace, const struct fib_recording_head *head,
			struct ins_error *error, struct ins_recording_writer **ret)
{
	struct ins_recording_writer *w = calloc(1, sizeof *w);
	struct fib_recording_head atomic_file = *head;
	int fd = -1, rc = -ENOMEM;

	if (!w)
		return ins_error_set(error, -ENOMEM, "out of memory");
	w->replace = replace;
	w->path = strdup(path);
	if (asprintf(&w->atomic_file, "%s.XXXXXX", path) < 0)
		w->atomic_file = NULL;
	if (w->path && w->atomic_file) {
		rc = !replace && access(path, F_OK) == 0 ? -EEXIST : 0;
		if (rc == 0 && (fd = mkostemp(w->atomic_file, O_CLOEXEC)) < 0)
			rc = -errno;
		if (rc == 0 && !(w->out = fdopen(fd, "w+")))
			rc = -ENOMEM;
	}
	if (rc == 0) {
		atomic_file.ended = 0;
		put(w, &atomic_file, sizeof atomic_file);
		*ret = w;
		return 0;
	}
	if (fd >= 0 && !w->out) {
		close(fd);
		unlink(w->atomic_file);
	}
	let_go(w);
	if (rc == -EEXIST)
		return ins_error_set(error, rc, "%s: is there: --force replaces it", path);
	return ins_atomic_file_cannot(path, rc, error);
}

int ins_recording_end(struct ins_recording_writer *w, const struct fib_recording_head *head,
		      struct ins_error *error)
{
	int rc;

	close_part(w);
	put_at(w, 0, head, sizeof *head);
	if (w->rc == 0 && (fflush(w->out) != 0 || fsync(fileno(w->out)) < 0))
		w->rc = -errno;
	if (w->rc == 0 && renameat2(AT_FDCWD, w->atomic_file, AT_FDCWD, w->path,
				    w->replace ? 0 : RENAME_NOREPLACE) < 0)
		w->rc = -errno;
	rc = w->rc;
	if (rc < 0) {
		ins_atomic_file_cannot(w->path, rc, error);
		unlink(w->atomic_file);
	}
	let_go(w);
	return rc;
}
