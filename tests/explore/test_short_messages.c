/* SPDX-License-Identifier: MIT */
/* test_short_messages.c - fiber_sendmsg() and fiber_recvmsg() move a part of a message on a stream */
#include <fcntl.h>

#include "tests/explore/loopback.h"

#define TEXT "12345678"
#define SIZE 8

static struct fiber_test_result result;

static void run(fiber_test_fn *fn, const void *arg, const char *const *reach)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "each-fault",
						   .faults = FIBER_TEST_FAULT_SHORT,
						   .reach = reach,
						   .slack = -1};

	result = (struct fiber_test_result){.size = sizeof result};
	fiber_test_explore(fn, (void *)(uintptr_t)arg, &options, &result);
	assert_string_equal(result.message, "");
}

/* -- a message with a descriptor, in pieces of which the first is empty -- */

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static ssize_t send_with(int fd, int passed)
{
	union control control = {.header = {.cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
					    .cmsg_len = CMSG_LEN(sizeof passed)}};
	struct iovec v[] = {{TEXT, 0}, {TEXT, 5}, {TEXT + 5, 3}};
	const struct msghdr m = {.msg_iov = v,
				 .msg_iovlen = 3,
				 .msg_control = &control,
				 .msg_controllen = sizeof control};

	memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
	return fiber_sendmsg(fd, &m, 0, FIBER_FOREVER);
}

/* Receive into text; *ret_passed is a descriptor that came with it, else -1. */
static ssize_t receive_with(int fd, char text[SIZE + 1], int flags, int *ret_passed)
{
	union control control;
	struct iovec v[] = {{text, 0}, {text, 3}, {text + 3, 5}};
	struct msghdr m = {.msg_iov = v,
			   .msg_iovlen = 3,
			   .msg_control = &control,
			   .msg_controllen = sizeof control};
	const ssize_t n = fiber_recvmsg(fd, &m, flags, FIBER_FOREVER);
	const struct cmsghdr *c = n >= 0 ? CMSG_FIRSTHDR(&m) : NULL;

	*ret_passed = -1;
	if (n >= 0)
		fiber_test_assert(!(m.msg_flags & (MSG_CTRUNC | MSG_TRUNC)));
	if (c)
		memcpy(ret_passed, CMSG_DATA(c), sizeof *ret_passed);
	text[n > 0 ? n : 0] = 0;
	return n;
}

static void pass_descriptor(void *arg)
{
	const int type = *(const int *)arg;
	int pair[2], passed, none;
	char text[SIZE + 1], rest[SIZE + 1] = "";
	ssize_t sent, n;

	fiber_test_assert(socketpair(AF_UNIX, type, 0, pair) == 0);
	sent = send_with(pair[0], pair[1]);
	n = receive_with(pair[1], text, 0, &passed);
	fiber_test_assert(passed >= 0 && fcntl(passed, F_GETFD) >= 0);
	fiber_test_assert(n == sent || n == 1);
	fiber_test_assert(strncmp(text, TEXT, (size_t)n) == 0);
	if (n < sent) {
		/* The descriptor has come with the first byte. */
		fiber_test_assert(receive_with(pair[1], rest, 0, &none) == sent - 1);
		fiber_test_assert(none < 0 && strcmp(rest, TEXT + 1) == 0);
	}
	fiber_test_reached(sent == 1 ? "sent short" : n == 1 ? "received short" : "whole");
	close(passed);
	close(pair[0]);
	close(pair[1]);
}

static void test_part_of_a_stream_message_has_its_control_data(void **state)
{
	static const char *const reach[] = {"whole", "sent short", "received short", NULL};
	const int type = SOCK_STREAM;

	(void)state;
	run(pass_descriptor, &type, reach);
	assert_int_equal(result.schedules, 1 + 2 + 1);
}

static void test_messages_with_boundaries_move_whole(void **state)
{
	static const char *const reach[] = {"whole", NULL};
	const int types[] = {SOCK_DGRAM, SOCK_SEQPACKET};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		run(pass_descriptor, &types[i], reach);
		assert_int_equal(result.schedules, 1);
	}
}

/* -- no control data -- */

static void ask_for_all(void *arg)
{
	int pair[2], none;
	char text[SIZE + 1];

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	fiber_test_assert(write(pair[0], TEXT, SIZE) == SIZE);
	fiber_test_assert(receive_with(pair[1], text, MSG_WAITALL, &none) == SIZE);
	close(pair[0]);
	close(pair[1]);
}

static void send_one_byte(void *arg)
{
	struct iovec v[] = {{TEXT, 0}, {TEXT, 1}};
	const struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
	int pair[2];

	(void)arg;
	fiber_test_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	fiber_test_assert(fiber_sendmsg(pair[0], &m, 0, FIBER_FOREVER) == 1);
	close(pair[0]);
	close(pair[1]);
}

static void test_what_cannot_be_short_is_no_place(void **state)
{
	(void)state;
	run(ask_for_all, NULL, NULL);
	assert_int_equal(result.schedules, 1);
	run(send_one_byte, NULL, NULL);
	assert_int_equal(result.schedules, 1);
}

static void over_internet(void *arg)
{
	struct iovec v = {TEXT, SIZE};
	const struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	const struct pair p = connect_pair();
	char text[SIZE + 1];
	ssize_t sent, n;
	int none;

	(void)arg;
	sent = fiber_sendmsg(p.client, &m, 0, FIBER_FOREVER);
	n = receive_with(p.server, text, 0, &none);
	fiber_test_assert(n == sent || n == 1);
	fiber_test_assert(strncmp(text, TEXT, (size_t)n) == 0);
	fiber_test_reached(sent == 1 ? "sent short" : n == 1 ? "received short" : "whole");
	close_pair(p);
}

static void test_internet_streams_too(void **state)
{
	static const char *const reach[] = {"whole", "sent short", "received short", NULL};

	(void)state;
	run(over_internet, NULL, reach);
	assert_int_equal(result.schedules, 1 + 2 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_part_of_a_stream_message_has_its_control_data),
		cmocka_unit_test(test_messages_with_boundaries_move_whole),
		cmocka_unit_test(test_what_cannot_be_short_is_no_place),
		cmocka_unit_test(test_internet_streams_too),
	};

	return cmocka_run_group_tests(tests, find_port, NULL);
}
