/* SPDX-License-Identifier: MIT */
/*
 * compressed.h - unpack compressed files, so that any part of them can be read
 *
 * The format is found by the first bytes, not by the name. The output is a file without a name,
 * which disappears when it is closed or the tool dies. Pages of zeros become holes, so a core stays
 * sparse.
 */
#ifndef INS_COMPRESSED_H
#define INS_COMPRESSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/text/error.h"

enum ins_compression {
	INS_COMPRESSED_NOT,
	INS_COMPRESSED_ZSTD,
	INS_COMPRESSED_XZ,
	INS_COMPRESSED_GZIP,
	INS_COMPRESSED_OTHER, /* in a format that is not supported */
};

/* By a file's first bytes. */
enum ins_compression ins_compressed_as(const void *bytes, size_t size);

/* "zstd", "xz", "gzip", "lz4 or bzip2", "not". */
const char *ins_compressed_name(enum ins_compression as);

struct ins_unpacked {
	int fd;	       /* a regular file without a name; the caller closes it */
	uint64_t size; /* of the output, with holes */
	char cut[160]; /* why the output is incomplete; "": it is complete */
};

/*
 * Unpack the rest of the file at fd; name is for messages. All frames or members that follow each
 * other are one output. If a stream is truncated or damaged after some output, that output is kept
 * and ret->cut says why. Returns 0; -EINVAL if there is no output or the format is unsupported;
 * -ENOSPC or -EFBIG if the output exceeds the limit; or the folder's errno. error is set.
 */
int ins_compressed_unpack(const char *name, int fd, enum ins_compression as,
			  struct ins_error *error, struct ins_unpacked *ret);

#endif
