/* SPDX-License-Identifier: MIT */
/*
 * sleep_sets.c - exhaustive without orders of steps that cannot influence each other
 *
 * Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", LNCS 1032, chapter 5.
 * At a choice of the next fiber let the alternatives a, b, ... be taken one after another. When b is
 * taken, every schedule in which a goes first was run. A schedule in which b goes first and then a,
 * where both steps are independent (explore/footprint.c), leads where one of those led. So below b
 * the fiber of a sleeps: it is no alternative until a step is made on which its next one depends. A
 * sleeping fiber does not run, so its next step stays the same.
 *
 * If all fibers that can run sleep, the rest of the schedule leads nowhere new. Its fibers cannot be
 * unwound, so it is run to its end, with the fibers in turn, but its choices are no branches of the
 * tree. It counts as run, and what it finds is a finding.
 *
 * Every outcome is kept: each schedule that is left out has the steps of one that is run, in an order
 * that differs in independent steps only. A sleeping fiber that is forgotten costs time but no
 * outcome. So fibers from number 64 on never sleep, choices of more than 64 fibers are not reduced,
 * and a step within which another choice is made depends on all. A step that did not end, because of
 * a finding or of fiber_test_assume(), does too.
 *
 * Whether the step of an alternative depends on all is only known when it was run; that is kept for
 * later alternatives. What it touches is taken from the call that the sleeping fiber has announced in
 * the schedule that runs, because objects may have other addresses than in earlier ones.
 *
 * The tree is in memory that all processes of an exploration share: a schedule may run in a process
 * of its own, and the next worker goes on after a finding or a dropped schedule.
 */
#include "strategy/sleep_sets.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "explore/footprint.h"

#define DEPTH  FIB_FAIR_AFTER
#define FIBERS 64u /* bits of a set */

/* A choice of the last schedule. Sets: of fibers by number, of alternatives by place. */
struct node {
	uint64_t asleep; /* fibers, when the choice was made */
	uint64_t done;	 /* fibers whose alternatives were taken before, and do not depend on all */
	uint64_t open;	 /* alternatives that do not sleep */
	uint32_t taken;	 /* fiber */
	uint16_t n, chosen;
	bool reduced; /* a choice of fibers for which the sets are kept */
	bool all;     /* the step of the alternative depends on all */
};

struct tree {
	unsigned length; /* of the path to repeat */
	uint64_t cut;	 /* the number of a schedule in which all fibers slept; 0: none */
	unsigned end;	 /* its choices from here on lead nowhere new */
	struct node at[DEPTH];
};

static struct tree *tree; /* NULL: not used */

/* Of this process's schedule. */
static struct {
	uint64_t number;
	uint64_t asleep;
	struct node *next;    /* the choice that leads to the next step */
	struct node *current; /* to the one that runs; NULL: there was no choice */
	uint32_t fiber;	      /* that makes it; 0: none */
	unsigned made;	      /* choices */
	bool over;	      /* all fibers slept */
} now;

int fib_sleep_sets_use(bool use)
{
	if (tree)
		munmap(tree, sizeof *tree);
	tree = NULL;
	if (!use)
		return 0;
	tree = mmap(NULL, sizeof *tree, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tree == MAP_FAILED) {
		tree = NULL;
		return -ENOMEM;
	}
	return 0;
}

bool fib_sleep_sets_used(void)
{
	return tree != NULL;
}

static uint64_t bit(uint32_t i)
{
	return i < FIBERS ? UINT64_C(1) << i : 0;
}

/* The rest of the schedule leads nowhere new. */
static void give_up(unsigned at)
{
	if (now.over)
		return;
	now.over = true;
	tree->cut = now.number;
	tree->end = at;
}

/* The running step has ended, if there is one: wake the fibers whose next step depends on it. */
static void end_step(void)
{
	struct fib_footprint step, other;
	uint64_t left;

	if (!now.fiber)
		return;
	step = fib_footprint_end();
	if (now.current)
		now.current->all = step.all;
	for (left = now.asleep; left; left &= left - 1) {
		const uint32_t fiber = (uint32_t)__builtin_ctzll(left);

		other = fib_footprint_of(fib_explorer_intent(fiber));
		if (fiber == now.fiber || fib_footprint_depend(&step, &other))
			now.asleep &= ~bit(fiber);
	}
	now.fiber = 0;
}

static void start_step(uint32_t fiber)
{
	end_step();
	if (!now.next && (now.asleep & bit(fiber)))
		give_up(now.made);
	now.current = now.next;
	now.next = NULL;
	now.fiber = fiber;
	fib_footprint_start(fib_explorer_intent(fiber));
}

void fib_sleep_sets_begin(uint64_t number)
{
	if (number == 1)
		tree->length = 0;
	memset(&now, 0, sizeof now);
	now.number = number;
	fib_footprint_begin();
	fib_explorer_watch_steps(start_step);
}

/* Make a node of a choice that no schedule has made before. */
static void open_node(struct node *node, const struct fib_choice *choice)
{
	uint64_t can_run = 0;
	unsigned i;

	*node = (struct node){.n = (uint16_t)choice->n};
	if (choice->kind != FIB_CHOICE_RUN || choice->n > FIBERS)
		return;
	node->reduced = true;
	for (i = 0; i < choice->n; i++) {
		can_run |= bit(choice->numbers[i]);
		if (!(now.asleep & bit(choice->numbers[i])))
			node->open |= bit(i);
	}
	node->asleep = now.asleep & can_run;
	if (node->open)
		node->chosen = (uint16_t)__builtin_ctzll(node->open);
}

/* The choice is made: the step that it leads to has not begun. */
static void take(struct node *node, const struct fib_choice *choice)
{
	node->all = true;
	if (choice->kind != FIB_CHOICE_RUN) {
		fib_footprint_all();
		return;
	}
	now.asleep = 0;
	if (node->reduced) {
		node->taken = choice->numbers[node->chosen];
		now.asleep = (node->asleep | node->done) & ~bit(node->taken);
	}
	now.next = node;
}

unsigned fib_sleep_sets_choose(const struct fib_choice *choice)
{
	const bool runs = choice->kind == FIB_CHOICE_RUN;
	struct node *node;

	if (runs)
		end_step();
	now.made = choice->step + 1;
	if (choice->step >= DEPTH || now.over)
		return runs ? choice->step % choice->n : 0;
	node = &tree->at[choice->step];
	if (choice->step >= tree->length || node->chosen >= choice->n)
		open_node(node, choice);
	if (node->reduced && !node->open) {
		give_up(choice->step);
		return choice->step % choice->n;
	}
	take(node, choice);
	return node->chosen;
}

/* The next alternative of a node; its n: there is none. */
static unsigned next_of(const struct node *node)
{
	const uint64_t later = node->chosen + 1u < FIBERS ? node->open >> (node->chosen + 1u) : 0;

	if (!node->reduced)
		return node->chosen + 1u;
	return later ? node->chosen + 1u + (unsigned)__builtin_ctzll(later) : node->n;
}

bool fib_sleep_sets_end(const struct fib_step *steps, unsigned n)
{
	unsigned i = tree->cut == now.number && tree->end < n ? tree->end : n;

	(void)steps;
	while (i--) {
		struct node *node = &tree->at[i];
		const unsigned next = next_of(node);

		if (next >= node->n)
			continue;
		if (node->reduced && !node->all)
			node->done |= bit(node->taken);
		node->chosen = (uint16_t)next;
		tree->length = i + 1;
		return true;
	}
	return false;
}

/* Alternatives that sleep have no part of the tree. */
double fib_sleep_sets_done(void)
{
	double part = 1, done = 0;
	unsigned i;

	for (i = 0; i < tree->length; i++) {
		const struct node *node = &tree->at[i];
		const unsigned n =
			node->reduced ? (unsigned)__builtin_popcountll(node->open) : node->n;
		const unsigned before =
			node->reduced ? (unsigned)__builtin_popcountll(
						node->open & ((UINT64_C(1) << node->chosen) - 1))
				      : node->chosen;

		part /= n;
		done += part * before;
	}
	return done;
}
