/* SPDX-License-Identifier: MIT */
/*
 * test_libcurl.c - libcurl, which waits in poll(2) on many descriptors, on fibers
 *
 * The server is Debian's nginx. libcurl looks up names in a thread of its own, connects without
 * blocking, and waits in poll(2). Files are compared by their bytes. A slow answer is one that nginx
 * sends at 2 kB a second, so all fibers wait for theirs at one moment.
 */
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/posix/hundred.h"
#include "tests/posix/server.h"
#include "tests/posix/waiting.h"

#define ROUNDS 5
#define SMALL  5000u
#define BIG    300000u

static struct harness_process *server;
static int port;

static char byte_at(size_t at)
{
	return (char)('a' + (at * 7 + at / 100) % 26);
}

static void write_file(const char *name, size_t size)
{
	char path[HARNESS_PATH];
	FILE *out = fopen(harness_file(path, name), "w");

	for (size_t at = 0; at < size; at++)
		fputc(byte_at(at), out);
	fclose(out);
	chmod(path, 0644);
}

static void write_settings(const char *path)
{
	FILE *out = fopen(path, "w");

	/* master_process off: one process, with the test's user. */
	fprintf(out,
		"daemon off; master_process off; pid %s/nginx.pid; error_log stderr crit;\n"
		"events { worker_connections 1024; }\n"
		"http { access_log off; root %s; sendfile on;\n"
		"client_body_temp_path %s/t1; proxy_temp_path %s/t2; fastcgi_temp_path %s/t3;\n"
		"uwsgi_temp_path %s/t4; scgi_temp_path %s/t5;\n"
		"server { listen 127.0.0.1:%d backlog=512;\n"
		"location / { }\n"
		"location /slow/ { alias %s/; limit_rate 2k; }\n"
		"location /gone { return 444; }\n"
		"} }\n",
		harness_folder(), harness_folder(), harness_folder(), harness_folder(),
		harness_folder(), harness_folder(), harness_folder(), port, harness_folder());
	fclose(out);
}

static int start_server(void **state)
{
	char path[HARNESS_PATH];

	(void)state;
	/* A name server that does not answer costs a second. */
	setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return -1;
	port = server_port();
	write_file("small", SMALL);
	write_file("big", BIG);
	write_settings(harness_file(path, "nginx.conf"));
	server = harness_start(
		(const char *[]){NGINX, "-p", harness_folder(), "-e", "stderr", "-c", path, NULL},
		NULL);
	return harness_until(server_listens, &port, 30) ? 0 : -1;
}

static int stop_server(void **state)
{
	(void)state;
	harness_free(server);
	curl_global_cleanup();
	return 0;
}

/* What has arrived of an answer. */
struct answer {
	size_t size;
	bool differs;
};

static size_t take(char *bytes, size_t one, size_t n, void *arg)
{
	struct answer *a = arg;

	for (size_t i = 0; i < n; i++)
		a->differs |= bytes[i] != byte_at(a->size + i);
	a->size += n;
	return one * n;
}

/* host: an address, or a name that is looked up. */
static CURLcode get(CURL *curl, const char *host, const char *path, struct answer *ret)
{
	char url[128];

	*ret = (struct answer){0};
	snprintf(url, sizeof url, "http://%s:%d/%s", host, port, path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_PROXY, "");
	curl_easy_setopt(curl, CURLOPT_IPRESOLVE, CURL_IPRESOLVE_V4);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, ret);
	return curl_easy_perform(curl);
}

/* -- whole files -- */

static void *fetches(void *arg)
{
	CURL *curl = curl_easy_init();
	struct answer a;

	for (int i = 0; i < ROUNDS; i++) {
		const bool big = (i + (intptr_t)arg) % 2;

		must(get(curl, "127.0.0.1", big ? "big" : "small", &a) == CURLE_OK);
		must(a.size == (big ? BIG : SMALL) && !a.differs);
	}
	curl_easy_cleanup(curl);
	return NULL;
}

static void test_hundred_fibers_fetch_their_files(void **state)
{
	(void)state;
	hundred_run_well(fetches);
}

/* -- a slow server -- */

static void *fetches_slowly(void *arg)
{
	CURL *curl = curl_easy_init();
	struct answer a;

	must(get(curl, "127.0.0.1", "slow/small", &a) == CURLE_OK);
	must(a.size == SMALL && !a.differs);
	curl_easy_cleanup(curl);
	return arg;
}

static unsigned most_at_once;

static void *counts_those_that_wait(void *arg)
{
	struct fiber *f[FIBERS];

	spawn_all(fetches_slowly, f);
	while (most_at_once < FIBERS) {
		most_at_once = waiting_for("select") + waiting_for("fd");
		fiber_sleep(MS);
	}
	join_all(f);
	return arg;
}

static void test_hundred_fibers_wait_for_a_slow_server_at_once(void **state)
{
	(void)state;
	most_at_once = 0;
	carriers_run_well(counts_those_that_wait, NULL);
	assert_int_equal(most_at_once, FIBERS);
}

/* -- a server that hangs up, one that is too slow, and names -- */

static void *fails_in_each_way(void *arg)
{
	CURL *curl = curl_easy_init();
	struct answer a;

	must(get(curl, "127.0.0.1", "gone", &a) == CURLE_GOT_NOTHING);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 100L);
	must(get(curl, "127.0.0.1", "slow/big", &a) == CURLE_OPERATION_TIMEDOUT);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, 0L);
	must(get(curl, "127.0.0.1", "small", &a) == CURLE_OK && a.size == SMALL);
	must(get(curl, "nobody.invalid", "small", &a) == CURLE_COULDNT_RESOLVE_HOST);
	curl_easy_cleanup(curl);
	return arg;
}

static void test_hang_ups_time_outs_and_unknown_names_are_errors(void **state)
{
	(void)state;
	hundred_run_well(fails_in_each_way);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hundred_fibers_fetch_their_files),
		cmocka_unit_test(test_hundred_fibers_wait_for_a_slow_server_at_once),
		cmocka_unit_test(test_hang_ups_time_outs_and_unknown_names_are_errors),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
