/* SPDX-License-Identifier: MIT */
/* test_client.c - the client against a peer that misbehaves */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/paths.h"
#include "tests/harness/watchdog.h"
#include "wire/client.h"

#define SHORT INT64_C(20000000)
#define LONG  INT64_C(20000000000)

static char path[HARNESS_PATH];
static int listener, other;
static struct fib_wire_client client;

static int setup(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)state;
	harness_file(path, "peer.sock");
	if (strlen(path) >= sizeof at.sun_path)
		return -1;
	strcpy(at.sun_path, path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof at) < 0 || listen(listener, 1) < 0 ||
	    fib_wire_connect(&client, path, LONG) < 0)
		return -1;
	other = accept(listener, NULL, NULL);
	return other < 0;
}

static int teardown(void **state)
{
	(void)state;
	fib_wire_disconnect(&client);
	if (other >= 0)
		close(other);
	close(listener);
	unlink(path);
	return 0;
}

/* The peer sends. */
static void say(const void *bytes, size_t length)
{
	assert_int_equal(send(other, bytes, length, MSG_NOSIGNAL), length);
}

static void hang_up(void)
{
	close(other);
	other = -1;
}

static void be_impatient(void)
{
	struct fib_wire_client impatient;
	int fd;

	assert_int_equal(fib_wire_connect(&impatient, path, SHORT), 0);
	fd = accept(listener, NULL, NULL);
	assert_true(fd >= 0);
	fib_wire_disconnect(&client);
	close(other);
	client = impatient;
	other = fd;
}

static void test_client_sends_header_and_payload(void **state)
{
	struct fib_wire_id id = {42};
	struct {
		struct fib_wire_header h;
		unsigned char payload[sizeof id];
	} got;

	(void)state;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_SHOW, &id, sizeof id), 0);
	assert_int_equal(recv(other, &got, sizeof got, MSG_WAITALL), sizeof got);
	assert_int_equal(fib_wire_check(&got.h, FIB_WIRE_REQUEST_MAX), 0);
	assert_int_equal(got.h.type, FIB_WIRE_SHOW);
	assert_int_equal(got.h.length, sizeof id);
	assert_memory_equal(got.payload, &id, sizeof id);
}

static void test_client_does_not_send_what_no_one_takes(void **state)
{
	char payload[FIB_WIRE_REQUEST_MAX + 1] = {0};

	(void)state;
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_SHOW, payload, sizeof payload),
			 -EMSGSIZE);
}

static void test_client_receives_frames_one_after_another(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_MAPS, 5}, got;
	const void *payload;

	(void)state;
	say(&h, sizeof h);
	say("hello", 5);
	h.length = 0;
	h.type = FIB_WIRE_END;
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_MAPS);
	assert_int_equal(got.length, 5);
	assert_memory_equal(payload, "hello", 5);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_END);
	assert_int_equal(got.length, 0);
	assert_non_null(payload);
}

static void test_client_passes_over_what_only_says_that_the_answer_comes(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_STILL, 0}, got;
	const void *payload;

	(void)state;
	say(&h, sizeof h);
	say(&h, sizeof h);
	h.type = FIB_WIRE_END;
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_END);
}

#define LARGE ((size_t)1 << 20)

/* More than a socket buffer holds can be sent only while the client reads. */
static void *say_large(void *frame)
{
	const struct fib_wire_header end = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_END, 0};
	const size_t size = sizeof end + LARGE;
	size_t done;
	ssize_t n = 1;

	for (done = 0; done < size && n > 0; done += (size_t)n)
		n = send(other, (char *)frame + done, size - done, MSG_NOSIGNAL);
	send(other, &end, sizeof end, MSG_NOSIGNAL);
	return NULL;
}

static void test_client_receives_a_frame_in_pieces_and_pieces_of_several(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_MAPS, 3}, got;
	unsigned char *frame = malloc(sizeof h + LARGE);
	const void *payload;
	pthread_t thread;
	size_t i;

	(void)state;
	say(&h, sizeof h);
	say("one", 3);
	h.length = LARGE;
	memcpy(frame, &h, sizeof h);
	for (i = 0; i < LARGE; i++)
		frame[sizeof h + i] = (unsigned char)(i * 7 / 3);
	assert_int_equal(pthread_create(&thread, NULL, say_large, frame), 0);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.length, 3);
	assert_memory_equal(payload, "one", 3);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.length, LARGE);
	assert_memory_equal(payload, frame + sizeof h, LARGE);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_END);
	pthread_join(thread, NULL);
	free(frame);
}

static void test_client_takes_garbage_for_no_frame(void **state)
{
	struct fib_wire_header got;
	const void *payload;

	(void)state;
	say("HTTP/1.1 400 Bad Request\r\n", 26);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -EPROTO);
}

static void test_client_believes_no_length_beyond_the_limit(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ROWS, 0xfffffff0};
	struct fib_wire_header got;
	const void *payload;

	(void)state;
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -EMSGSIZE);
	assert_int_equal(client.capacity, 0);
	/* No buffer is allocated for a frame longer than any such answer has either. */
	be_impatient();
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_COUNTERS, NULL, 0), 0);
	h.length = FIB_WIRE_FRAME_MAX;
	say(&h, sizeof h);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIME);
	assert_int_equal(client.capacity, 0);
}

static void test_client_hears_when_the_other_end_closes_in_a_frame(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_MAPS, 5}, got;
	const void *payload;

	(void)state;
	say(&h, sizeof h);
	say("hel", 3);
	hang_up();
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ECONNRESET);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ECONNRESET);
}

static void test_client_that_was_turned_away_still_hears_why(void **state)
{
	struct fib_wire_header h = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_ERROR, 0}, got;
	struct fib_wire_error e = {.error = -EBUSY, .text = "full"};
	const void *payload;

	(void)state;
	h.length = sizeof e;
	say(&h, sizeof h);
	say(&e, sizeof e);
	hang_up();
	assert_int_equal(fib_wire_request(&client, FIB_WIRE_HELLO, NULL, 0), 0);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), 0);
	assert_int_equal(got.type, FIB_WIRE_ERROR);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ECONNRESET);
}

static void test_client_does_not_wait_longer_than_its_timeout(void **state)
{
	struct fib_wire_header got;
	const void *payload;

	(void)state;
	be_impatient();
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIMEDOUT);
	say("Fib", 3);
	assert_int_equal(fib_wire_receive(&client, &got, &payload), -ETIMEDOUT);
}

static void test_client_does_not_wait_for_ever_for_a_full_backlog(void **state)
{
	struct fib_wire_client more[8];
	int i, rc = 0;

	(void)state;
	for (i = 0; i < 8 && rc == 0; i++)
		rc = fib_wire_connect(&more[i], path, SHORT);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_int_equal(fib_wire_connect_now(&more[i - 1], path, SHORT), -EAGAIN);
	while (i-- > 0)
		fib_wire_disconnect(&more[i]);
}

static void test_client_connect_says_what_is_wrong(void **state)
{
	struct fib_wire_client c;
	char missing[HARNESS_PATH], dead[HARNESS_PATH], too_long[300];
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int fd;

	(void)state;
	assert_int_equal(fib_wire_connect(&c, harness_file(missing, "none.sock"), SHORT), -ENOENT);
	harness_file(dead, "dead.sock");
	assert_true(strlen(dead) < sizeof at.sun_path);
	strcpy(at.sun_path, dead);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	close(fd);
	assert_int_equal(fib_wire_connect(&c, dead, SHORT), -ECONNREFUSED);
	/* The path is not a socket. */
	assert_int_equal(fib_wire_connect(&c, "/dev/null", SHORT), -ENOTSOCK);
	assert_int_equal(fib_wire_connect(&c, "/", SHORT), -ENOTSOCK);
	assert_int_equal(c.fd, -1);
	memset(too_long, 'x', sizeof too_long - 1);
	too_long[sizeof too_long - 1] = 0;
	assert_int_equal(fib_wire_connect(&c, too_long, SHORT), -ENAMETOOLONG);
	fib_wire_disconnect(&c);
	unlink(dead);
}

static void test_client_knows_who_the_other_end_is(void **state)
{
	struct fib_wire_client nobody = {.fd = -1};

	(void)state;
	assert_int_equal(fib_wire_peer(&client), getpid());
	assert_int_equal(fib_wire_peer(&nobody), 0);
}

static struct {
	unsigned char bytes[256];
	size_t size;
} kept;

static bool recall(void *keeper, enum fib_wire_type type, const unsigned char **ret_at,
		   const unsigned char **ret_end)
{
	assert_ptr_equal(keeper, &kept);
	*ret_at = kept.bytes;
	*ret_end = kept.bytes + kept.size;
	return type == FIB_WIRE_HELLO;
}

static void test_client_answers_itself_from_what_is_kept(void **state)
{
	const struct fib_wire_header one = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_PROCESS, 3},
				     end = {FIB_WIRE_MAGIC, FIB_WIRE_VERSION, FIB_WIRE_END, 0};
	struct fib_wire_header header;
	struct fib_wire_client c;
	const void *payload;

	(void)state;
	memcpy(kept.bytes, &one, sizeof one);
	memcpy(kept.bytes + sizeof one, "abc", 3);
	memcpy(kept.bytes + sizeof one + 3, &end, sizeof end);
	kept.size = 2 * sizeof one + 3;
	fib_wire_recall(&c, recall, &kept);
	assert_int_equal(fib_wire_request(&c, FIB_WIRE_LIST, NULL, 0), -EOPNOTSUPP);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fib_wire_request(&c, FIB_WIRE_HELLO, NULL, 0), 0);
		assert_int_equal(fib_wire_receive(&c, &header, &payload), 0);
		assert_int_equal(header.type, FIB_WIRE_PROCESS);
		assert_memory_equal(payload, "abc", 3);
		assert_int_equal(fib_wire_receive(&c, &header, &payload), 0);
		assert_int_equal(header.type, FIB_WIRE_END);
		assert_int_equal(fib_wire_receive(&c, &header, &payload), -EPROTO);
	}
	/* Truncated in the payload, and in the header. */
	for (kept.size = sizeof one + 2; kept.size > 0; kept.size--) {
		assert_int_equal(fib_wire_request(&c, FIB_WIRE_HELLO, NULL, 0), 0);
		assert_int_equal(fib_wire_receive(&c, &header, &payload), -EPROTO);
	}
	fib_wire_disconnect(&c);
}

#define CLIENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLIENT_TEST(test_client_sends_header_and_payload),
		CLIENT_TEST(test_client_does_not_send_what_no_one_takes),
		CLIENT_TEST(test_client_receives_frames_one_after_another),
		CLIENT_TEST(test_client_passes_over_what_only_says_that_the_answer_comes),
		CLIENT_TEST(test_client_receives_a_frame_in_pieces_and_pieces_of_several),
		CLIENT_TEST(test_client_takes_garbage_for_no_frame),
		CLIENT_TEST(test_client_believes_no_length_beyond_the_limit),
		CLIENT_TEST(test_client_hears_when_the_other_end_closes_in_a_frame),
		CLIENT_TEST(test_client_that_was_turned_away_still_hears_why),
		CLIENT_TEST(test_client_does_not_wait_longer_than_its_timeout),
		CLIENT_TEST(test_client_does_not_wait_for_ever_for_a_full_backlog),
		CLIENT_TEST(test_client_connect_says_what_is_wrong),
		CLIENT_TEST(test_client_knows_who_the_other_end_is),
		CLIENT_TEST(test_client_answers_itself_from_what_is_kept),
	};

	harness_watchdog(120);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
