/* SPDX-License-Identifier: MIT */
/*
 * atomic_file.c - a file that is there whole or not at all
 *
 * What is written is a draft beside the place it is meant for until all of it is there: a disk that is full, a process that
 * ends, a Ctrl-C leave what was there before. It is its owner's alone, since it may have what was on the stacks of a program.
 */
#include "inspect/text/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/access.h"

#define BUFFER ((size_t)256 << 10)

char ins_atomic_file_path[4096];

int ins_atomic_file_cannot(const char *path, int rc, struct ins_error *error)
{
	char why[INS_ACCESS_EXPLAIN_SIZE];

	return ins_error_set(error, rc, "%s: cannot be written: %s", path,
			     ins_access_explain(path, INS_ACCESS_MAKE, rc, why, sizeof why));
}

/* A link to a file would be replaced itself. /dev/stdout is one too, whatever lies behind /proc, and everybody's. */
static bool is_file(const char *path, mode_t mode)
{
	static const char proc[] = "/proc/";
	char to[sizeof proc] = "";
	struct stat st;

	if (!S_ISLNK(mode))
		return S_ISREG(mode);
	if (readlink(path, to, sizeof to - 1) > 0 && strcmp(to, proc) == 0)
		return false;
	return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static int in_the_way(const struct ins_atomic_file *d, struct ins_error *error)
{
	struct stat st;

	if (lstat(d->path, &st) < 0)
		return errno == ENOENT ? 0 : ins_atomic_file_cannot(d->path, -errno, error);
	if (!is_file(d->path, st.st_mode))
		return ins_error_set(error, -EEXIST, "%s: is there, and is no file", d->path);
	if (!d->replace)
		return ins_error_set(error, -EEXIST, "%s: is there: --force replaces it", d->path);
	return 0;
}

static int open_temporary(struct ins_atomic_file *d, struct ins_error *error)
{
	static char buffer[BUFFER];
	int fd;

	if ((size_t)snprintf(ins_atomic_file_path, sizeof ins_atomic_file_path, "%s.XXXXXX",
			     d->path) >= sizeof ins_atomic_file_path) {
		ins_atomic_file_path[0] = 0;
		return ins_atomic_file_cannot(d->path, -ENAMETOOLONG, error);
	}
	fd = mkostemp(ins_atomic_file_path, O_CLOEXEC); /* mode 0600 */
	if (fd < 0) {
		ins_atomic_file_path[0] = 0;
		return ins_atomic_file_cannot(d->path, -errno, error);
	}
	d->out = fdopen(fd, "w+");
	if (!d->out) {
		close(fd);
		unlink(ins_atomic_file_path);
		ins_atomic_file_path[0] = 0;
		return ins_atomic_file_cannot(d->path, -ENOMEM, error);
	}
	setvbuf(d->out, buffer, _IOFBF, sizeof buffer);
	return 0;
}

int ins_atomic_file_begin(struct ins_atomic_file *atomic_file, const char *path, bool replace,
			  struct ins_error *error)
{
	int rc;

	*atomic_file = (struct ins_atomic_file){.path = path, .replace = replace};
	rc = in_the_way(atomic_file, error);
	return rc < 0 ? rc : open_temporary(atomic_file, error);
}

/* The draft becomes the file; somebody may have been faster. */
static int publish(const struct ins_atomic_file *d, struct ins_error *error)
{
	const unsigned how = d->replace ? 0 : RENAME_NOREPLACE;
	int rc = renameat2(AT_FDCWD, ins_atomic_file_path, AT_FDCWD, d->path, how);

	if (rc < 0 && how && errno == EINVAL) { /* a file system that cannot */
		rc = in_the_way(d, error);
		if (rc < 0)
			return rc;
		rc = rename(ins_atomic_file_path, d->path);
	}
	return rc < 0 ? ins_atomic_file_cannot(d->path, -errno, error) : 0;
}

int ins_atomic_file_end(struct ins_atomic_file *atomic_file, int rc, struct ins_error *error)
{
	bool lost;

	errno = 0;
	lost = ferror(atomic_file->out) != 0;
	if (fclose(atomic_file->out) != 0 || lost) {
		if (rc == 0)
			rc = ins_atomic_file_cannot(atomic_file->path, errno ? -errno : -EIO,
						    error);
	}
	if (rc == 0)
		rc = publish(atomic_file, error);
	if (rc < 0)
		unlink(ins_atomic_file_path);
	ins_atomic_file_path[0] = 0;
	return rc;
}
