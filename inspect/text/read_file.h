/* SPDX-License-Identifier: MIT */
/* read_file.h - read a whole file of unknown length, such as those of /proc */
#ifndef INS_READ_FILE_H
#define INS_READ_FILE_H

#include <stddef.h>

#define INS_READ_FILE_MAX ((size_t)256 << 20)

/*
 * Read all of path. The caller frees *ret_text, which has a NUL after its *ret_size bytes. Returns
 * 0 or a negative errno; -EFBIG above INS_READ_FILE_MAX.
 */
int ins_read_file(const char *path, char **ret_text, size_t *ret_size);

#endif
