/* SPDX-License-Identifier: MIT */
/*
 * descriptor.c - descriptors, their edges and their waiters
 *
 * A descriptor is registered with the poller once and reports edges: changes, not states. Every
 * caller tries the operation first and waits only after EAGAIN. An edge between the two must not be
 * lost. The rule: edges are counted; a caller notes the count before it tries, and joins the queue
 * only if the count is unchanged. An edge wakes all waiters of its direction (but see waiters.h),
 * since one edge may mean many bytes or connections.
 *
 * Descriptor numbers are closed and reused. What a caller noted of a descriptor carries its
 * generation (generation.c). A caller that comes late with an old generation is refused, also at
 * the gate, under which the poller is called.
 *
 * A TCP socket that returns less than was asked for is empty: the next reader need not try before
 * it waits. But the kernel does not announce the same event twice. So after an end, an error or
 * urgent data every caller tries first.
 *
 * The program may also call close(2) directly and get the number again. Descriptors from
 * fiber_accept or fiber_connect are known to be new. Any other descriptor is registered again at
 * each wait, which costs a system call and misses nothing (registration.c). An edge of the new
 * descriptor also wakes waiters of the old one; they check whether the number still means the file
 * they wait for.
 *
 * A poller without edges of its own gets a call for each wait (ops->want).
 */
#include "io/descriptor.h"

#include <errno.h>
#include <poll.h>

#include <fiber/fiber.h>
#include <fiber/time.h>

#include "base/atomic.h"
#include "io/blocking.h"
#include "io/registration.h"
#include "io/table.h"
#include "os/os.h"
#include "os/spin.h"
#include "sched/sched.h"
#include "wait/wait.h"
#include "wait/wait_queue.h"

enum { KIND_TCP = 1, KIND_OTHER, KIND_BITS = 2 };

/* Whether a waiter for events joins the queue of a side. */
static bool concerns(short events, int side)
{
	const short writing = POLLOUT | POLLWRNORM | POLLWRBAND;

	return side == WRITING ? events & writing : events & ~writing;
}

/*
 * Most descriptors are always writable, and the kernel reports that with each of their events. It
 * counts as an edge only once a caller that may wait to write has looked. The caller sets `writers`
 * before it tries. An edge that was dropped because `writers` was not yet set came before the try:
 * then the kernel lets the try succeed, or refuses it and announces the next edge.
 */
static void expect_writers(struct fib_descriptor *d)
{
	if (fib_load(&d->writers))
		return;
	fib_store(&d->writers, 1);
	fib_fence_seq(); /* label: descriptor.writers -- seen by a thread that gets a later edge */
}

/* Whether the poller of s, the caller's scheduler, certainly watches the descriptor. */
static inline bool is_watched(struct fib_sched *s, struct fib_descriptor *d)
{
	return fib_load_acquire(&d->watched_by) == s->serial && fib_load(&d->fresh) &&
	       !s->poller->ops->want;
}

/*
 * Make the poller of s, the caller's scheduler, watch fd for events, unless it certainly does
 * already. Returns what fib_registration_make() does.
 */
static inline int watch(struct fib_sched *s, int fd, struct fib_descriptor *d, short events,
			const struct fib_look *look, uint64_t *ret_file)
{
	/*
	 * A caller that looked before the entry existed has not set `writers`; then fd was not
	 * watched either.
	 */
	if (concerns(events, WRITING))
		expect_writers(d);
	if (is_watched(s, d)) {
		*ret_file = 0;
		return 0;
	}
	return fib_registration_make(s, fd, d, events, look, ret_file);
}

void fib_descriptor_look_to_read(int fd, struct fib_look *ret)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	*ret = (struct fib_look){0, {0, 0}, 0, 0, 0};
	if (!d)
		return;
	ret->plain = fib_load(&d->plain);
	ret->empty = fib_load(&d->empty);
	/*
	 * pairs: descriptor.look -- generation first: it may be older than the edges, never newer.
	 */
	ret->generation = fib_load_acquire(&d->generation);
	ret->edges[READING] = fib_load_acquire(&d->reading.edges);
	ret->drained =
		fib_load(&d->drained) == (FIB_DRAINED | ret->edges[READING]) && !fib_load(&d->last);
}

void fib_descriptor_look(int fd, struct fib_look *ret)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (d)
		expect_writers(d);
	fib_descriptor_look_to_read(fd, ret);
	/* pairs: descriptor.look */
	if (d)
		ret->edges[WRITING] = fib_load_acquire(&d->writing.edges);
}

bool fib_descriptor_plain(int fd)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	return d && fib_load(&d->plain);
}

/* A file that is never waited for, such as one on a disk, gets its entry here. */
void fib_descriptor_set_plain(int fd, bool plain)
{
	struct fib_descriptor *d = plain ? fib_descriptor_make(fd) : fib_descriptor_find(fd);

	if (d)
		fib_store(&d->plain, (uint8_t)plain);
}

static bool is_tcp(int fd, struct fib_descriptor *d, uint32_t generation)
{
	uint64_t kind = fib_load(&d->kind);

	if (kind >> KIND_BITS != generation || !(kind & (KIND_TCP | KIND_OTHER))) {
		kind = (uint64_t)generation << KIND_BITS |
		       (fib_os_is_tcp(fd) ? KIND_TCP : KIND_OTHER);
		fib_store(&d->kind, kind);
	}
	return kind & KIND_TCP;
}

/*
 * Only for descriptors known to be new. Any other is registered again at each wait, so trying costs
 * little and relies on nothing recorded earlier. If fd is closed meanwhile, the edges advance and
 * the record is out of date.
 */
void fib_descriptor_gave_less(int fd, const struct fib_look *look)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);

	if (d && fib_load(&d->fresh) && is_tcp(fd, d, look->generation))
		fib_store(&d->drained, FIB_DRAINED | look->edges[READING]);
}

/*
 * Join the queue of a side, unless something has happened there since the look. The look may have
 * read the edges after the descriptor was closed and the number reused; the waiter would then only
 * get edges of the new one. So the generation is compared too. A change of generation wakes the
 * side afterwards, so no later change is missed.
 */
static fib_always_inline bool join_now(struct fib_descriptor *d, int which, short events,
				       struct fib_waiter *w, const struct fib_look *look)
{
	struct fib_direction *side = fib_descriptor_side(d, which);
	uint32_t section;
	bool same;

	w->events = events;
	section = fib_queue_enter(&side->waiters);
	same = fib_load(&side->edges) == look->edges[which] &&
	       fib_load(&d->generation) == look->generation;
	if (same)
		fib_queue_append(&side->waiters, w);
	fib_queue_leave(&side->waiters, section);
	return same;
}

static bool join_side(struct fib_descriptor *d, int which, short events, struct fib_waiter *w,
		      const struct fib_look *look)
{
	return join_now(d, which, events, w, look);
}

void fib_descriptor_leave(int fd, short events, struct fib_waiter w[2])
{
	struct fib_descriptor *d = fib_descriptor_find(fd);
	int i;

	for (i = 0; i < DIRECTIONS; i++)
		if (concerns(events, i))
			fib_queue_forget(&fib_descriptor_side(d, i)->waiters, &w[i]);
}

/*
 * Join the queues of both sides. False: something has happened since the look; the caller must
 * leave.
 */
static bool join_sides(struct fib_descriptor *d, short events, const struct fib_look *look,
		       struct fib_waiter w[2])
{
	bool waiting = true;
	int i;

	for (i = 0; i < DIRECTIONS; i++)
		if (concerns(events, i) && waiting)
			waiting = join_side(d, i, events, &w[i], look);
	return waiting;
}

int fib_descriptor_join(int fd, short events, const struct fib_look *look, struct fib_waiter w[2])
{
	struct fib_descriptor *d = fib_descriptor_make(fd);
	int rc = fib_descriptor_possible(fd) ? -ENOMEM : -EBADF;
	uint64_t file;

	/*
	 * A caller that blocks its thread polls fd itself; here it only waits for the closing of
	 * fd.
	 */
	if (d)
		rc = w->parker->blocks
			     ? 0
			     : watch(fib_carrier_self()->sched, fd, d, events, look, &file);
	if (rc != 0)
		return rc < 0 ? rc : -EAGAIN;
	if (join_sides(d, events, look, w))
		return 0;
	fib_descriptor_leave(fd, events, w);
	return -EAGAIN;
}

/*
 * The identity of the file behind fd. A descriptor that the program closed directly, and whose
 * number is in use again, gets the edges of another file. Descriptors known to be new are closed
 * through this library: 0.
 */
static uint64_t identity(int fd, struct fib_descriptor *d)
{
	return fib_load(&d->fresh) ? 0 : fib_os_identity(fd);
}

/*
 * Make the poller watch fd for a wait, and find the identity of the file that is waited for. It is
 * asked for before the registration: a waiter with an older identity than that of the watched file
 * is refused after the wait. 0; 1: look again; or an error.
 */
static int watch_one_file(struct fib_sched *s, int fd, struct fib_descriptor *d, short events,
			  const struct fib_look *look, uint64_t *ret_who)
{
	const bool known = events && fib_registration_knows(s, d);
	uint64_t file;
	int rc;

	*ret_who = known ? 0 : identity(fd, d);
	rc = events ? watch(s, fd, d, events, look, &file) : 0;
	if (!known || rc != 0)
		return rc;
	*ret_who = file;
	return file ? 0 : 1;
}

/* Whether fd means the file that was waited for. */
static bool is_still(struct fib_sched *s, int fd, struct fib_descriptor *d, uint64_t who)
{
	if (who && who == fib_load(&d->file))
		return fib_registration_same(s, fd, d, who);
	return who == identity(fd, d);
}

/* One wait, queued on both sides. */
static fib_noinline int wait_both_directions(int fd, struct fib_descriptor *d, short events,
					     const struct fib_look *look, struct fib_waiter *first,
					     int64_t deadline)
{
	struct fib_waiter w[DIRECTIONS] = {*first, *first};
	int rc = 0;

	if (join_sides(d, events, look, w) || !fib_wait_retract(first))
		rc = fib_wait(&w[0], deadline);
	fib_descriptor_leave(fd, events, w);
	return rc;
}

static int wait_one_direction(struct fib_descriptor *d, int side, short events,
			      const struct fib_look *look, struct fib_waiter *w, int64_t deadline)
{
	if (join_side(d, side, events, w, look) || !fib_wait_retract(w))
		return fib_queue_wait(&fib_descriptor_side(d, side)->waiters, w, deadline);
	return 0;
}

static int wait_parked(int fd, struct fib_descriptor *d, short events, const struct fib_look *look,
		       int64_t deadline)
{
	struct fib_waiter w;
	int rc;

	rc = fib_wait_begin(&w, FIB_WAIT_FD, NULL, (uint32_t)fd | (uint64_t)(uint16_t)events << 32,
			    deadline);
	if (rc < 0)
		return rc;
	if (concerns(events, READING) && concerns(events, WRITING))
		rc = wait_both_directions(fd, d, events, look, &w, deadline);
	else if (concerns(events, WRITING))
		rc = wait_one_direction(d, WRITING, events, look, &w, deadline);
	else if (concerns(events, READING))
		rc = wait_one_direction(d, READING, events, look, &w, deadline);
	else
		rc = fib_wait(&w, deadline);
	return fib_load_acquire(&d->generation) != look->generation ? -EBADF : rc;
}

int fib_descriptor_wait(int fd, short events, const struct fib_look *look, int64_t deadline)
{
	struct fiber *fiber = fiber_self();
	struct fib_descriptor *d;
	uint64_t who;
	int rc;

	/* poll(2) ignores negative descriptors and would wait for ever. */
	if (fd < 0)
		return -EBADF;
	/* poll(2) takes a file on a disk for ready. */
	if (!fiber || fiber->pins)
		fib_descriptor_set_plain(fd, false);
	if (!fiber)
		return fib_block_for_fd(fd, events, deadline);
	if (fiber->pins)
		return fib_block_for_fd_pinned(fd, events, deadline);
	d = fib_descriptor_make(fd);
	if (!d)
		return fib_descriptor_possible(fd) ? -ENOMEM : -EBADF;
	rc = watch_one_file(fiber->sched, fd, d, events, look, &who);
	/*
	 * A file that a poller refuses is always ready to read and to write: a regular file. Other
	 * events never come. Only the close of fd, and the deadline, end a wait for these.
	 */
	if (rc == -EPERM) {
		fib_store(&d->plain, (uint8_t)0);
		if (events & (POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM))
			return 0;
	} else if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = wait_parked(fd, d, events, look, deadline);
	return rc == 0 && !is_still(fiber->sched, fd, d, who) ? -EBADF : rc;
}

/* The wait of each request of a server: for bytes to read and nothing else. */
static fib_always_inline int wait_for_bytes(int fd, struct fib_descriptor *d,
					    const struct fib_look *look, int64_t deadline,
					    struct fib_waiter *w)
{
	int rc = fib_wait_begin(w, FIB_WAIT_FD, NULL, (uint32_t)fd | (uint64_t)POLLIN << 32,
				deadline);

	if (rc < 0)
		return rc;
	w->receives = true;
	if (join_now(d, READING, POLLIN, w, look) || !fib_wait_retract(w))
		rc = fib_queue_wait(&d->reading.waiters, w, deadline);
	return fib_load_acquire(&d->generation) != look->generation ? -EBADF : rc;
}

bool fib_descriptor_receive_drained(int fd, void *buf, size_t size, int64_t deadline,
				    ssize_t *ret_n, int *ret_rc)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;
	struct fib_receiver r;
	struct fib_look look;

	if (!fiber || fiber->pins || !d)
		return false;
	/* pairs: descriptor.look -- as in fib_descriptor_look_to_read(). */
	look.generation = fib_load_acquire(&d->generation);
	look.edges[READING] = fib_load_acquire(&d->reading.edges);
	if (fib_load(&d->drained) != (FIB_DRAINED | look.edges[READING]) || fib_load(&d->last) ||
	    !is_watched(c->sched, d))
		return false;
	r.buf = buf;
	r.size = size;
	r.generation = look.generation;
	r.n = -EAGAIN;
	*ret_rc = wait_for_bytes(fd, d, &look, deadline, &r.waiter);
	*ret_n = r.n;
	return true;
}

int fib_descriptor_receive(int fd, void *buf, size_t size, const struct fib_look *look,
			   int64_t deadline, ssize_t *ret_n)
{
	struct fib_descriptor *d = fib_descriptor_find(fd);
	struct fib_carrier *c = fib_carrier_self();
	struct fiber *fiber = c ? c->current : NULL;
	struct fib_receiver r;
	uint64_t file;
	int rc;

	if (!fiber || fiber->pins || !d ||
	    fib_load(&d->drained) != (FIB_DRAINED | look->edges[READING]))
		return fib_descriptor_wait(fd, POLLIN, look, deadline);
	rc = watch(c->sched, fd, d, POLLIN, look, &file);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	r.buf = buf;
	r.size = size;
	r.generation = look->generation;
	r.n = -EAGAIN;
	rc = wait_for_bytes(fd, d, look, deadline, &r.waiter);
	*ret_n = r.n;
	return rc;
}

int fib_descriptor_rest(int fd, const struct fib_look *look, int64_t time, int64_t deadline)
{
	const int64_t end = fiber_after(time);
	int rc = fib_descriptor_wait(fd, 0, look, end < deadline ? end : deadline);

	return rc == -ETIMEDOUT && end < deadline ? 0 : rc;
}
