/* SPDX-License-Identifier: MIT */
/*
 * output.c - write to a temporary file, which is renamed at the end
 *
 * After a full disk or a crash an older file of the name is unchanged.
 */
#include "text/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void drop(struct fib_output *o)
{
	if (o->temporary)
		unlink(o->temporary);
	free(o->temporary);
	o->temporary = NULL;
}

int fib_output_begin(struct fib_output *output, const char *path)
{
	struct stat st;
	int fd;

	*output = (struct fib_output){stdout, path, NULL};
	if (!path)
		return 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	if (asprintf(&output->temporary, "%s.XXXXXX", path) < 0) {
		output->temporary = NULL;
		return -ENOMEM;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return -errno;
	}
	output->out = fdopen(fd, "w");
	if (output->out)
		return 0;
	close(fd);
	drop(output);
	return -ENOMEM;
}

void fib_output_share(struct fib_output *output)
{
	const mode_t mask = umask(0);

	umask(mask);
	if (output->path)
		fchmod(fileno(output->out), 0666 & ~mask);
}

int fib_output_end(struct fib_output *output)
{
	int rc = 0;

	errno = 0;
	if (fflush(output->out) != 0 || ferror(output->out))
		rc = errno ? -errno : -EIO;
	if (!output->path)
		return rc;
	if (fclose(output->out) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(output->temporary, output->path) < 0)
		rc = -errno;
	if (rc < 0)
		drop(output);
	free(output->temporary);
	output->temporary = NULL;
	return rc;
}
