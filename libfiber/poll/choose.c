/* SPDX-License-Identifier: MIT */
/*
 * choose.c - choose the poller of a runtime
 *
 * It is the first of the table (kqueue/table.c, no_kqueue/table.c) that can be opened, unless the administrator names one. An unknown
 * name is a mistake, and starting with another poller than the one that was measured would hide it:
 * so the program does not start. A poller that the machine forbids is not a mistake: the next one
 * is used, and the tools can say why. If descriptors have run out, no other poller is tried, since
 * each needs some too.
 */
#include "poll/choose.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/log.h"
#include "os/local.h"

#define SETTING "FIBER_POLLER"

/* "epoll, poll" */
static void list(const struct fib_poller_ops *const pollers[], size_t n, char *buf, size_t size)
{
	size_t i, at = 0;

	buf[0] = 0;
	for (i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
				       pollers[i]->name);
}

static const struct fib_poller_ops *find(const struct fib_poller_ops *const pollers[], size_t n,
					 const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(pollers[i]->name, name) == 0)
			return pollers[i];
	return NULL;
}

static bool run_out(int rc)
{
	return rc == -EMFILE || rc == -ENFILE;
}

int fib_poller_choose_from(const struct fib_poller_ops *const pollers[], size_t n,
			   const char *wanted, struct fib_poller **ret,
			   struct fib_poller_note *ret_note)
{
	const bool named = wanted && *wanted;
	const struct fib_poller_ops *const first = named ? find(pollers, n, wanted) : pollers[0];
	char names[128];
	size_t i;
	int rc, why;

	ret_note->text[0] = 0;
	if (named && !first) {
		list(pollers, n, names, sizeof names);
		fib_log(SETTING "=%.40s: no such poller, it is one of %s", wanted, names);
		return -EINVAL;
	}
	why = rc = first->open(ret);
	for (i = 0; i < n && rc < 0 && !run_out(rc); i++) {
		if (pollers[i] == first)
			continue;
		rc = pollers[i]->open(ret);
		if (rc == 0)
			snprintf(ret_note->text, sizeof ret_note->text,
				 "%s%s cannot be used here (%s), so %s is",
				 named ? SETTING "=" : "", first->name, strerror(-why),
				 pollers[i]->name);
	}
	return rc;
}

int fib_poller_choose(struct fib_poller **ret, struct fib_poller_note *ret_note)
{
	return fib_poller_choose_from(fib_pollers, fib_pollers_count, fib_os_setting(SETTING), ret,
				      ret_note);
}
