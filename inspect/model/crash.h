/* SPDX-License-Identifier: MIT */
/* crash.h - the signal that ended a program, and who was running then. */
#ifndef INS_CRASH_H
#define INS_CRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ins_crash {
	int signal;	  /* 0: none */
	int code;	  /* si_code */
	pid_t thread;	  /* that it came to */
	pid_t sender;	  /* 0: no process sent it */
	uint64_t pc;	  /* where that thread was */
	uint64_t sp;	  /* and on which stack; a handler's own does not count */
	uint64_t address; /* that it touched, of the signals that have one */
	bool has_address;
	uint64_t fiber; /* that the thread ran; 0: none */
	char name[32];	/* of the fiber, as it stands in the program */
};

#endif
