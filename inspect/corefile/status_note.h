/* SPDX-License-Identifier: MIT */
/*
 * status_note.h - the notes of a core on a thread and on the process, of any machine
 *
 * The structs of NT_PRSTATUS, NT_PRPSINFO and NT_SIGINFO are the same for every 64-bit machine up to
 * the registers, whose number differs.
 */
#ifndef INS_STATUS_NOTE_H
#define INS_STATUS_NOTE_H

#include <signal.h>
#include <sys/procfs.h>

#include "inspect/elf/machine.h"
#include "inspect/model/registers.h"

#define INS_STATUS_NOTE_MOST 512u

struct ins_status_note {
	pid_t tid;
	int signal;
	int64_t call; /* the system call it was in; -1: none */
	bool has_call;
	struct ins_registers registers;
};

/* How many bytes the status of a thread has; 0: unknown machine. */
size_t ins_status_note_size(struct ins_machine machine);

/* Decode a status. False: unknown machine, or the note is too short. */
bool ins_status_note_take(struct ins_machine machine, const void *note, size_t size,
			  struct ins_status_note *ret);

/* Make a status from registers; all other members are 0. Returns its size; 0: unknown machine. */
size_t ins_status_note_make(struct ins_machine machine, const struct ins_registers *registers,
			    pid_t tid, unsigned char ret[INS_STATUS_NOTE_MOST]);

/* Convert what was read from a core of the machine, or is written to one. */
void ins_status_note_swap_process(struct ins_machine machine, struct elf_prpsinfo *info);
void ins_status_note_swap_signal(struct ins_machine machine, siginfo_t *info);

#endif
