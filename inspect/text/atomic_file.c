/* SPDX-License-Identifier: MIT */
/*
 * atomic_file.c - write a file completely or not at all
 *
 * The data goes to a temporary file in the same folder, which is renamed at the end. So after a
 * full disk, a crash or Ctrl-C the old file is unchanged. Only the owner may read it, since it may
 * have contents of a program's stacks.
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

/*
 * A symlink to a regular file counts as a file: rename replaces the symlink itself. /dev/stdout is
 * a symlink into /proc that all programs share, so it must not be replaced.
 */
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

/* Rename the draft to its final name; another process may have created that file meanwhile. */
static int publish(const struct ins_atomic_file *d, struct ins_error *error)
{
	const unsigned how = d->replace ? 0 : RENAME_NOREPLACE;
	int rc = renameat2(AT_FDCWD, ins_atomic_file_path, AT_FDCWD, d->path, how);

	if (rc < 0 && how && errno == EINVAL) { /* the file system does not support it */
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
