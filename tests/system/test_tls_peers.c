/* SPDX-License-Identifier: MIT */
/* test_tls_peers.c - libfiber-tls against openssl(1) and nginx, which were written by others */
#include "carriers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fiber/tls.h>

#include "tests/harness/certificates.h"
#include "tests/harness/openssl_races.h"
#include "tests/harness/process.h"

#define SECOND (1000 * MS)

static int make_certificates(void **state)
{
	(void)state;
	harness_authority("authority");
	harness_certify("server", "authority", "DNS:localhost", 1);
	return 0;
}

static struct fiber_tls_context *client_context(const char *alpn)
{
	const struct fiber_tls_options options = {
		.size = sizeof(options), .ca = harness_pem("authority"), .alpn = alpn};
	struct fiber_tls_context *context;

	assert_int_equal(fiber_tls_client_new(&options, &context, NULL, 0), 0);
	return context;
}

static bool is_missing(const char *program)
{
	const char *const argv[] = {"sh", "-c", "PATH=$PATH:/usr/sbin command -v \"$0\"", program,
				    NULL};
	struct harness_process *p = harness_run(argv, NULL, 60);
	const bool missing = harness_exit_code(p) != 0;

	harness_free(p);
	return missing;
}

/* -- openssl s_client, and a server that returns the first bytes that it reads -- */

struct server {
	struct fiber_tls_context *context;
	int listener, port;
	_Atomic int served, failed;
};

static void *serve_one(void *arg)
{
	struct server *const s = ((void **)arg)[0];
	const int fd = (int)(intptr_t)((void **)arg)[1];
	const int64_t deadline = fiber_after(60 * SECOND);
	struct fiber_tls *tls = NULL;
	char bytes[100];
	ssize_t n;

	free(arg);
	if (fiber_tls_new(s->context, fd, NULL, &tls)) {
		s->failed++;
		return NULL;
	}
	n = fiber_tls_read(tls, bytes, sizeof(bytes), deadline);
	if (n > 0 && fiber_tls_write(tls, bytes, (size_t)n, deadline) == n)
		s->served++;
	else
		s->failed++;
	fiber_tls_shutdown(tls, deadline);
	fiber_tls_free(tls);
	fiber_close(fd);
	return NULL;
}

static void *serve(void *arg)
{
	struct fiber_group connections = {.name = "connections"};
	struct server *const s = arg;
	int fd;

	while ((fd = fiber_accept(s->listener, NULL, NULL, FIBER_FOREVER)) >= 0) {
		void **const both = malloc(2 * sizeof(*both));

		both[0] = s;
		both[1] = (void *)(intptr_t)fd;
		if (fiber_group_spawn(&connections, serve_one, both))
			abort();
	}
	fiber_group_wait(&connections, FIBER_FOREVER);
	return NULL;
}

static void server_open(struct server *s, const char *alpn)
{
	const struct fiber_tls_options options = {.size = sizeof(options),
						  .certificate = harness_pem("server"),
						  .key = harness_key("server"),
						  .alpn = alpn};
	struct sockaddr_in at = {.sin_family = AF_INET};
	socklen_t size = sizeof(at);

	memset(s, 0, sizeof(*s));
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->listener, (struct sockaddr *)&at, size), 0);
	assert_int_equal(listen(s->listener, 64), 0);
	assert_int_equal(getsockname(s->listener, (struct sockaddr *)&at, &size), 0);
	s->port = ntohs(at.sin_port);
	assert_int_equal(fiber_tls_server_new(&options, &s->context, NULL, 0), 0);
}

/* Run "openssl s_client -connect localhost:PORT ARGUMENTS" in a shell while the server serves. */
static struct harness_process *run_client(struct server *s, const char *before,
					  const char *arguments)
{
	char command[4 * HARNESS_PATH];
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct fiber_runtime *const rt = carriers_start();
	struct harness_process *p;
	struct fiber *server;

	snprintf(command, sizeof(command),
		 "%s openssl s_client -connect localhost:%d -CAfile %s -verify_return_error "
		 "-verify_hostname localhost %s 2>&1",
		 before, s->port, harness_pem("authority"), arguments);
	assert_int_equal(fiber_runtime_spawn(rt, NULL, serve, s, &server), 0);
	p = harness_run(argv, NULL, 60);
	fiber_close(s->listener);
	fiber_join(server, NULL, FIBER_FOREVER);
	carriers_finish(rt);
	fiber_tls_context_unref(s->context);
	assert_false(p->timed_out);
	return p;
}

static void test_tls_peers_s_client_is_answered(void **state)
{
	struct harness_process *p;
	struct server s;

	(void)state;
	server_open(&s, NULL);
	p = run_client(&s, "echo through TLS |", "-quiet -servername localhost");
	assert_non_null(strstr(p->out.bytes, "through TLS"));
	assert_int_equal(harness_exit_code(p), 0);
	assert_int_equal(s.served, 1);
	assert_int_equal(s.failed, 0);
	harness_free(p);
}

static void test_tls_peers_s_client_resumes_its_session(void **state)
{
	static const char *const versions[] = {"-tls1_2", "-tls1_3"};

	(void)state;
	for (size_t i = 0; i < COUNT(versions); i++) {
		char arguments[4 * HARNESS_PATH], file[HARNESS_PATH];
		struct harness_process *p;
		struct server s;

		server_open(&s, NULL);
		harness_file(file, versions[i] + 1);
		snprintf(arguments, sizeof(arguments),
			 "-ign_eof %s -sess_out %s >/dev/null; echo x | openssl s_client -connect "
			 "localhost:%d -ign_eof %s -sess_in %s",
			 versions[i], file, s.port, versions[i], file);
		p = run_client(&s, "echo x |", arguments);
		assert_non_null(strstr(p->out.bytes, "Reused, "));
		assert_int_equal(s.served, 2);
		harness_free(p);
	}
}

static void test_tls_peers_s_client_agrees_on_a_protocol(void **state)
{
	struct harness_process *p;
	struct server s;

	(void)state;
	server_open(&s, "h2,http/1.1");
	p = run_client(&s, "echo x |", "-ign_eof -alpn http/1.1,spdy/1");
	assert_non_null(strstr(p->out.bytes, "ALPN protocol: http/1.1"));
	assert_non_null(strstr(p->out.bytes, "Verification: OK"));
	harness_free(p);
}

/* -- clients with fibers -- */

struct client {
	struct fiber_tls_context *context;
	int port;
	const char *path;
	unsigned fibers, requests; /* of each fiber, over one connection */
	size_t expected;	   /* bytes of an answer's body */
	_Atomic unsigned answered, resumed;
	_Atomic int error; /* one of those that ended a connection */
};

static int open_connection(struct client *c, struct fiber_tls **ret)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	error = fiber_connect(fd, (struct sockaddr *)&at, sizeof(at), fiber_after(60 * SECOND));
	if (!error)
		error = fiber_tls_new(c->context, fd, "localhost", ret);
	if (error)
		c->error = error;
	return fd;
}

/* Read an answer. Returns whether it is complete. */
static bool read_answer(struct client *c, struct fiber_tls *tls, char *bytes, size_t room)
{
	size_t have = 0, whole = room;
	char *body = NULL;
	ssize_t n;

	while (have < whole) {
		n = fiber_tls_read(tls, bytes + have, room - 1 - have, fiber_after(60 * SECOND));
		if (n <= 0) {
			c->error = n ? (int)n : -EPIPE;
			return false;
		}
		have += (size_t)n;
		bytes[have] = '\0';
		body = body ? body : strstr(bytes, "\r\n\r\n");
		if (body)
			whole = (size_t)(body + 4 - bytes) + c->expected;
	}
	return have == whole && !strncmp(bytes, "HTTP/1.", 7) && !strncmp(bytes + 8, " 200", 4);
}

static void *ask(void *arg)
{
	struct client *const c = arg;
	struct fiber_tls_info info = {.resumed = false};
	const size_t room = c->expected + 2000;
	struct fiber_tls *tls = NULL;
	const int fd = open_connection(c, &tls);
	char *const bytes = malloc(room), request[200];
	bool well = tls != NULL;
	int length;

	length = snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
			  c->path);
	for (unsigned i = 0; i < c->requests && well; i++) {
		const ssize_t n =
			fiber_tls_write(tls, request, (size_t)length, fiber_after(60 * SECOND));

		if (n < 0)
			c->error = (int)n;
		well = n == length && read_answer(c, tls, bytes, room);
		c->answered += well;
	}
	if (tls && !fiber_tls_info(tls, &info))
		c->resumed += info.resumed;
	if (tls)
		fiber_tls_shutdown(tls, fiber_after(60 * SECOND));
	fiber_tls_free(tls);
	fiber_close(fd);
	free(bytes);
	return NULL;
}

static void *ask_all(void *arg)
{
	struct fiber_group group = {.name = "clients"};
	struct client *const c = arg;

	for (unsigned i = 0; i < c->fibers; i++)
		if (fiber_group_spawn(&group, ask, c))
			abort();
	fiber_group_wait(&group, FIBER_FOREVER);
	return NULL;
}

/* -- nginx -- */

static int free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(at);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	close(fd);
	return ntohs(at.sin_port);
}

static bool answers(void *port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*(uint16_t *)port)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool well;

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	well = !connect(fd, (struct sockaddr *)&at, sizeof(at));
	close(fd);
	return well;
}

#define LARGE (3 << 20)

static const char *write_configuration(char *path, int port)
{
	const char *const folder = harness_folder();
	FILE *file = fopen(harness_file(path, "nginx.conf"), "w");

	assert_non_null(file);
	fprintf(file,
		"daemon off; master_process off; error_log stderr crit; pid %s/nginx.pid;\n"
		"events { worker_connections 1000; }\n"
		"http { access_log off; client_body_temp_path %s/1; proxy_temp_path %s/2;\n"
		"fastcgi_temp_path %s/3; uwsgi_temp_path %s/4; scgi_temp_path %s/5;\n"
		"server { listen 127.0.0.1:%d ssl; root %s; ssl_certificate %s;\n"
		"ssl_certificate_key %s; location = / { return 200 \"hello\\n\"; } } }\n",
		folder, folder, folder, folder, folder, folder, port, folder, harness_pem("server"),
		harness_key("server"));
	fclose(file);
	return path;
}

static struct harness_process *start_nginx(int *ret_port)
{
	char path[HARNESS_PATH], large[HARNESS_PATH];
	const char *const argv[] = {"sh",
				    "-c",
				    "PATH=$PATH:/usr/sbin exec nginx -e stderr -p \"$0\" -c \"$1\"",
				    harness_folder(),
				    path,
				    NULL};
	struct harness_process *nginx;
	uint16_t port;
	FILE *file;

	if (is_missing("nginx")) {
		print_message("# nginx is missing: make deps\n");
		skip();
	}
	*ret_port = free_port();
	port = (uint16_t)*ret_port;
	file = fopen(harness_file(large, "large"), "w");
	assert_int_equal(ftruncate(fileno(file), LARGE), 0);
	fclose(file);
	write_configuration(path, *ret_port);
	nginx = harness_start(argv, NULL);
	assert_true(harness_until(answers, &port, 20));
	return nginx;
}

static void test_tls_peers_nginx_answers_many_fibers(void **state)
{
	struct client c = {.fibers = 50, .requests = 20, .path = "/", .expected = 6};
	struct harness_process *const nginx = start_nginx(&c.port);

	(void)state;
	c.context = client_context("http/1.1");
	carriers_run(ask_all, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.answered, 50 * 20);
	/* Sessions of these connections are there for the next ones. */
	c.fibers = 10;
	c.resumed = 0;
	carriers_run(ask_all, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.resumed, 10);
	fiber_tls_context_unref(c.context);
	harness_free(nginx);
}

static void test_tls_peers_nginx_sends_large_files(void **state)
{
	struct client c = {.fibers = 4, .requests = 2, .path = "/large", .expected = LARGE};
	struct harness_process *const nginx = start_nginx(&c.port);

	(void)state;
	c.context = client_context(NULL);
	carriers_run(ask_all, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.answered, 8);
	fiber_tls_context_unref(c.context);
	harness_free(nginx);
}

static void *kill_later(void *arg)
{
	struct client *const c = ((void **)arg)[0];
	const struct harness_process *const nginx = ((void **)arg)[1];
	struct fiber *clients;

	if (fiber_spawn(ask_all, c, &clients))
		abort();
	while (c->answered < 20)
		fiber_sleep(MS);
	kill(nginx->pid, SIGKILL);
	fiber_join(clients, NULL, FIBER_FOREVER);
	return NULL;
}

static void test_tls_peers_nginx_that_is_killed_ends_the_connections_with_an_error(void **state)
{
	struct client c = {.fibers = 20, .requests = 1000000, .path = "/", .expected = 6};
	struct harness_process *const nginx = start_nginx(&c.port);
	void *both[] = {&c, nginx};

	(void)state;
	c.context = client_context(NULL);
	carriers_run(kill_later, both);
	assert_true(c.error == -ECONNABORTED || c.error == -ECONNRESET || c.error == -EPIPE ||
		    c.error == -ECONNREFUSED);
	fiber_tls_context_unref(c.context);
	harness_free(nginx);
}

/* -- openssl s_server -- */

static void test_tls_peers_s_server_answers_and_resumes(void **state)
{
	const char *const argv[] = {"openssl", "s_server",
				    "-accept", "0",
				    "-cert",   harness_pem("server"),
				    "-key",    harness_key("server"),
				    "-WWW",    NULL};
	const struct harness_how how = {.folder = harness_folder()};
	struct harness_process *const server = harness_start(argv, &how);
	struct client c = {.fibers = 1, .requests = 1, .path = "/page", .expected = 7};
	const char *const line = harness_wait_line(server, "ACCEPT ", 20);
	char path[HARNESS_PATH];
	FILE *file = fopen(harness_file(path, "page"), "w");

	(void)state;
	fputs("a page\n", file);
	fclose(file);
	assert_non_null(line);
	c.port = (int)strtol(strrchr(line, ':') + 1, NULL, 10);
	c.context = client_context(NULL);
	for (int i = 0; i < 3; i++)
		carriers_run(ask_all, &c);
	assert_int_equal(c.error, 0);
	assert_int_equal(c.answered, 3);
	assert_int_equal(c.resumed, 2);
	fiber_tls_context_unref(c.context);
	harness_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tls_peers_s_client_is_answered),
		cmocka_unit_test(test_tls_peers_s_client_resumes_its_session),
		cmocka_unit_test(test_tls_peers_s_client_agrees_on_a_protocol),
		cmocka_unit_test(test_tls_peers_nginx_answers_many_fibers),
		cmocka_unit_test(test_tls_peers_nginx_sends_large_files),
		cmocka_unit_test(
			test_tls_peers_nginx_that_is_killed_ends_the_connections_with_an_error),
		cmocka_unit_test(test_tls_peers_s_server_answers_and_resumes),
	};

	harness_watchdog(100);
	return cmocka_run_group_tests(tests, make_certificates, NULL);
}
