/* SPDX-License-Identifier: MIT */
/* crash.h - the signal that ended a program, and who was running then. */
#ifndef INS_CRASH_H
#define INS_CRASH_H

#include <jansson.h>
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

/* "fiber 12 "worker" was running when signal 11 (SIGSEGV) came at 0x..., for address 0x0": harmless for a terminal. Returns
 * buf. */
const char *ins_crash_text(const struct ins_crash *crash, char *buf, size_t size);

/* The same as an object, null of NULL. */
json_t *ins_crash_json(const struct ins_crash *crash);

#endif
