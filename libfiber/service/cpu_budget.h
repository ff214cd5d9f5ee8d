/* SPDX-License-Identifier: MIT */
/* cpu_budget.h - how much CPU time answers may take from the program. See cpu_budget.c for the rule. */
#ifndef FIB_SERVICE_CPU_BUDGET_H
#define FIB_SERVICE_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct fib_cpu_budget {
	unsigned cpus;	  /* that the process may use */
	int64_t stint;	  /* ns spent since the last pause */
	int64_t charged;  /* of them, by those to whom nothing was granted */
	int64_t saved;	  /* ns that may be spent, at saved_at; less than 0: owed */
	int64_t saved_at; /* ns of fib_os_now() */
	bool busy;	  /* whether the carriers used the CPUs when that was last looked at */
	bool pays;
	int64_t rests_until, owes_until; /* the pause, for whom it was granted and for others */
	int64_t looked_at;
	int64_t process_cpu, own_cpu; /* ns, then */
};

/* All is saved. By the thread that answers. */
void fib_cpu_budget_begin(struct fib_cpu_budget *cpu_budget, int64_t now);

/* Whether answers take the CPU from a carrier, as far as is known: let each turn be brief. */
static inline bool fib_cpu_budget_pays(const struct fib_cpu_budget *cpu_budget)
{
	return cpu_budget->pays;
}

/* An answer took ns of CPU time, and it is now. granted: it is not taken from the allowance. */
void fib_cpu_budget_spend(struct fib_cpu_budget *cpu_budget, int64_t ns, bool granted, int64_t now);

/* When to go on with answers of that sort; a time that has passed: at once. */
static inline int64_t fib_cpu_budget_until(const struct fib_cpu_budget *cpu_budget, bool granted)
{
	return granted ? cpu_budget->rests_until : cpu_budget->owes_until;
}

/* CPU time that this thread has used, ns. Where a sandbox refuses to say, the time: what passes of it is never less. */
int64_t fib_cpu_budget_cpu(void);

#endif
