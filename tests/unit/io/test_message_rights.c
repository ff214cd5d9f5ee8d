/* SPDX-License-Identifier: MIT */
/* test_message_rights.c - received descriptors are new, whatever had their numbers before */
#include "inside.h"

static void pair(int type, int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, type, 0, fds), 0);
}

static void done(int fds[2])
{
	fiber_close(fds[0]);
	fiber_close(fds[1]);
}

struct parcel {
	int fd, flags;
	int64_t deadline;
	char byte;
	struct iovec v;
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct msghdr m;
	int fds[2];
};

static void pack(struct parcel *p, int fd)
{
	memset(p, 0, sizeof *p);
	p->fd = fd;
	p->deadline = FIBER_FOREVER;
	p->byte = 'p';
	p->v = (struct iovec){&p->byte, 1};
	p->m = (struct msghdr){.msg_iov = &p->v,
			       .msg_iovlen = 1,
			       .msg_control = &p->control,
			       .msg_controllen = sizeof p->control};
}

static void *do_sendmsg(void *arg)
{
	struct parcel *p = arg;
	struct cmsghdr *c = CMSG_FIRSTHDR(&p->m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof p->fds);
	memcpy(CMSG_DATA(c), p->fds, sizeof p->fds);
	return (void *)(intptr_t)fiber_sendmsg(p->fd, &p->m, p->flags, p->deadline);
}

static void *do_recvmsg(void *arg)
{
	struct parcel *p = arg;
	const ssize_t n = fiber_recvmsg(p->fd, &p->m, p->flags, p->deadline);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&p->m);

	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof p->fds))
		memcpy(p->fds, CMSG_DATA(c), sizeof p->fds);
	return (void *)(intptr_t)n;
}

/* Send the ends of a pipe over fds, and let a fiber wait on the received reading end. */
static void pass(int fds[2], int flags)
{
	struct parcel out, in;
	char bytes[16];
	struct fiber *f;
	int ends[2];

	pack(&in, fds[1]);
	in.flags = flags;
	f = inside_suspended(do_recvmsg, &in);
	assert_int_equal(pipe(ends), 0);
	pack(&out, fds[0]);
	memcpy(out.fds, ends, sizeof ends);
	assert_int_equal(inside(do_sendmsg, &out), 1);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(inside_join(f), 1);
	assert_int_equal(fcntl(in.fds[0], F_GETFD), flags & MSG_CMSG_CLOEXEC ? FD_CLOEXEC : 0);
	assert_int_equal(fcntl(in.fds[1], F_GETFD), flags & MSG_CMSG_CLOEXEC ? FD_CLOEXEC : 0);
	assert_int_equal(write(in.fds[1], "through", 7), 7);
	assert_int_equal(fiber_read(in.fds[0], bytes, sizeof bytes, 0), 7);
	fiber_close(in.fds[0]);
	fiber_close(in.fds[1]);
}

static void test_message_rights_brings_descriptors(void **state)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	int fds[2];

	(void)state;
	for (int i = 0; i < 3; i++) {
		pair(types[i], fds);
		pass(fds, 0);
		pass(fds, MSG_CMSG_CLOEXEC);
		done(fds);
	}
}

static void *wait_readable(void *arg)
{
	return (void *)(intptr_t)fiber_wait_fd(*(int *)arg, POLLIN, FIBER_FOREVER);
}

/* The received number was an accepted connection with a waiter, closed without the library. */
static void test_message_rights_descriptor_is_new_whatever_had_its_number(void **state)
{
	struct parcel out, in;
	struct fiber *f;
	int fds[2], ends[2];

	(void)state;
	pair(SOCK_STREAM, fds);
	assert_int_equal(pipe(ends), 0);
	pack(&out, fds[0]);
	memcpy(out.fds, ends, sizeof ends);
	assert_int_equal(inside(do_sendmsg, &out), 1);
	pack(&in, fds[1]);
	assert_int_equal(inside(do_recvmsg, &in), 1);
	f = inside_suspended(wait_readable, &in.fds[0]);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(inside_join(f), POLLIN);
	close(in.fds[0]);
	close(in.fds[1]);
	close(ends[0]);
	close(ends[1]);
	assert_int_equal(pipe(ends), 0);
	memcpy(out.fds, ends, sizeof ends);
	pack(&in, fds[1]);
	assert_int_equal(inside(do_sendmsg, &out), 1);
	assert_int_equal(inside(do_recvmsg, &in), 1);
	f = inside_suspended(wait_readable, &in.fds[0]);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(inside_join(f), POLLIN);
	fiber_close(in.fds[0]);
	fiber_close(in.fds[1]);
	close(ends[0]);
	close(ends[1]);
	done(fds);
}

static void test_message_rights_that_are_none_are_an_error_and_a_deadline_ends_the_wait(
	void **state)
{
	struct parcel p;
	int fds[2];

	(void)state;
	pair(SOCK_DGRAM, fds);
	pack(&p, fds[0]);
	p.fds[0] = p.fds[1] = -1;
	assert_int_equal(inside(do_sendmsg, &p), -EBADF);
	pack(&p, fds[1]);
	p.deadline = fiber_after(2 * MS);
	assert_int_equal(inside(do_recvmsg, &p), -ETIMEDOUT);
	assert_true(fiber_now() >= p.deadline);
	p.deadline = FIBER_FOREVER;
	p.flags = MSG_DONTWAIT;
	assert_int_equal(inside(do_recvmsg, &p), -EAGAIN);
	/* Nothing was received, so nothing was written. */
	assert_int_equal(p.m.msg_controllen, sizeof p.control);
	done(fds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_message_rights_brings_descriptors),
		cmocka_unit_test(test_message_rights_descriptor_is_new_whatever_had_its_number),
		cmocka_unit_test(
			test_message_rights_that_are_none_are_an_error_and_a_deadline_ends_the_wait),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, inside_start, inside_stop);
}
