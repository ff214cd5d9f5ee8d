/* SPDX-License-Identifier: MIT */
/*
 * core.h - the room corefile/: a core file, read and written
 *
 * Takes: the path of a core; to write one, the memory, threads and fibers of a source.
 * Gives: memory by address, threads with registers, modules (this header); a core (core_write.h).
 * Used by: source/ for the source of a core; fibertrace/ for to-core.
 *
 * A core comes from the kernel or from gdb's gcore. It may be truncated or compressed. A file that
 * is not a core is an error.
 */
#ifndef INS_CORE_H
#define INS_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>

#include "inspect/corefile/core_memory.h"
#include "inspect/elf/modules.h"
#include "inspect/text/error.h"

/* Whether path starts like a core or a compressed file, so that it can only mean a core. */
bool ins_core_meant(const char *path);

/*
 * Open and index a core file, which may be compressed (compressed.h). Returns 0, or a negative
 * errno with error set.
 */
int ins_core_open(const char *path, struct ins_error *error, struct ins_core *ret);
void ins_core_close(struct ins_core *core);

/*
 * Add the mapped files: those of the NT_FILE note, and images in memory that the note does not
 * name. -ENOMEM.
 */
int ins_core_modules(const struct ins_core *core, struct ins_modules *modules);

#endif
