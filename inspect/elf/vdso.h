/* SPDX-License-Identifier: MIT */
/* vdso.h - the vdso, which has no file */
#ifndef INS_VDSO_H
#define INS_VDSO_H

#include <stddef.h>

/*
 * A path under which this kernel's vdso can be opened while the caller runs; it is the same for all
 * processes. Returns 0 or a negative errno.
 */
int ins_vdso_path(char *buf, size_t size);

/*
 * Make a memory file with the bytes of another kernel's vdso. Returns its descriptor, or a negative
 * errno; -EINVAL if there are no bytes, or more than any vdso has.
 */
int ins_vdso_keep(const void *bytes, size_t length);

#endif
