/* SPDX-License-Identifier: MIT */
/*
 * compressed.h - files that somebody compressed, unpacked to read anywhere in them
 *
 * What a file is, its first bytes say, not its name. It is unpacked into a file that has no name and is gone when it
 * is closed, whoever dies; pages of zeros become holes, so that a core stays as sparse as it was.
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
	INS_COMPRESSED_OTHER, /* in a way that is not read here */
};

/* By a file's first bytes. */
enum ins_compression ins_compressed_as(const void *bytes, size_t size);

/* "zstd", "xz", "gzip", "lz4 or bzip2", "not". */
const char *ins_compressed_name(enum ins_compression as);

struct ins_unpacked {
	int fd;	       /* the caller's to close; regular, no name */
	uint64_t size; /* of what came out, holes too */
	char cut[160]; /* why it is not all of it; "": it is */
};

/*
 * Unpack the rest of the file at fd, whose name is for messages. All frames or members that follow each other are one
 * file. A stream that is cut or damaged after some bytes came is unpacked so far, and ret->cut says so. 0; -EINVAL when
 * nothing came or it cannot be read; -ENOSPC, -EFBIG when what comes is more than there is room for; the errno of the
 * folder: error is set.
 */
int ins_compressed_unpack(const char *name, int fd, enum ins_compression as,
			  struct ins_error *error, struct ins_unpacked *ret);

#endif
