/* SPDX-License-Identifier: MIT */
/*
 * dump.c - write every fiber as text, from a program that may be dying
 *
 * The caller may be a handler for SIGSEGV that interrupted the allocator, or this library with any
 * of its locks held. So nothing is allocated and no lock is taken. The text of a fiber is built in
 * a buffer on the stack, which is written when it is nearly full. If a dump fails because of a full
 * disk or a closed pipe, only its caller gets the error.
 */
#include <fiber/introspect.h>

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "core/registry.h"
#include "os/os.h"

#define ROOM   2560u
#define A_ROW  1024u /* more than the longest row */
#define LABELS 1280u /* more than the longest labels: four bytes for each of theirs */

struct dump {
	int fd;
	uint64_t fibers;
	struct fib_text text;
	char room[ROOM];
};

static int flush(struct dump *d)
{
	int rc = fib_os_write_all(d->fd, d->text.buf, d->text.used);

	d->text.used = 0;
	return rc;
}

static void put_object(struct fib_text *t, const struct fiber_info *info)
{
	if (info->wait_object_name[0]) {
		fib_text_put(t, " ");
		fib_text_quoted(t, info->wait_object_name, sizeof info->wait_object_name);
	} else if (info->wait_object) {
		fib_text_put(t, "@");
		fib_text_hex(t, (uint64_t)(uintptr_t)info->wait_object);
	}
	if (info->holder_thread) {
		fib_text_put(t, " held by thread ");
		fib_text_number(t, info->holder_thread);
	} else if (info->holder_id) {
		fib_text_put(t, " held by ");
		fib_text_number(t, info->holder_id);
	}
}

static void put_wait(struct fib_text *t, const struct fiber_info *info, int64_t now)
{
	fib_text_put(t, info->wait_kind);
	if (info->target_id) {
		fib_text_put(t, " ");
		fib_text_number(t, info->target_id);
	} else if (info->fd >= 0) {
		fib_text_put(t, " ");
		fib_text_number(t, (uint64_t)info->fd);
		fib_text_put(t, info->events & POLLIN ? " read" : "");
		fib_text_put(t, info->events & POLLOUT ? " write" : "");
	} else {
		put_object(t, info);
	}
	if (info->deadline != INT64_MAX) {
		fib_text_put(t, " ");
		fib_text_duration(t, info->deadline > now ? info->deadline - now : 0);
		fib_text_put(t, " left");
	}
}

/* Write the header line of a backtrace in the tools. */
static void put_header(struct fib_text *t, const struct fiber_info *info, int64_t now)
{
	bool waits = info->wait_kind != fiber_registry.wait_names[FIB_WAIT_NONE];

	fib_text_put(t, "fiber ");
	fib_text_number(t, info->id);
	fib_text_put(t, " ");
	fib_text_quoted(t, info->name, sizeof info->name);
	fib_text_put(t, " [");
	/* In a program that is dying, the field may have any value. */
	fib_text_put(t, (unsigned)info->state < fiber_registry.state_count
				? fiber_registry.state_names[info->state]
				: "unknown");
	if (info->carrier >= 0) {
		fib_text_put(t, ": carrier ");
		fib_text_number(t, (uint64_t)info->carrier);
	}
	if (waits) {
		fib_text_put(t, info->carrier >= 0 ? ", pinned in " : ": ");
		put_wait(t, info, now);
	}
	fib_text_put(t, ", ");
	fib_text_duration(t, now - info->since);
	fib_text_put(t, "]\n");
}

static void put_field(struct fib_text *t, const char *name, uint64_t number)
{
	fib_text_put(t, name);
	fib_text_number(t, number);
}

static void put_rest(struct fib_text *t, const struct fiber_info *info)
{
	fib_text_put(t, "  ");
	if (info->parent_id) {
		put_field(t, "parent ", info->parent_id);
		fib_text_put(t, ", ");
	}
	put_field(t, "switches ", info->switches);
	fib_text_put(t, ", cpu ");
	fib_text_duration(t, (int64_t)info->cpu_ns);
	if (info->pins)
		put_field(t, ", pins ", info->pins);
	put_field(t, ", stack ", info->stack_used);
	put_field(t, " of ", info->stack_size);
	/* A suspended fiber always uses some of its stack. */
	if (info->state == FIBER_SUSPENDED && !info->stack_used)
		fib_text_put(t, " (stack pointer outside)");
	if (info->stack_high_water)
		put_field(t, ", deepest ", info->stack_high_water);
	fib_text_put(t, ", runs ");
	fib_text_hex(t, (uint64_t)(uintptr_t)info->entry);
	fib_text_put(t, ", spawned at ");
	fib_text_hex(t, (uint64_t)(uintptr_t)info->spawn_pc);
	fib_text_put(t, "\n");
}

static void put_labels(struct fib_text *t, const struct fiber_info *info)
{
	const char *key, *value, *before = "  labels ";
	size_t at = 0;

	while (fiber_info_label(info, &at, &key, &value)) {
		fib_text_put(t, before);
		fib_text_quoted(t, key, sizeof info->labels);
		fib_text_put(t, "=");
		fib_text_quoted(t, value, sizeof info->labels);
		before = " ";
	}
	fib_text_put(t, "\n");
}

static int put_fiber(const struct fiber_info *info, void *arg)
{
	struct dump *d = arg;
	int rc;

	put_header(&d->text, info, fib_os_now());
	put_rest(&d->text, info);
	d->fibers++;
	if (info->labels[0]) {
		rc = d->text.used > ROOM - LABELS ? flush(d) : 0;
		if (rc < 0)
			return rc;
		put_labels(&d->text, info);
	}
	return d->text.used > ROOM - A_ROW ? flush(d) : 0;
}

int fiber_dump(int fd)
{
	int kept = fib_os_error_kept();
	struct dump d;
	int rc;

	d.fd = fd;
	d.fibers = 0;
	d.text = (struct fib_text){.buf = d.room, .size = sizeof d.room};
	rc = fiber_foreach(NULL, put_fiber, &d);
	if (rc == 0) {
		put_field(&d.text, "", d.fibers);
		fib_text_put(&d.text, d.fibers == 1 ? " fiber\n" : " fibers\n");
		rc = flush(&d);
	}
	fib_os_error_restore(kept);
	return rc < 0 ? rc : (int)d.fibers;
}
