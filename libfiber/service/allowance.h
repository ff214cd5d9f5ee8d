/* SPDX-License-Identifier: MIT */
/* allowance.h - how much CPU time answers may take from the program. See allowance.c for the rule. */
#ifndef FIB_SERVICE_ALLOWANCE_H
#define FIB_SERVICE_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct fib_allowance {
	unsigned cpus;	  /* that the process may use */
	int64_t stint;	  /* ns spent since the last pause */
	int64_t saved;	  /* ns that may be spent, at saved_at; less than 0: owed */
	int64_t saved_at; /* ns of fib_os_now() */
	bool busy;	  /* whether the carriers used the CPUs when that was last looked at */
	int64_t looked_at;
	int64_t process_cpu, own_cpu; /* ns, then */
};

/* All is saved. By the thread that answers. */
void fib_allowance_begin(struct fib_allowance *allowance, int64_t now);

/* An answer took ns of CPU time, and it is now: when to go on, 0 at once. */
int64_t fib_allowance_spend(struct fib_allowance *allowance, int64_t ns, int64_t now);

#endif
