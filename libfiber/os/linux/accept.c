/* SPDX-License-Identifier: MIT */
/*
 * accept.c - accept without waiting, even on a blocking listener
 *
 * accept(2) has no flag for that. poll(2) before it suffices if no other caller takes the
 * connection in between. Within a process a lock can ensure that. But a listener may be shared with
 * other processes; a process that comes second would block in accept(2), and with it every fiber of
 * its carrier. Making the listener non-blocking would change it for the other processes too.
 *
 * io_uring can accept without waiting (since Linux 6.10). A ring of one entry is used for that: the
 * request is submitted and has been tried when the system call returns, with its result in the
 * ring. Nothing stays in progress. Without io_uring poll(2) is used.
 *
 * The ring belongs to the process. Its state is in a page that is zero in a forked child. The child
 * makes a ring of its own and shares no entry with its parent.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "os/os.h"
#include "os/spin.h"

#define DONT_WAIT (1u << 1) /* IORING_ACCEPT_DONTWAIT of newer headers */

enum state { UNTRIED, READY, NONE };

/* L under ->lock, which is held for one request at a time */
struct ring {
	_Atomic uint32_t lock;
	enum state state;		      /* L */
	int fd;				      /* L */
	_Atomic uint32_t *submitted;	      /* L */
	_Atomic uint32_t *completed, *reaped; /* L */
	uint32_t *slots;		      /* L */
	uint32_t slot_mask, result_mask;      /* L */
	struct io_uring_sqe *requests;	      /* L */
	struct io_uring_cqe *results;	      /* L */
};

/* The page of the ring; NULL: the system cannot hide it from a forked child. */
static struct ring *ring_page(void)
{
	static struct ring *_Atomic page;
	struct ring *r = fib_load_acquire(&page), *none = NULL;

	if (r)
		return r;
	r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	if (madvise(r, sizeof *r, MADV_WIPEONFORK) < 0 || !fib_cas(&page, &none, r)) {
		munmap(r, sizeof *r);
		return none;
	}
	return r;
}

/* -ENOSYS: it was not tried, and nothing is left in the ring. Under the lock. */
static int request(struct ring *r, int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	uint32_t tail = fib_load(r->submitted), head = fib_load(r->reaped);
	uint32_t slot = tail & r->slot_mask;

	r->requests[slot] = (struct io_uring_sqe){
		.opcode = IORING_OP_ACCEPT,
		.fd = fd,
		.ioprio = DONT_WAIT,
		.addr = (uint64_t)(uintptr_t)addr,
		.addr2 = (uint64_t)(uintptr_t)addrlen,
		.accept_flags = SOCK_CLOEXEC,
	};
	r->slots[slot] = slot;
	/* pairs: the kernel, which reads the entry. */
	fib_store_release(r->submitted, tail + 1);
	if (syscall(SYS_io_uring_enter, r->fd, 1, 0, 0, NULL, 0) < 0) {
		/* The program has closed the ring's descriptor. */
		if (errno != EAGAIN && errno != EBUSY && errno != EINTR && errno != ENOMEM)
			r->state = NONE;
		fib_store(r->submitted, tail);
		return -ENOSYS;
	}
	/* pairs: the kernel, which has written the result. */
	if (fib_load_acquire(r->completed) == head) {
		r->state = NONE;
		return -ENOSYS;
	}
	fd = r->results[head & r->result_mask].res;
	fib_store_release(r->reaped, head + 1);
	return fd;
}

static void *map(int fd, size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, what);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, size, MADV_DONTFORK);
	return at;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* Whether there is a ring and the kernel knows the flag. Under the lock. */
static bool prepare(struct ring *r)
{
	struct io_uring_params p = {0};
	size_t size, requests;
	char *at;

	r->state = NONE;
	r->fd = (int)syscall(SYS_io_uring_setup, 1, &p);
	if (r->fd < 0)
		return false;
	size = larger(p.sq_off.array + p.sq_entries * sizeof(uint32_t),
		      p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe));
	requests = p.sq_entries * sizeof(struct io_uring_sqe);
	at = p.features & IORING_FEAT_SINGLE_MMAP ? map(r->fd, size, IORING_OFF_SQ_RING) : NULL;
	r->requests = at ? map(r->fd, requests, IORING_OFF_SQES) : NULL;
	if (r->requests) {
		r->submitted = (_Atomic uint32_t *)(void *)(at + p.sq_off.tail);
		r->slots = (uint32_t *)(void *)(at + p.sq_off.array);
		r->slot_mask = p.sq_entries - 1;
		r->completed = (_Atomic uint32_t *)(void *)(at + p.cq_off.tail);
		r->reaped = (_Atomic uint32_t *)(void *)(at + p.cq_off.head);
		r->results = (struct io_uring_cqe *)(void *)(at + p.cq_off.cqes);
		r->result_mask = p.cq_entries - 1;
		/*
		 * A kernel that does not know the flag returns -EINVAL before it checks the
		 * descriptor.
		 */
		if (request(r, -1, NULL, NULL) == -EBADF) {
			r->state = READY;
			return true;
		}
		munmap(r->requests, requests);
	}
	if (at)
		munmap(at, size);
	close(r->fd);
	return false;
}

/* Under the lock. */
static bool ready(struct ring *r)
{
	return r->state == READY || (r->state == UNTRIED && prepare(r));
}

/* -ENOSYS: no ring is available. */
static int accept_by_ring(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	struct ring *r = ring_page();
	int n = -ENOSYS;

	if (!r)
		return n;
	fib_spin_lock(&r->lock);
	if (ready(r))
		n = request(r, fd, addr, addrlen);
	fib_spin_unlock(&r->lock);
	return n;
}

fib_noinline bool fib_os_accept_is_sure(void)
{
	struct ring *r = ring_page();
	bool sure;

	if (!r)
		return false;
	fib_spin_lock(&r->lock);
	sure = ready(r);
	fib_spin_unlock(&r->lock);
	return sure;
}

static int try(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int flags = fcntl(fd, F_GETFL), n;

	if (flags >= 0 && !(flags & O_NONBLOCK)) {
		/*
		 * Accepting without a connection costs four times as much as poll: a file is made
		 * first.
		 */
		n = fib_os_ready(fd, POLLIN);
		if (n == 0)
			n = accept_by_ring(fd, addr, addrlen);
		if (n != -ENOSYS)
			return n;
	}
	n = accept4(fd, addr, addrlen, SOCK_CLOEXEC);
	return n < 0 ? -errno : n;
}

/*
 * The connection died in the queue, for a reason that accept(2) lists: there may be another. A
 * listener that cannot accept at all gives EINVAL or EOPNOTSUPP.
 */
static bool died(int n)
{
	switch (-n) {
	case ECONNABORTED:
	case EHOSTDOWN:
	case EHOSTUNREACH:
	case ENETDOWN:
	case ENETUNREACH:
	case ENONET:
	case ENOPROTOOPT:
	case EPROTO:
		return true;
	default:
		return false;
	}
}

fib_noinline int fib_os_accept(int fd, struct sockaddr *addr, socklen_t *addrlen)
{
	int n;

	do
		n = try(fd, addr, addrlen);
	while (n == -EINTR || died(n));
	return n;
}
