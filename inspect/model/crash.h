/* SPDX-License-Identifier: MIT */
/* crash.h - the signal that ended a program, and the fiber that ran then */
#ifndef INS_CRASH_H
#define INS_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ins_crash {
	int signal;	  /* 0: none */
	int code;	  /* si_code */
	pid_t thread;	  /* that received the signal */
	pid_t sender;	  /* 0: no process sent it */
	uint64_t pc;	  /* of that thread */
	uint64_t sp;	  /* of that thread; in a handler on an alternate stack, the interrupted
			   * one */
	uint64_t address; /* the faulting address, for signals that have one */
	bool has_address;
	uint64_t fiber; /* that ran on the thread; 0: none */
	char name[32];	/* of the fiber, not escaped */
};

#endif
