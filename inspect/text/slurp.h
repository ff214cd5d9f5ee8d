/* SPDX-License-Identifier: MIT */
/* slurp.h - a whole file of unknown length, such as those of /proc, in memory. */
#ifndef INS_SLURP_H
#define INS_SLURP_H

#include <stddef.h>

#define INS_SLURP_MAX ((size_t)256 << 20)

/* Read all of path. *ret_text is the caller's to free, and has a NUL after its *ret_size bytes. 0, or
 * a negative errno; -EFBIG past INS_SLURP_MAX. */
int ins_slurp(const char *path, char **ret_text, size_t *ret_size);

#endif
