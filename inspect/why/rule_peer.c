/* SPDX-License-Identifier: MIT */
/*
 * rule_peer.c - many connections to one address wait, and the peer owes an answer on each
 *
 * An idle connection waits for input just as long. So only those count on which data was sent after
 * the last data came (inspect/process/peers.h), or that are not established. Connections of clients have a
 * port each, so those of a server never count together.
 *
 * Known of a live process only, in the tool's network namespace. It does not know a request that is meant
 * to last, such as a poll for news, or that the program has had the last word: it has acknowledged a
 * message and waits for the next. So the text says what is known, and MANY must wait.
 */
#include "inspect/why/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <fiber/fiber.h>

#include "inspect/text/duration.h"

#define MANY 5
/* Of more than this nothing is asked: each takes a system call. */
#define MOST 100000

struct asker {
	const struct ins_peer *peer;
	size_t at; /* of the fiber */
	int64_t age;
};

static bool waits(const struct ins_look *look, const struct ins_fiber *fiber)
{
	return fiber->row.wait_kind == FIB_WAIT_FD && ins_look_waits(fiber) &&
	       ins_look_old(look, fiber->row.age, 0) && ins_look_stayed(look, fiber);
}

static int by_address(const void *a, const void *b)
{
	const struct asker *x = a, *y = b;
	const int order = strcmp(x->peer->address, y->peer->address);

	if (order)
		return order;
	if (x->peer != y->peer)
		return x->peer < y->peer ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* The fibers whose peers owe an answer. */
static size_t gather(struct ins_look *look, struct asker *ret)
{
	size_t i, n = ins_look_count(look), count = 0;
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		const struct ins_peer *peer;

		ins_look_get(look, i, &fiber);
		peer = waits(look, &fiber) ? ins_look_peer(look, &fiber) : NULL;
		if (peer && peer->owes)
			ret[count++] = (struct asker){peer, i, fiber.row.age};
	}
	return count;
}

/* The askers of one address, from all[at] on. Returns where the next address begins. */
static size_t report(struct ins_look *look, const struct asker *all, size_t n, size_t at,
		     struct ins_findings *ret, int *ret_rc)
{
	size_t i, end = at, connections = 0, longest = at;
	struct ins_finding *f;
	struct ins_fiber fiber;

	for (; end < n && strcmp(all[end].peer->address, all[at].peer->address) == 0; end++) {
		connections += end == at || all[end].peer != all[end - 1].peer;
		if (all[end].age > all[longest].age)
			longest = end;
	}
	if (connections < MANY)
		return end;
	f = ins_findings_add(ret, &ins_rule_peer, INS_SLOW);
	if (!f)
		*ret_rc = -ENOMEM;
	for (i = at; f && i < end; i++) {
		ins_look_get(look, all[i].at, &fiber);
		ins_sample_lowest(&f->ids, fiber.row.id);
		f->weight = ++f->fibers;
		f->subject = all[longest].at;
	}
	return end;
}

static size_t count(const struct ins_look *look)
{
	size_t i, n = ins_look_count(look), ret = 0;
	struct ins_fiber fiber;

	for (i = 0; i < n; i++) {
		ins_look_get(look, i, &fiber);
		ret += waits(look, &fiber);
	}
	return ret;
}

static int find(struct ins_look *look, struct ins_findings *ret)
{
	const size_t candidates = look->pid ? count(look) : 0;
	struct asker *all;
	size_t n, at = 0;
	int rc = 0;

	if (candidates < MANY || candidates > MOST)
		return 0;
	all = calloc(candidates, sizeof *all);
	if (!all)
		return -ENOMEM;
	n = gather(look, all);
	if (n)
		qsort(all, n, sizeof *all, by_address);
	while (rc == 0 && at < n)
		at = report(look, all, n, at, ret, &rc);
	free(all);
	return rc;
}

static void say(struct ins_look *look, struct ins_finding *f)
{
	struct ins_strbuf line = ins_finding_headline(f);
	const struct ins_peer *peer;
	struct ins_fiber longest;

	ins_look_get(look, f->subject, &longest);
	peer = ins_look_peer(look, &longest);
	ins_look_say_count(&line, f->fibers, "fiber waits", "fibers wait");
	ins_strbuf_text(&line,
			" for one peer from which nothing has come since data was sent to it: ");
	ins_strbuf_text(&line, peer ? peer->address : "it has closed meanwhile");
	ins_collect_say(look, &longest, f);
}

const struct ins_rule ins_rule_peer = {
	"peer", "many connections to one address, on which the peer owes an answer", find, say,
	INS_NEEDS_PROCESS};
