/* SPDX-License-Identifier: MIT */
/* elf_head.h - what the headers of an ELF file say about how it is started */
#ifndef FIBERIZE_ELF_HEAD_H
#define FIBERIZE_ELF_HEAD_H

#include <limits.h>
#include <stdbool.h>

struct fiberize_elf {
	bool elf;	  /* it is an ELF file */
	bool readable;	  /* of the class and the byte order of this program: the rest is set */
	unsigned machine; /* EM_... */
	char loader[PATH_MAX]; /* the path in PT_INTERP; "": none */
};

/* Read the headers of a file. Returns 0, or a negative errno: -ENOEXEC for damaged headers. */
int fiberize_elf_read(int fd, struct fiberize_elf *ret);

#endif
