/* SPDX-License-Identifier: MIT */
/* test_transport.c - bytes are kept where the socket takes none, within a bound, and no fiber starves */
#include "pair.h"

#include <openssl/ssl.h>

#include "libfiber-tls/connection.h"

struct scene {
	struct pair p;
	ssize_t results[6];
	size_t count;
	_Atomic bool written; /* results[0] is there */
};

static void scene_open(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	pair_open(&s->p);
	pair_shake(&s->p);
}

/* -- what is kept -- */

/* Write until bytes are kept, then only read; the peer reads what is kept, then answers. */
static void *write_then_only_read(void *arg)
{
	static const char bytes[1 << 20];
	struct scene *const s = arg;
	char answer[8];

	s->results[0] = fiber_tls_write(s->p.client, bytes, sizeof(bytes), fiber_after(5 * MS));
	s->results[1] = s->p.client->out_end > s->p.client->out_at;
	s->results[4] = fiber_tls_write(s->p.client, NULL, 0, fiber_after(5 * MS));
	s->written = true;
	s->results[2] =
		fiber_tls_read(s->p.client, answer, sizeof(answer), fiber_after(60 * SECOND));
	s->results[3] = s->p.client->out == NULL;
	return NULL;
}

/* Answer when all that the peer has counted is here. */
static void *read_then_answer(void *arg)
{
	struct scene *const s = arg;
	char bytes[4096];
	ssize_t n = 1;

	while (!s->written)
		fiber_yield();
	while (n > 0 && s->count < (size_t)s->results[0]) {
		n = fiber_tls_read(s->p.server, bytes, sizeof(bytes), fiber_after(60 * SECOND));
		s->count += n > 0 ? (size_t)n : 0;
	}
	fiber_tls_write(s->p.server, "all", 3, FIBER_FOREVER);
	return NULL;
}

static void test_transport_sends_what_is_kept_in_a_later_read(void **state)
{
	struct scene s;

	(void)state;
	scene_open(&s);
	pair_run(read_then_answer, write_then_only_read, &s);
	assert_true(s.results[0] > 0);
	assert_int_equal(s.results[1], 1);
	assert_int_equal(s.results[4], -ETIMEDOUT);
	assert_int_equal(s.results[2], 3);
	assert_int_equal(s.results[3], 1);
	assert_int_equal(s.count, s.results[0]);
	pair_close(&s.p);
}

static void test_transport_sends_tickets_with_the_first_answer(void **state)
{
	struct scene s;
	char byte;

	(void)state;
	scene_open(&s);
	assert_int_equal(recv(s.p.fds[1], &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
	assert_true(s.p.server->out_end > 0);
	assert_int_equal(fiber_tls_write(s.p.server, "x", 1, 0), 1);
	assert_null(s.p.server->out);
	assert_int_equal(fiber_tls_read(s.p.client, &byte, 1, 0), 1);
	pair_close(&s.p);
}

/* The peer waits for the last message of a handshake. */
static void test_transport_keeps_nothing_that_ends_a_handshake(void **state)
{
	struct scene s = {0};

	(void)state;
	pair_contexts(&s.p, NULL, NULL);
	SSL_CTX_set_max_proto_version(fiber_tls_context_openssl(s.p.client_context),
				      TLS1_2_VERSION);
	pair_connect(&s.p, "localhost");
	pair_shake(&s.p);
	assert_int_equal(s.p.server_result | s.p.client_result, 0);
	assert_null(s.p.server->out);
	assert_null(s.p.client->out);
	pair_close(&s.p);
}

/* A peer that asks for answers and never reads them. */
static void *ask_for_key_updates(void *arg)
{
	struct scene *const s = arg;
	struct ssl_st *const ssl = fiber_tls_openssl(s->p.client);
	char byte;

	for (int i = 0; i < 20000; i++) {
		SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED);
		if (fiber_tls_write(s->p.client, "k", 1, fiber_after(20 * MS)) != 1)
			break;
		while (fiber_tls_read(s->p.server, &byte, 1, 0) == 1)
			continue;
		s->count++;
	}
	s->results[0] = (ssize_t)(s->p.server->out_end - s->p.server->out_at);
	s->results[1] = fiber_tls_read(s->p.server, &byte, 1, fiber_after(5 * MS));
	return NULL;
}

static void test_transport_keeps_no_more_for_a_peer_that_does_not_read_than_its_bound(void **state)
{
	const int size = 4096;
	struct scene s;

	(void)state;
	scene_open(&s);
	setsockopt(s.p.fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	carriers_run(ask_for_key_updates, &s);
	assert_true(s.count > 100);
	assert_in_range(s.results[0], 1, (64 << 10) + 1024);
	assert_int_equal(s.results[1], -ETIMEDOUT);
	pair_close(&s.p);
}

/* -- a socket that is always ready -- */

static void *count_turns(void *arg)
{
	struct scene *const s = arg;

	while (!s->written) {
		s->count++;
		fiber_yield();
	}
	return NULL;
}

/* The other end is emptied without a wait, by this fiber. */
static void *write_without_waiting(void *arg)
{
	static char bytes[32 << 10];
	struct scene *const s = arg;
	struct fiber *other;

	if (fiber_spawn(count_turns, s, &other))
		abort();
	for (int i = 0; i < 64 && s->results[0] >= 0; i++) {
		s->results[0] = fiber_tls_write(s->p.server, bytes, 16 << 10, 0);
		while (recv(s->p.fds[1], bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			continue;
	}
	s->results[1] = (ssize_t)s->count;
	s->written = true;
	fiber_join(other, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_transport_lets_others_run_when_the_socket_is_always_ready(void **state)
{
	struct fiber_runtime_options one = carriers_options();
	struct scene s;

	(void)state;
	scene_open(&s);
	one.carriers = 1;
	assert_int_equal(fiber_run(write_without_waiting, &s, &one, NULL), 0);
	assert_int_equal(s.results[0], 16 << 10);
	/* 1 MiB, and a turn after each 256 KiB. */
	assert_in_range(s.results[1], 3, 5);
	pair_close(&s.p);
}

struct flood {
	struct scene scene;
	int64_t patience;
	size_t turns;
	char *bytes; /* key updates, then a byte of data */
	long size;
};

static void *send_flood(void *arg)
{
	struct flood *const f = arg;
	ssize_t n;

	for (long i = 0; i < f->size; i += n) {
		n = send(f->scene.p.fds[1], f->bytes + i, (size_t)(f->size - i), MSG_NOSIGNAL);
		if (n <= 0)
			break;
	}
	return NULL;
}

static void make_flood(struct flood *f)
{
	struct ssl_st *const ssl = fiber_tls_openssl(f->scene.p.client);
	BIO *const memory = BIO_new(BIO_s_mem());
	char *bytes;
	size_t n;

	SSL_set0_wbio(ssl, memory);
	for (int i = 0; i < 40000; i++) {
		assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		assert_int_equal(SSL_do_handshake(ssl), 1);
	}
	assert_int_equal(SSL_write_ex(ssl, "x", 1, &n), 1);
	f->size = BIO_get_mem_data(memory, &bytes);
	assert_true(f->size > 3 * (256 << 10));
	f->bytes = malloc((size_t)f->size);
	memcpy(f->bytes, bytes, (size_t)f->size);
}

static void *read_flood(void *arg)
{
	struct flood *const f = arg;
	struct scene *const s = &f->scene;
	struct fiber *other;
	pthread_t thread;
	char byte;

	if (fiber_spawn(count_turns, s, &other) || pthread_create(&thread, NULL, send_flood, f))
		abort();
	while (recv(s->p.fds[0], &byte, 1, MSG_PEEK | MSG_DONTWAIT) != 1)
		sched_yield();
	s->results[0] = fiber_tls_read(s->p.server, &byte, 1, f->patience);
	f->turns = s->count;
	s->written = true;
	if (s->results[0] != 1)
		s->results[1] = fiber_tls_read(s->p.server, &byte, 1, fiber_after(60 * SECOND));
	fiber_join(other, NULL, FIBER_FOREVER);
	pthread_join(thread, NULL);
	return NULL;
}

static void expect_flood(struct flood *f, int64_t patience)
{
	struct fiber_runtime_options one = carriers_options();

	memset(f, 0, sizeof(*f));
	scene_open(&f->scene);
	f->patience = patience;
	one.carriers = 1;
	make_flood(f);
	assert_int_equal(fiber_run(read_flood, f, &one, NULL), 0);
	free(f->bytes);
	pair_close(&f->scene.p);
}

static void test_transport_lets_others_run_when_the_peer_only_changes_keys(void **state)
{
	struct flood f;

	(void)state;
	expect_flood(&f, FIBER_FOREVER);
	assert_int_equal(f.scene.results[0], 1);
	assert_true(f.turns >= 3);
	expect_flood(&f, 0);
	assert_int_equal(f.scene.results[0], -ETIMEDOUT);
	assert_int_equal(f.scene.results[1], 1);
}

/* -- a message of the handshake arrives in pieces, and a writer must wait for the rest -- */

/* A relay between the client and the server, which stops where the test says. */
struct relay {
	struct scene *scene;
	int ends[2];		       /* of the server, of the client */
	bool answered;		       /* the server has sent something */
	_Atomic bool held_to_server;   /* the client's bytes wait */
	_Atomic int records_to_client; /* that may pass; -1: all */
};

static bool pass(int from, int to, size_t size)
{
	char bytes[20000];

	return fiber_read_full(from, bytes, size, fiber_after(60 * SECOND)) == (ssize_t)size &&
	       fiber_write_full(to, bytes, size, FIBER_FOREVER) == (ssize_t)size;
}

static void *relay_to_client(void *arg)
{
	struct relay *const r = arg;
	unsigned char head[5];

	while (fiber_recv(r->ends[0], head, sizeof(head), MSG_PEEK, FIBER_FOREVER) ==
	       sizeof(head)) {
		while (r->records_to_client == 0)
			fiber_sleep(MS);
		/* Before it passes: when the client has it, the number may be set. */
		if (r->records_to_client > 0)
			r->records_to_client--;
		/* The server has the client's first message; the last ones wait. */
		if (!r->answered)
			r->held_to_server = true;
		r->answered = true;
		if (!pass(r->ends[0], r->ends[1], 5u + (head[3] << 8 | head[4])))
			break;
	}
	return NULL;
}

static void *relay_to_server(void *arg)
{
	struct relay *const r = arg;
	char byte;

	while (fiber_recv(r->ends[1], &byte, 1, MSG_PEEK, FIBER_FOREVER) == 1) {
		while (r->held_to_server)
			fiber_sleep(MS);
		if (!pass(r->ends[1], r->ends[0], 1))
			break;
	}
	return NULL;
}

static void *read_one(void *arg)
{
	struct scene *const s = arg;
	char byte;

	s->results[0] = fiber_tls_read(s->p.client, &byte, 1, fiber_after(60 * SECOND));
	return NULL;
}

static void *write_one(void *arg)
{
	struct scene *const s = arg;

	s->results[2] = fiber_tls_write(s->p.client, "x", 1, fiber_after(60 * SECOND));
	return NULL;
}

static void *serve_one(void *arg)
{
	struct scene *const s = arg;
	char byte = 0;

	pair_server_shakes(&s->p);
	fiber_tls_read(s->p.server, &byte, 1, fiber_after(60 * SECOND));
	s->results[3] = fiber_tls_write(s->p.server, &byte, 1, fiber_after(60 * SECOND));
	return NULL;
}

/* Whether OpenSSL has received a part of a message and waits for the rest. */
static bool is_in_message(struct fiber_tls *tls)
{
	bool in_message;

	pthread_mutex_lock(&tls->lock);
	in_message = tls->receiving && SSL_in_init(tls->ssl);
	pthread_mutex_unlock(&tls->lock);
	return in_message;
}

static void *write_between_pieces(void *arg)
{
	struct relay *const r = arg;
	struct scene *const s = r->scene;
	struct fiber *fibers[5];
	char byte;

	s->results[5] = -1;
	fiber_spawn(relay_to_client, r, &fibers[0]);
	fiber_spawn(relay_to_server, r, &fibers[1]);
	fiber_spawn(serve_one, s, &fibers[2]);
	pair_client_shakes(&s->p);
	/* The tickets follow the client's last message; the first record of them passes. */
	r->records_to_client = 1;
	r->held_to_server = false;
	fiber_spawn(read_one, s, &fibers[3]);
	while (!is_in_message(s->p.client))
		fiber_sleep(MS);
	s->results[1] = fiber_tls_write(s->p.client, "x", 1, fiber_after(20 * MS));
	s->results[4] = fiber_tls_shutdown(s->p.client, fiber_after(20 * MS));
	fiber_spawn(write_one, s, &fibers[4]);
	carriers_await_suspended(fibers[4]);
	r->records_to_client = -1;
	for (int i = 2; i < 5; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	if (!fiber_tls_shutdown(s->p.client, fiber_after(60 * SECOND)))
		s->results[5] = fiber_tls_read(s->p.server, &byte, 1, fiber_after(60 * SECOND));
	for (int i = 0; i < 2; i++) {
		shutdown(r->ends[i], SHUT_RDWR);
		shutdown(s->p.fds[i], SHUT_RDWR);
	}
	for (int i = 0; i < 2; i++)
		fiber_join(fibers[i], NULL, FIBER_FOREVER);
	return NULL;
}

static void test_transport_writes_and_closes_after_the_rest_of_a_message(void **state)
{
	struct fiber_tls_options server = pair_server_options("server");
	struct fiber_tls_options client = pair_client_options();
	struct scene s = {0};
	struct relay r = {.scene = &s, .records_to_client = -1};
	int to_server[2], to_client[2];

	(void)state;
	/* A ticket has the client's certificate in it, and records are small: it takes several. */
	server.flags = FIBER_TLS_NEED_CERT;
	server.ca = harness_pem("authority");
	client.certificate = harness_pem("server");
	client.key = harness_key("server");
	pair_contexts(&s.p, &server, &client);
	SSL_CTX_set_max_send_fragment(fiber_tls_context_openssl(s.p.server_context), 512);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, to_server), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, to_client), 0);
	s.p.fds[0] = to_server[0];
	s.p.fds[1] = to_client[0];
	r.ends[0] = to_server[1];
	r.ends[1] = to_client[1];
	assert_int_equal(fiber_tls_new(s.p.server_context, s.p.fds[0], NULL, &s.p.server), 0);
	assert_int_equal(fiber_tls_new(s.p.client_context, s.p.fds[1], "localhost", &s.p.client),
			 0);
	carriers_run(write_between_pieces, &r);
	assert_int_equal(s.p.client_result, 0);
	assert_int_equal(s.p.server_result, 0);
	assert_int_equal(s.results[1], -ETIMEDOUT);
	assert_int_equal(s.results[4], -ETIMEDOUT);
	assert_int_equal(s.results[2], 1);
	assert_int_equal(s.results[3], 1);
	assert_int_equal(s.results[0], 1);
	assert_int_equal(s.results[5], 0);
	close(r.ends[0]);
	close(r.ends[1]);
	pair_close(&s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transport_sends_tickets_with_the_first_answer),
		cmocka_unit_test(test_transport_keeps_nothing_that_ends_a_handshake),
		cmocka_unit_test(test_transport_sends_what_is_kept_in_a_later_read),
		cmocka_unit_test(
			test_transport_keeps_no_more_for_a_peer_that_does_not_read_than_its_bound),
		cmocka_unit_test(test_transport_lets_others_run_when_the_socket_is_always_ready),
		cmocka_unit_test(test_transport_lets_others_run_when_the_peer_only_changes_keys),
		cmocka_unit_test(test_transport_writes_and_closes_after_the_rest_of_a_message),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, pair_certificates, NULL);
}
