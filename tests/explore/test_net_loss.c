/* SPDX-License-Identifier: MIT */
/* test_net_loss.c - datagrams of a schedule get lost and change places where the faults say so */
#include <sys/mman.h>

#include "tests/explore/loopback.h"

#define OUTCOMES 16

/* What was received in all schedules, in memory that the processes share. */
static struct {
	unsigned n;
	char at[OUTCOMES][8];
} * seen;

static void note_outcome(const char *text)
{
	unsigned i;

	for (i = 0; i < seen->n; i++)
		if (strcmp(seen->at[i], text) == 0)
			return;
	fiber_test_assert(seen->n < OUTCOMES);
	strcpy(seen->at[seen->n++], text);
}

static bool was_seen(const char *text)
{
	unsigned i;

	for (i = 0; i < seen->n && strcmp(seen->at[i], text) != 0; i++)
		;
	return i < seen->n;
}

/* -- ways of sending -- */

static struct sockaddr_in target;

static void by_fiber_sendto(int fd, const char *byte)
{
	fiber_test_assert(fiber_sendto(fd, byte, 1, 0, (struct sockaddr *)&target, sizeof target,
				       FIBER_FOREVER) == 1);
}

static void by_fiber_write(int fd, const char *byte)
{
	fiber_test_assert(fiber_write(fd, byte, 1, FIBER_FOREVER) == 1);
}

static void by_fiber_sendmsg(int fd, const char *byte)
{
	struct iovec v = {(void *)(uintptr_t)byte, 1};
	const struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	fiber_test_assert(fiber_sendmsg(fd, &m, 0, FIBER_FOREVER) == 1);
}

static void by_sendto(int fd, const char *byte)
{
	fiber_test_assert(sendto(fd, byte, 1, 0, (struct sockaddr *)&target, sizeof target) == 1);
}

static void by_send(int fd, const char *byte)
{
	fiber_test_assert(send(fd, byte, 1, 0) == 1);
}

static void by_write(int fd, const char *byte)
{
	fiber_test_assert(write(fd, byte, 1) == 1);
}

static void by_sendmmsg(int fd, const char *byte)
{
	struct iovec v = {(void *)(uintptr_t)byte, 1};
	struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}};

	fiber_test_assert(sendmmsg(fd, &m, 1, 0) == 1);
}

/* -- tests -- */

static void receive_all(int fd, char text[8])
{
	int n = 0;

	while (n < 7 && recv(fd, text + n, 1, MSG_DONTWAIT) == 1)
		n++;
	text[n] = 0;
}

static void send_three(void *arg)
{
	void (*const send_one)(int fd, const char *byte) = *(void (**)(int, const char *))arg;
	const int a = open_socket(AF_INET, SOCK_DGRAM), b = open_socket(AF_INET, SOCK_DGRAM);
	const struct sockaddr_storage at = address("127.0.0.1", 7000);
	char text[8];

	memcpy(&target, &at, sizeof target);
	fiber_test_assert(bind_to(a, "127.0.0.1", 7000) == 0);
	fiber_test_assert(connect(b, (struct sockaddr *)&target, sizeof target) == 0);
	send_one(b, "1");
	send_one(b, "2");
	send_one(b, "3");
	receive_all(a, text);
	note_outcome(text);
	close(a);
	close(b);
}

static struct fiber_test_result result;

static void run(void (*send_one)(int fd, const char *byte), const char *strategy, unsigned faults,
		uint64_t schedules)
{
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = strategy,
						   .schedules = schedules,
						   .faults = faults,
						   .slack = -1};

	memset(seen, 0, sizeof *seen);
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(send_three, &send_one, &options, &result), 0);
}

static void test_each_datagram_is_lost_and_overtakes_in_some_schedule(void **state)
{
	static void (*const ways[])(int, const char *) = {
		by_fiber_sendto, by_fiber_write, by_fiber_sendmsg, by_sendto,
		by_send,	 by_write,	 by_sendmmsg};
	static const char *const outcomes[] = {"123", "23", "13", "12", "213", "132"};
	unsigned i, k;

	(void)state;
	for (i = 0; i < sizeof ways / sizeof *ways; i++) {
		run(ways[i], "each-fault", FIBER_TEST_FAULT_RESET, 0);
		/* None, three are lost, two overtake; then there is no place any more. */
		assert_int_equal(result.schedules, 1 + 3 + 2 + 1);
		for (k = 0; k < sizeof outcomes / sizeof *outcomes; k++)
			assert_true(was_seen(outcomes[k]));
		assert_int_equal(seen->n, sizeof outcomes / sizeof *outcomes);
	}
}

static void test_without_the_kind_all_arrive_in_order(void **state)
{
	(void)state;
	run(by_fiber_sendto, "portfolio",
	    FIBER_TEST_FAULT_ALL & ~(FIBER_TEST_FAULT_RESET | FIBER_TEST_FAULT_DESCRIPTORS), 200);
	assert_true(was_seen("123"));
	assert_int_equal(seen->n, 1);
	run(by_sendto, "portfolio", 0, 200);
	assert_int_equal(seen->n, 1);
}

/* -- more than the kernel's queue of a UNIX socket has room for -- */

#define MANY 30

static void send_many(void *arg)
{
	const int a = open_socket(AF_INET, SOCK_DGRAM), b = open_socket(AF_INET, SOCK_DGRAM);
	unsigned i, n = 0, changed = 0;
	char byte, before = 'A' - 1;

	(void)arg;
	fiber_test_assert(bind_to(a, "127.0.0.1", 7000) == 0);
	for (i = 0; i < MANY; i++)
		fiber_test_assert(send_text(b, (char[]){(char)('A' + i), 0}, "127.0.0.1", 7000) ==
				  1);
	for (; recv(a, &byte, 1, MSG_DONTWAIT) == 1; n++, before = byte)
		changed += byte < before;
	fiber_test_assert((n == MANY && changed <= 1) || (n == MANY - 1 && !changed));
	if (changed)
		fiber_test_reached(before == 'A' + MANY - 2 ? "the last" : "another");
	else
		fiber_test_reached(n == MANY ? "none" : "lost");
	close(a);
	close(b);
}

static void test_long_queues_keep_all_but_the_one(void **state)
{
	static const char *const reach[] = {"the last", "another", "none", "lost", NULL};
	const struct fiber_test_options options = {.size = sizeof options,
						   .strategy = "each-fault",
						   .faults = FIBER_TEST_FAULT_RESET,
						   .reach = reach,
						   .slack = -1};

	(void)state;
	result = (struct fiber_test_result){.size = sizeof result};
	fiber_test_explore(send_many, NULL, &options, &result);
	assert_string_equal(result.message, "");
	assert_int_equal(result.schedules, 1 + 2 * MANY - 1 + 1);
}

/* -- a fiber that waits -- */

static void *await_one(void *arg)
{
	char byte = 0;

	fiber_test_assert(fiber_recv(*(int *)arg, &byte, 1, 0, FIBER_FOREVER) == 1);
	fiber_test_assert(byte == '1');
	return NULL;
}

static void send_to_waiter(void *arg)
{
	int a = open_socket(AF_INET, SOCK_DGRAM);
	const int b = open_socket(AF_INET, SOCK_DGRAM);
	struct fiber *fiber;

	(void)arg;
	fiber_test_assert(bind_to(a, "127.0.0.1", 7000) == 0);
	fiber_spawn(await_one, &a, &fiber);
	fiber_test_settle();
	fiber_test_assert(send_text(b, "1", "127.0.0.1", 7000) == 1);
	fiber_join(fiber, NULL, FIBER_FOREVER);
	close(a);
	close(b);
}

/* A protocol without a timeout hangs when its only datagram is lost. */
static void test_lost_datagram_leaves_its_receiver_waiting(void **state)
{
	const struct fiber_test_options options = {
		.size = sizeof options, .strategy = "each-fault", .faults = FIBER_TEST_FAULT_RESET};

	(void)state;
	result = (struct fiber_test_result){.size = sizeof result};
	assert_int_equal(fiber_test_explore(send_to_waiter, NULL, &options, &result), 1);
	assert_int_equal(result.verdict, FIBER_TEST_DEADLOCK);
	assert_int_equal(result.deviations, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_datagram_is_lost_and_overtakes_in_some_schedule),
		cmocka_unit_test(test_without_the_kind_all_arrive_in_order),
		cmocka_unit_test(test_long_queues_keep_all_but_the_one),
		cmocka_unit_test(test_lost_datagram_leaves_its_receiver_waiting),
	};

	seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
