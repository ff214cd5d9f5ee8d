/* SPDX-License-Identifier: MIT */
/*
 * test_libssh.c - libssh, which polls descriptors that do not block, on fibers
 *
 * Both ends are libssh's: even fibers are servers, each with the client beside it. No server of
 * Debian is needed, nor an account. A session has a key exchange, a password that is refused and
 * one that is right, and a channel with a command. That the sessions overlap is shown by a state:
 * all clients wait for their command's answer at one moment.
 */
#include <libssh/callbacks.h>
#include <libssh/libssh.h>
#include <libssh/server.h>

#include "tests/posix/hundred.h"
#include "tests/posix/waiting.h"

#include <sys/socket.h>
#include <unistd.h>

#define PAIRS  (FIBERS / 2)
#define SIZE   100000u
#define SECRET "right"

static ssh_key host_key;
static int ends[PAIRS][2];
/* Servers and clients that are past the request of the command. */
static atomic_uint past_request;
static atomic_bool all_wait;

static char byte_at(unsigned pair, unsigned at)
{
	return (char)(pair + at * 7 + at / 1000);
}

/* -- the server -- */

/* What a client has reached. */
struct served {
	ssh_channel channel;
	struct ssh_channel_callbacks_struct on_channel;
	bool asked;
};

static int check_password(ssh_session s, const char *user, const char *password, void *arg)
{
	(void)s;
	(void)user;
	(void)arg;
	return strcmp(password, SECRET) == 0 ? SSH_AUTH_SUCCESS : SSH_AUTH_DENIED;
}

static int accept_command(ssh_session s, ssh_channel channel, const char *command, void *arg)
{
	(void)s;
	(void)channel;
	((struct served *)arg)->asked = true;
	return strcmp(command, "echo") == 0 ? SSH_OK : SSH_ERROR;
}

static ssh_channel accept_channel(ssh_session s, void *arg)
{
	struct served *served = arg;

	served->channel = ssh_channel_new(s);
	served->on_channel.userdata = served;
	served->on_channel.channel_exec_request_function = accept_command;
	ssh_callbacks_init(&served->on_channel);
	ssh_set_channel_callbacks(served->channel, &served->on_channel);
	return served->channel;
}

/* Serve a client up to its command. */
static void serve_login(ssh_session s, struct served *served)
{
	struct ssh_server_callbacks_struct on_session = {
		.userdata = served,
		.auth_password_function = check_password,
		.channel_open_request_session_function = accept_channel,
	};
	ssh_event event = ssh_event_new();

	ssh_callbacks_init(&on_session);
	ssh_set_server_callbacks(s, &on_session);
	ssh_set_auth_methods(s, SSH_AUTH_METHOD_PASSWORD);
	must(ssh_handle_key_exchange(s) == SSH_OK);
	ssh_event_add_session(event, s);
	while (!served->asked && ssh_event_dopoll(event, -1) == SSH_OK)
		;
	must(served->asked && served->channel);
	ssh_event_remove_session(event, s);
	ssh_event_free(event);
	ssh_set_server_callbacks(s, NULL);
}

/* Send back what comes, up to its end. */
static void echo(ssh_channel channel)
{
	char bytes[8192];
	int n;

	while ((n = ssh_channel_read(channel, bytes, sizeof bytes, 0)) > 0)
		must(ssh_channel_write(channel, bytes, (uint32_t)n) == n);
	must(n == 0);
}

static void serve(unsigned pair)
{
	struct served served = {0};
	ssh_bind b = ssh_bind_new();
	ssh_session s = ssh_new();

	must(ssh_bind_options_set(b, SSH_BIND_OPTIONS_IMPORT_KEY, ssh_key_dup(host_key)) == SSH_OK);
	must(ssh_bind_accept_fd(b, s, ends[pair][0]) == SSH_OK);
	serve_login(s, &served);
	past_request++;
	while (!all_wait)
		usleep(1000);
	must(ssh_channel_write(served.channel, "hello", 5) == 5);
	echo(served.channel);
	must(ssh_channel_request_send_exit_status(served.channel, (int)pair) == SSH_OK);
	ssh_channel_close(served.channel);
	ssh_channel_free(served.channel);
	ssh_disconnect(s);
	ssh_free(s);
	ssh_bind_free(b);
}

/* -- the client -- */

static ssh_session log_in(unsigned pair)
{
	const bool no = false;
	const long patience = 100; /* seconds */
	ssh_session s = ssh_new();
	ssh_key key = NULL;

	ssh_options_set(s, SSH_OPTIONS_HOST, "test");
	ssh_options_set(s, SSH_OPTIONS_USER, "test");
	ssh_options_set(s, SSH_OPTIONS_PROCESS_CONFIG, &no);
	ssh_options_set(s, SSH_OPTIONS_TIMEOUT, &patience);
	ssh_options_set(s, SSH_OPTIONS_FD, &ends[pair][1]);
	must(ssh_connect(s) == SSH_OK);
	must(ssh_get_server_publickey(s, &key) == SSH_OK);
	must(ssh_key_cmp(key, host_key, SSH_KEY_CMP_PUBLIC) == 0);
	ssh_key_free(key);
	must(ssh_userauth_password(s, NULL, "wrong") == SSH_AUTH_DENIED);
	must(ssh_userauth_password(s, NULL, SECRET) == SSH_AUTH_SUCCESS);
	return s;
}

static void read_all(ssh_channel channel, char *bytes, uint32_t size)
{
	uint32_t at = 0;
	int n = 1;

	while (at < size && n > 0) {
		n = ssh_channel_read(channel, bytes + at, size - at, 0);
		at += n > 0 ? (uint32_t)n : 0;
	}
	must(at == size);
}

static void ask(unsigned pair)
{
	ssh_session s = log_in(pair);
	ssh_channel channel = ssh_channel_new(s);
	char *sent = malloc(SIZE), *back = malloc(SIZE);
	int64_t start;

	must(ssh_channel_open_session(channel) == SSH_OK);
	must(ssh_channel_request_exec(channel, "echo") == SSH_OK);
	past_request++;
	read_all(channel, back, 5);
	must(memcmp(back, "hello", 5) == 0);
	start = fiber_now();
	must(ssh_channel_read_timeout(channel, back, 1, 0, 50) == 0);
	must(fiber_now() - start >= 50 * MS);
	for (unsigned i = 0; i < SIZE; i++)
		sent[i] = byte_at(pair, i);
	must(ssh_channel_write(channel, sent, SIZE) == (int)SIZE);
	must(ssh_channel_send_eof(channel) == SSH_OK);
	read_all(channel, back, SIZE);
	must(memcmp(sent, back, SIZE) == 0);
	must(ssh_channel_read(channel, back, 1, 0) == 0);
	must(ssh_channel_get_exit_status(channel) == (int)pair);
	free(sent);
	free(back);
	ssh_channel_free(channel);
	ssh_disconnect(s);
	ssh_free(s);
}

/* -- both -- */

static void *is_an_end(void *arg)
{
	const unsigned i = (unsigned)(intptr_t)arg;

	if (i % 2)
		ask(i / 2);
	else
		serve(i / 2);
	return arg;
}

static void *answers_when_all_wait(void *arg)
{
	struct fiber *f[FIBERS];

	spawn_all(is_an_end, f);
	while (past_request < FIBERS)
		usleep(1000);
	waiting_until("fd", PAIRS);
	all_wait = true;
	join_all(f);
	return arg;
}

static void test_fifty_pairs_of_fibers_have_sessions_at_once(void **state)
{
	(void)state;
	past_request = 0;
	all_wait = false;
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
	carriers_run_well(answers_when_all_wait, NULL);
}

/* -- a server that hangs up -- */

static void *hangs_up(void *arg)
{
	const unsigned i = (unsigned)(intptr_t)arg;
	const bool no = false;
	ssh_session s;

	if (i % 2 == 0) {
		char byte;

		/* What the client says first. */
		must(read(ends[i / 2][0], &byte, 1) == 1);
		close(ends[i / 2][0]);
		return arg;
	}
	s = ssh_new();
	ssh_options_set(s, SSH_OPTIONS_HOST, "test");
	ssh_options_set(s, SSH_OPTIONS_PROCESS_CONFIG, &no);
	ssh_options_set(s, SSH_OPTIONS_FD, &ends[i / 2][1]);
	must(ssh_connect(s) == SSH_ERROR);
	ssh_free(s);
	return arg;
}

static void test_hang_up_in_the_key_exchange_is_an_error(void **state)
{
	(void)state;
	for (int i = 0; i < PAIRS; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
	hundred_run_well(hangs_up);
}

static int make_key(void **state)
{
	(void)state;
	return ssh_init() || ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &host_key);
}

static int free_key(void **state)
{
	(void)state;
	ssh_key_free(host_key);
	return ssh_finalize();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fifty_pairs_of_fibers_have_sessions_at_once),
		cmocka_unit_test(test_hang_up_in_the_key_exchange_is_an_error),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, make_key, free_key);
}
