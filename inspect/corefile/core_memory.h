/* SPDX-License-Identifier: MIT */
/*
 * core_memory.h - the index of an open core file, and its memory
 *
 * core.c fills it when it opens the file; all other code only reads it.
 */
#ifndef INS_CORE_MEMORY_H
#define INS_CORE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/procfs.h>
#include <sys/types.h>

#include "inspect/model/crash.h"
#include "inspect/text/error.h"
#include "inspect/elf/modules.h"
#include "inspect/model/source.h"
#include "inspect/model/thread_stack.h"

struct ins_core_load {
	uint64_t address;
	uint64_t size;	 /* bytes in the file */
	uint64_t memory; /* bytes in the process */
	uint64_t offset; /* in the file */
	uint32_t flags;	 /* PF_R, PF_W, PF_X */
};

/* A thread at the time of the core. */
struct ins_core_status {
	pid_t tid;
	struct ins_registers registers;
	int64_t call;  /* the system call it was in; -1: none; or INS_THREAD_STACK_CALL_UNKNOWN */
	uint64_t home; /* its stack pointer, or the one that a handler interrupted */
	uint64_t own_end; /* the end of the handler's alternate stack; 0: not in such a handler */
};

struct ins_core {
	int fd;
	struct ins_machine machine; /* of the program */
	uint64_t file_size;
	struct ins_core_load *load; /* by ascending address */
	size_t loads;
	uint64_t missing;	  /* bytes of memory cut off by the end of the file */
	char cut[160];		  /* why a compressed file was unpacked only in part; else "" */
	pid_t pid;		  /* 0: unknown */
	char program[17];	  /* its short name; "": unknown */
	struct elf_prpsinfo info; /* zeros: unknown */
	uint64_t phdr; /* where the program's own headers are, its entry, the vdso; 0: unknown */
	uint64_t entry;
	uint64_t vdso;
	struct ins_core_status *thread; /* by ascending home, once the core is open */
	size_t threads;
	struct ins_crash crash; /* signal 0: no signal ended the process */
	uint64_t files_at;	/* the NT_FILE note in the file; 0: none */
	uint32_t files_size;
	uint64_t auxv_at; /* the NT_AUXV note; 0: none */
	uint32_t auxv_size;
	struct ins_notes notes; /* the first segment of notes; at 0: none */
};

/* Copy bytes of the file itself. All of it and 0, or -EFAULT. */
int ins_core_read_file(const struct ins_core *core, uint64_t offset, void *buf, size_t size);

/* Copy memory. All of it and 0, or -EFAULT. */
int ins_core_read(const struct ins_core *core, uint64_t address, void *buf, size_t size);

/* Whether the process certainly had no executable memory at address. */
bool ins_core_no_code(const struct ins_core *core, uint64_t address);

/* Copy the contiguous bytes that exist from address on. Returns their number. */
size_t ins_core_read_some(const struct ins_core *core, uint64_t address, void *buf, size_t size);

/*
 * How many bytes from address on, at most size, are of one kind. *ret_there: the file may have
 * them; else they are a hole that was never written to.
 */
uint64_t ins_core_run(const struct ins_core *core, uint64_t address, uint64_t size,
		      bool *ret_there);

/*
 * The first address in [low, high) whose page was ever written, as far as the file tells. high: no
 * page was; UINT64_MAX: the file does not have the whole range.
 */
uint64_t ins_core_lowest_used(const struct ins_core *core, uint64_t low, uint64_t high);

#endif
