/* SPDX-License-Identifier: MIT */
/*
 * cpu_budget.h - limit the CPU time that answers take from the program. See cpu_budget.c for the
 * rule.
 */
#ifndef FIB_SERVICE_CPU_BUDGET_H
#define FIB_SERVICE_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct fib_cpu_budget {
	unsigned cpus;	  /* that the process may use */
	int64_t stint;	  /* ns spent since the last pause */
	int64_t charged;  /* of these, for peers without a grant */
	int64_t saved;	  /* ns that may be spent, at saved_at; less than 0: debt */
	int64_t saved_at; /* ns of fib_os_now() */
	bool busy;	  /* the carriers used the CPUs at the last look */
	bool pays;
	int64_t rests_until, owes_until; /* end of the pause for peers with a grant, for others */
	int64_t looked_at;
	int64_t process_cpu, own_cpu; /* ns, at looked_at */
};

/* Start with a full budget. Called by the thread that answers. */
void fib_cpu_budget_begin(struct fib_cpu_budget *cpu_budget, int64_t now);

/*
 * Whether answers take the CPU from a carrier, as far as is known; each turn should then be brief.
 */
static inline bool fib_cpu_budget_pays(const struct fib_cpu_budget *cpu_budget)
{
	return cpu_budget->pays;
}

/* An answer took ns of CPU time. granted: it is not charged to the budget. */
void fib_cpu_budget_spend(struct fib_cpu_budget *cpu_budget, int64_t ns, bool granted, int64_t now);

/* When answers of that kind may continue; a time in the past: at once. */
static inline int64_t fib_cpu_budget_until(const struct fib_cpu_budget *cpu_budget, bool granted)
{
	return granted ? cpu_budget->rests_until : cpu_budget->owes_until;
}

/*
 * CPU time of this thread, ns. If a sandbox refuses the call: the wall time, which never grows more
 * slowly.
 */
int64_t fib_cpu_budget_cpu(void);

#endif
