/* SPDX-License-Identifier: MIT */
/* vdso.h - the kernel's own library, which has no file. */
#ifndef INS_VDSO_H
#define INS_VDSO_H

#include <stddef.h>

/* A path under which the vdso of this machine's kernel can be opened, as long as the caller runs: the same for all its
 * processes. 0, or a negative errno. */
int ins_vdso_path(char *buf, size_t size);

/* A file in memory with the bytes of another kernel's: its descriptor, or a negative errno; -EINVAL where there are none, or more
 * than any has. */
int ins_vdso_keep(const void *bytes, size_t length);

#endif
