/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_serve_access.c - who may ask the server, and who is refused
 *
 * A page of another site cannot use the browser of this user: neither under a name of its own that
 * resolves to this server, nor by requests to the server's own name. A change needs the token of the
 * page, and the server's option.
 */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/harness/cli/served_crowd.h"
#include "tests/harness/watchdog.h"

#define TOKEN "0123456789abcdef"

static struct http_reply get(const char *path, const char *fields)
{
	return serve_ask(&server, "GET", path, fields);
}

static void allowed(struct http_reply reply)
{
	assert_int_equal(reply.status, 200);
	http_drop(&reply);
}

static const char *named(const char *format, unsigned port)
{
	static char fields[256];

	snprintf(fields, sizeof(fields), format, port);
	return fields;
}

/* -- names and sites -- */

static void test_only_names_of_the_server_are_answered(void **state)
{
	static const char *const wrong[] = {
		"Host: evil.example:%u\r\n", "Host: evil.example\r\n",
		"Host: 127.0.0.1\r\n",	     "Host: 127.0.0.1:1\r\n",
		"Host: 127.0.0.1:%u1\r\n",   "Host: localhost.evil.example:%u\r\n",
		"Host: 127.0.0.2:%u\r\n",    "Host: \r\n",
		"Host: [::1]:%u\r\n",	     "Host: 127.0.0.1:%u, evil.example\r\n",
	};
	int fd = serve_connect(&server);

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		serve_refused(get("/api/v1/session", named(wrong[i], server.port)), 421, "Host");
		serve_refused(get("/healthz", named(wrong[i], server.port)), 421, "Host");
	}
	allowed(get("/api/v1/session", named("Host: localhost:%u\r\n", server.port)));
	allowed(get("/api/v1/session", named("Host: LocalHost:%u\r\n", server.port)));
	/* No name at all. */
	http_send(fd, "GET /api/v1/session HTTP/1.0\r\n\r\n");
	serve_refused(http_read(fd, false), 421, "Host");
	close(fd);
}

static void test_pages_of_other_sites_are_refused(void **state)
{
	static const char *const wrong[] = {
		"Origin: http://evil.example\r\n",
		"Origin: http://evil.example:%u\r\n",
		"Origin: null\r\n",
		"Origin: http://localhost:%u\r\n", /* another name than Host's */
		"Origin: http://127.0.0.1\r\n",
		"Sec-Fetch-Site: cross-site\r\n",
		"Sec-Fetch-Site: same-site\r\n",
		"Sec-Fetch-Site: \r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		serve_refused(get("/api/v1/session", named(wrong[i], server.port)), 403,
			      "another site");
	allowed(get("/api/v1/session", named("Origin: http://127.0.0.1:%u\r\n", server.port)));
	allowed(get("/api/v1/session", "Sec-Fetch-Site: same-origin\r\n"));
	allowed(get("/api/v1/session", "Sec-Fetch-Site: none\r\n"));
	/* It has no secrets. */
	allowed(get("/healthz", "Sec-Fetch-Site: cross-site\r\n"));
}

static void expect_field(const struct http_reply *reply, const char *name, const char *value)
{
	char got[512];

	http_field(reply, name, got, sizeof(got));
	if (strcmp(got, value) != 0)
		fail_msg("%s is \"%s\"", name, got);
}

static void expect_fields(struct http_reply reply, int status)
{
	char policy[512];

	assert_int_equal(reply.status, status);
	http_field(&reply, "Content-Security-Policy", policy, sizeof(policy));
	cli_contains(policy, "default-src 'none'");
	cli_contains(policy, "script-src 'self';");
	cli_contains(policy, "frame-ancestors 'none'");
	assert_null(strstr(policy, "unsafe"));
	expect_field(&reply, "X-Content-Type-Options", "nosniff");
	expect_field(&reply, "X-Frame-Options", "DENY");
	expect_field(&reply, "Referrer-Policy", "no-referrer");
	expect_field(&reply, "Cross-Origin-Resource-Policy", "same-origin");
	expect_field(&reply, "Cache-Control", "no-store");
	/* No page of another site is allowed to read an answer. */
	expect_field(&reply, "Access-Control-Allow-Origin", "");
	expect_field(&reply, "Access-Control-Allow-Headers", "");
	http_drop(&reply);
}

static void test_every_answer_has_the_fields_that_protect_it(void **state)
{
	(void)state;
	expect_fields(get("/healthz", NULL), 200);
	expect_fields(get("/api/v1/session", NULL), 200);
	expect_fields(get("/metrics", NULL), 200);
	expect_fields(get("/nothing", NULL), 404);
	expect_fields(get("/metrics", "Origin: http://evil.example\r\n"), 403);
	expect_fields(get("/metrics", "Host: evil.example\r\n"), 421);
	expect_fields(serve_ask(&server, "OPTIONS", "/api/v1/session",
				"Access-Control-Request-Method: POST\r\n"),
		      405);
}

/* -- changes -- */

static struct http_reply post(const struct serve *to, const char *path, const char *fields)
{
	char all[512], full[256];

	snprintf(full, sizeof(full), "/api/v1/processes/%s/%s", pid, path);
	snprintf(all, sizeof(all), "Content-Length: 0\r\n%s", fields);
	return serve_ask(to, "POST", full, all);
}

static void test_a_change_needs_the_token_of_the_page(void **state)
{
	char fields[128];

	(void)state;
	serve_refused(post(&server, "policy?policy=silent", ""), 403, "X-Fiber-Token");
	serve_refused(post(&server, "policy?policy=silent", "X-Fiber-Token: \r\n"), 403,
		      "X-Fiber-Token");
	snprintf(fields, sizeof(fields), "X-Fiber-Token: %.31s\r\n", server.token);
	serve_refused(post(&server, "policy?policy=silent", fields), 403, "X-Fiber-Token");
	snprintf(fields, sizeof(fields), "X-Fiber-Token: %s0\r\n", server.token);
	serve_refused(post(&server, "policy?policy=silent", fields), 403, "X-Fiber-Token");
	snprintf(fields, sizeof(fields), "X-Fiber-Token: %s\r\nOrigin: http://evil.example\r\n",
		 server.token);
	serve_refused(post(&server, "policy?policy=silent", fields), 403, "another site");
	json_t *answer = serve_json(&server, 200, "/api/v1/processes/%s/policy", pid);

	assert_string_equal(json_text(json_object_get(answer, "policy"), "pinnedBlocking"), "warn");
	json_decref(answer);
}

static void test_without_the_option_nothing_is_changed(void **state)
{
	struct serve looks = serve_start(pid, NULL);
	json_t *session = serve_json(&looks, 200, "/api/v1/session");
	char fields[128];

	(void)state;
	assert_true(json_is_false(json_object_get(session, "allowChanges")));
	assert_true(json_is_null(json_object_get(session, "token")));
	json_decref(session);
	snprintf(fields, sizeof(fields), "X-Fiber-Token: %s\r\n", server.token);
	serve_refused(post(&looks, "policy?policy=silent", fields), 403, "--allow-changes");
	serve_refused(post(&looks, "recordings", "X-Fiber-Token: \r\n"), 403, "--allow-changes");
	serve_end(&looks);
}

/* -- the token that every request needs -- */

static const char *token_file(const char *text, mode_t mode)
{
	static char path[HARNESS_PATH];
	FILE *file;

	unlink(harness_file(path, "token"));
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

static void test_with_a_token_every_request_but_the_page_needs_it(void **state)
{
	struct serve secret = serve_start_at(NULL, "0.0.0.0:0", "--token-file",
					     token_file(TOKEN "\nmore\n", 0600));
	struct http_reply reply = serve_ask(&secret, "GET", "/api/v1/session", NULL);
	char value[64];

	(void)state;
	assert_string_equal(http_field(&reply, "WWW-Authenticate", value, sizeof(value)), "Bearer");
	serve_refused(reply, 401, "Bearer TOKEN");
	serve_refused(serve_ask(&secret, "GET", "/metrics", "Authorization: Bearer \r\n"), 401,
		      "Bearer");
	serve_refused(serve_ask(&secret, "GET", "/metrics", "Authorization: Bearer " TOKEN "x\r\n"),
		      401, "Bearer");
	serve_refused(serve_ask(&secret, "GET", "/metrics", "Authorization: Basic " TOKEN "\r\n"),
		      401, "Bearer");
	serve_refused(serve_ask(&secret, "GET", "/metrics?token=" TOKEN, NULL), 401, "Bearer");
	serve_refused(serve_ask(&secret, "GET", "/metrics",
				"Authorization: Bearer " TOKEN
				"\r\nOrigin: http://evil.example\r\n"),
		      403, "another site");
	allowed(serve_ask(&secret, "GET", "/metrics", "Authorization: Bearer " TOKEN "\r\n"));
	/* A proxy passes on its own name. */
	allowed(serve_ask(&secret, "GET", "/metrics",
			  "Host: fibers.example\r\nAuthorization: bearer " TOKEN "\r\n"));
	serve_alive(&secret);
	serve_end(&secret);
}

static void refuses(int code, const char *what, const char *where, const char *token)
{
	cli_expect_error(cli_run("fiberctl", "serve", "--listen", where,
				 token ? "--token-file" : NULL, token, NULL),
			 code, "fiberctl", what);
}

static void test_a_wrong_token_file_is_refused(void **state)
{
	char path[HARNESS_PATH], longer[300];

	(void)state;
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	refuses(2, "No such file", "127.0.0.1:0", harness_file(path, "no-token"));
	refuses(2, "Is a directory", "127.0.0.1:0", harness_folder());
	refuses(2, "chmod 600", "127.0.0.1:0", token_file(TOKEN "\n", 0640));
	refuses(2, "chmod 600", "127.0.0.1:0", token_file(TOKEN "\n", 0604));
	refuses(2, "16 to 256", "127.0.0.1:0", token_file("0123456789abcde\n", 0600));
	refuses(2, "16 to 256", "127.0.0.1:0", token_file(longer, 0600));
	refuses(2, "16 to 256", "127.0.0.1:0", token_file("", 0600));
	refuses(2, "without blanks", "127.0.0.1:0", token_file("0123456789 abcdef\n", 0600));
}

/* -- where it listens -- */

static void test_an_address_that_others_reach_needs_a_token(void **state)
{
	(void)state;
	refuses(64, "it needs --token-file", "0.0.0.0:0", NULL);
	refuses(64, "it needs --token-file", "[::]:0", NULL);
	refuses(64, "it needs --token-file", "192.0.2.1:0", NULL);
	refuses(64, "it needs --token-file", "[::ffff:127.0.0.1]:0", NULL);
}

static void test_a_wrong_address_is_refused(void **state)
{
	(void)state;
	refuses(64, "must be numeric", "localhost:0", NULL);
	refuses(64, "ADDRESS:PORT", "127.0.0.1", NULL);
	refuses(64, "ADDRESS:PORT", "127.0.0.1:65536", NULL);
	refuses(64, "ADDRESS:PORT", "", NULL);
	refuses(64, "1 to 107 bytes", "unix:", NULL);
	refuses(64, "1 to 107 bytes",
		"unix:/tmp/0123456789012345678901234567890123456789012345678901234567890123456789"
		"01234567890123456789012345678901234567890",
		NULL);
	refuses(2, "No such file", "unix:/nowhere/at/all", NULL);
}

static void test_an_address_in_use_is_refused(void **state)
{
	char where[64], path[HARNESS_PATH + 8], file[HARNESS_PATH];
	struct serve local;

	(void)state;
	snprintf(where, sizeof(where), "127.0.0.1:%u", server.port);
	refuses(2, "or 0 for any", where, NULL);
	snprintf(path, sizeof(path), "unix:%s", harness_file(file, "s"));
	local = serve_start_at(NULL, path, pid, NULL);
	refuses(64, "another process listens there", path, NULL);
	serve_alive(&local);
	serve_end(&local);
}

static void test_a_file_is_never_replaced_by_a_socket(void **state)
{
	char path[HARNESS_PATH + 8], target[HARNESS_PATH];
	struct stat file;

	(void)state;
	snprintf(path, sizeof(path), "unix:%s", token_file("precious", 0600));
	refuses(64, "is not a socket", path, NULL);
	snprintf(path, sizeof(path), "unix:%s", harness_file(target, "link"));
	assert_int_equal(symlink("token", target), 0);
	refuses(64, "is not a socket", path, NULL);
	assert_int_equal(lstat(target, &file), 0);
	assert_true(S_ISLNK(file.st_mode));
	snprintf(path, sizeof(path), "unix:%s", harness_folder());
	refuses(64, "is not a socket", path, NULL);
}

static void test_a_socket_that_a_dead_server_left_is_replaced(void **state)
{
	char path[HARNESS_PATH + 8], file[HARNESS_PATH];
	struct stat socket;
	struct serve local;

	(void)state;
	snprintf(path, sizeof(path), "unix:%s", harness_file(file, "left"));
	local = serve_start_at(NULL, path, pid, NULL);
	kill(local.process->pid, SIGKILL);
	assert_true(harness_wait_end(local.process, CLI_SECONDS));
	harness_free(local.process);
	assert_int_equal(access(file, F_OK), 0);
	local = serve_start_at(NULL, path, pid, NULL);
	serve_alive(&local);
	json_decref(serve_json(&local, 200, "/api/v1/processes"));
	assert_int_equal(stat(file, &socket), 0);
	assert_int_equal(socket.st_mode & 0777, 0600);
	serve_end(&local);
	assert_int_not_equal(access(file, F_OK), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_names_of_the_server_are_answered),
		cmocka_unit_test(test_pages_of_other_sites_are_refused),
		cmocka_unit_test(test_every_answer_has_the_fields_that_protect_it),
		cmocka_unit_test(test_a_change_needs_the_token_of_the_page),
		cmocka_unit_test(test_without_the_option_nothing_is_changed),
		cmocka_unit_test(test_with_a_token_every_request_but_the_page_needs_it),
		cmocka_unit_test(test_a_wrong_token_file_is_refused),
		cmocka_unit_test(test_an_address_that_others_reach_needs_a_token),
		cmocka_unit_test(test_a_wrong_address_is_refused),
		cmocka_unit_test(test_an_address_in_use_is_refused),
		cmocka_unit_test(test_a_file_is_never_replaced_by_a_socket),
		cmocka_unit_test(test_a_socket_that_a_dead_server_left_is_replaced),
	};

	harness_watchdog(110);
	return cmocka_run_group_tests(tests, served_crowd, served_crowd_end);
}
