/* SPDX-License-Identifier: MIT */
/*
 * test_kernel.c - records that the kernel encrypts, where it can, are those that OpenSSL would write
 *
 * Where it cannot, the same tests show that nothing depends on it.
 */
#include "pair.h"

#include <linux/sockios.h>
#include <openssl/ssl.h>
#include <sys/ioctl.h>

#include "libfiber-tls/kernel.h"

#define SIZE ((size_t)1 << 20)

struct scene {
	struct pair p;
	ssize_t results[6];
	size_t written, read;
	bool wrong;
};

static unsigned char byte_at(size_t i)
{
	return (unsigned char)(i * 2654435761u >> 13);
}

static void scene_open(struct scene *s, int version, unsigned flags, unsigned client_flags)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct fiber_tls_info info;

	memset(s, 0, sizeof(*s));
	server.flags = flags;
	client.flags = client_flags;
	pair_contexts(&s->p, &server, &client);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(s->p.client_context), version);
	pair_connect_tcp(&s->p, "localhost");
	pair_shake(&s->p);
	assert_int_equal(s->p.server_result | s->p.client_result, 0);
	assert_int_equal(fiber_tls_info(s->p.server, &info), 0);
	assert_int_equal(info.kernel, fib_tls_kernel_available() && flags);
}

/* Whether only a reader makes room: bytes wait to be sent, and all that were sent have arrived. */
static bool is_full(int fd)
{
	int not_arrived = 0, not_sent = 0;

	ioctl(fd, SIOCOUTQ, &not_arrived);
	ioctl(fd, SIOCOUTQNSD, &not_sent);
	return not_sent && not_arrived == not_sent;
}

/* Write until SIZE, or until the stream is full and the deadline passes; then close. */
static void *write_all(void *arg)
{
	struct scene *const s = arg;
	static unsigned char bytes[70000];
	ssize_t n = 0;

	while (s->written < SIZE && (n >= 0 || (n == -ETIMEDOUT && !is_full(s->p.fds[0])))) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = byte_at(s->written + i);
		n = fiber_tls_write(s->p.server, bytes, sizeof(bytes), fiber_after(s->results[4]));
		s->written += n > 0 ? (size_t)n : 0;
	}
	s->results[0] = n;
	s->results[1] = fiber_tls_shutdown(s->p.server, fiber_after(s->results[4]));
	return NULL;
}

static void *close_again(void *arg)
{
	struct scene *const s = arg;

	s->results[2] = fiber_tls_shutdown(s->p.server, fiber_after(60 * SECOND));
	return NULL;
}

static void *read_all(void *arg)
{
	struct scene *const s = arg;
	unsigned char bytes[5000];
	ssize_t n;

	while ((n = fiber_tls_read(s->p.client, bytes, sizeof(bytes), fiber_after(60 * SECOND))) >
	       0)
		for (ssize_t i = 0; i < n; i++)
			s->wrong |= bytes[i] != byte_at(s->read++);
	s->results[3] = n;
	return NULL;
}

static void test_kernel_is_available_where_the_system_says_so(void **state)
{
	const bool available = fib_tls_kernel_available();
	FILE *file = fopen("/proc/sys/net/ipv4/tcp_available_ulp", "r");
	char line[200] = "";

	(void)state;
	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = '\0';
		fclose(file);
	}
	assert_int_equal(available, strstr(line, "tls") != NULL);
	print_message("# this kernel encrypts: %s\n", available ? "yes" : "no");
}

static void test_kernel_sends_all_bytes_and_the_closing_message(void **state)
{
	(void)state;
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		struct scene s;

		scene_open(&s, version, FIBER_TLS_KERNEL, FIBER_TLS_KERNEL);
		s.results[4] = 60 * SECOND;
		pair_run(write_all, read_all, &s);
		assert_int_equal(s.results[1], 0);
		assert_int_equal(s.results[3], 0);
		assert_true(s.written >= SIZE);
		assert_int_equal(s.read, s.written);
		assert_false(s.wrong);
		pair_close(&s.p);
	}
}

/* The closing message is no data: it must wait for room, and for the data before it. */
static void test_kernel_closes_a_full_stream_when_there_is_room(void **state)
{
	const int size = 4096;

	(void)state;
	for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
		struct scene s;

		scene_open(&s, version, FIBER_TLS_KERNEL, FIBER_TLS_KERNEL);
		setsockopt(s.p.fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		s.results[4] = 5 * MS;
		carriers_run(write_all, &s);
		assert_int_equal(s.results[0], -ETIMEDOUT);
		assert_int_equal(s.results[1], -ETIMEDOUT);
		pair_run(close_again, read_all, &s);
		assert_int_equal(s.results[2], 0);
		assert_int_equal(s.results[3], 0);
		assert_int_equal(s.read, s.written);
		assert_false(s.wrong);
		pair_close(&s.p);
	}
}

static void test_kernel_is_not_used_without_the_flag(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s, TLS1_3_VERSION, 0, 0);
	s.results[4] = 60 * SECOND;
	pair_run(write_all, read_all, &s);
	assert_int_equal(s.read, s.written);
	assert_false(s.wrong);
	pair_close(&s.p);
}

/* An alert, which is no data either. */
static void *break_protocol(void *arg)
{
	static const unsigned char record[] = {23, 3, 3, 0, 3, 1, 2, 3};
	struct scene *const s = arg;
	char byte;

	fiber_write_full(s->p.fds[1], record, sizeof(record), FIBER_FOREVER);
	s->results[0] = fiber_tls_read(s->p.server, &byte, 1, fiber_after(20 * SECOND));
	s->results[1] = fiber_tls_read(s->p.client, &byte, 1, fiber_after(20 * SECOND));
	return NULL;
}

static void test_kernel_sends_alerts(void **state)
{
	struct scene s;

	(void)state;
	/* The kernel would encrypt the garbage. */
	scene_open(&s, TLS1_3_VERSION, FIBER_TLS_KERNEL, 0);
	carriers_run(break_protocol, &s);
	assert_int_equal(s.results[0], -EPROTO);
	assert_int_equal(s.results[1], -EPROTO);
	assert_non_null(strstr(fiber_tls_error(s.p.client), "alert"));
	pair_close(&s.p);
}

/* Tickets are messages of the handshake. */
static void test_kernel_sends_tickets(void **state)
{
	struct fiber_tls_info info;
	struct scene s;

	(void)state;
	scene_open(&s, TLS1_3_VERSION, FIBER_TLS_KERNEL, FIBER_TLS_KERNEL);
	s.results[4] = 60 * SECOND;
	pair_run(write_all, read_all, &s);
	pair_disconnect(&s.p);
	pair_connect_tcp(&s.p, "localhost");
	pair_shake(&s.p);
	assert_int_equal(fiber_tls_info(s.p.client, &info), 0);
	assert_true(info.resumed);
	pair_close(&s.p);
}

/* The client asks the server to change its key. */
static void *change_keys(void *arg)
{
	struct scene *const s = arg;
	char byte;

	SSL_key_update(fiber_tls_openssl(s->p.client), SSL_KEY_UPDATE_REQUESTED);
	fiber_tls_write(s->p.client, "k", 1, FIBER_FOREVER);
	s->results[0] = fiber_tls_read(s->p.server, &byte, 1, fiber_after(20 * SECOND));
	s->results[1] = fiber_tls_write(s->p.server, "s", 1, fiber_after(20 * SECOND));
	if (s->results[1] == 1)
		s->results[2] = fiber_tls_read(s->p.client, &byte, 1, fiber_after(20 * SECOND));
	return NULL;
}

static void test_kernel_that_cannot_change_keys_ends_the_connection(void **state)
{
	const bool kernel = fib_tls_kernel_available();
	struct scene s;

	(void)state;
	scene_open(&s, TLS1_3_VERSION, FIBER_TLS_KERNEL, 0);
	carriers_run(change_keys, &s);
	assert_int_equal(s.results[0], 1);
	assert_int_equal(s.results[1], kernel ? -ENOTSUP : 1);
	assert_string_equal(fiber_tls_error(s.p.server),
			    kernel ? "the peer changes keys, and the kernel, which encrypts, cannot"
				   : "");
	if (!kernel)
		assert_int_equal(s.results[2], 1);
	pair_close(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_is_available_where_the_system_says_so),
		cmocka_unit_test(test_kernel_sends_all_bytes_and_the_closing_message),
		cmocka_unit_test(test_kernel_closes_a_full_stream_when_there_is_room),
		cmocka_unit_test(test_kernel_is_not_used_without_the_flag),
		cmocka_unit_test(test_kernel_sends_alerts),
		cmocka_unit_test(test_kernel_sends_tickets),
		cmocka_unit_test(test_kernel_that_cannot_change_keys_ends_the_connection),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
