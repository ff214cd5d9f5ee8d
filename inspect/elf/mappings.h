/* SPDX-License-Identifier: MIT */
/* mappings.h - the mappings of a live process, with what a core needs: rights, files, exclusions */
#ifndef INS_MAPPINGS_H
#define INS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "inspect/text/error.h"

struct ins_mapping {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint64_t inode;	 /* 0: no file */
	uint32_t flags;	 /* PF_R, PF_W, PF_X */
	bool shared;
	bool deleted;  /* its file has been unlinked, as for shared memory */
	bool withheld; /* MADV_DONTDUMP, or a device */
	char *path;    /* "": none */
};

struct ins_mappings {
	struct ins_mapping *at; /* by ascending start */
	size_t count;
};

/*
 * Read /proc/PID/smaps, or maps if that is not available; then withheld is false everywhere.
 * Returns 0, or a negative errno with error set. The caller frees *ret, also after an error.
 */
int ins_mappings_read(pid_t pid, struct ins_mappings *ret, struct ins_error *error);

/* Parse a text in the kernel's format. -ENOMEM. */
int ins_mappings_parse(FILE *text, struct ins_mappings *ret);

void ins_mappings_free(struct ins_mappings *mappings);

#endif
