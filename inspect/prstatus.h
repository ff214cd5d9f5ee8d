/* SPDX-License-Identifier: MIT */
/* prstatus.h - the registers of a thread as a core's notes have them, for machines whose stacks can be walked. */
#ifndef INS_PRSTATUS_H
#define INS_PRSTATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>

struct ins_thread_state {
	uint64_t sp, pc, fp;
};

/* Fill in the status of a thread of which only these are known. False: not on a machine like this one. */
bool ins_prstatus_make(struct elf_prstatus *ret, pid_t tid,
		       const struct ins_thread_state *registers);

/* Register number, DWARF's, is known besides. One that has no place in a status of this machine is passed over. */
void ins_prstatus_set(struct elf_prstatus *status, unsigned number, uint64_t value);

/* What a status says of them. False as above. */
bool ins_prstatus_read(const struct elf_prstatus *status, struct ins_thread_state *ret);

#endif
