/* SPDX-License-Identifier: MIT */
/*
 * test_mariadb.c - libmariadb, which receives without blocking and waits in poll(2), on fibers
 *
 * The server is Debian's MariaDB, without its tables of users. Half of the fibers use its socket,
 * half its port, and some the compressed protocol. With TLS, OpenSSL reads and writes the socket.
 * That fibers overlap is shown by a state, the server's and libfiber's, and by one wall time.
 */
#include <errmsg.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <sys/stat.h>

#include "tests/harness/certificates.h"
#include "tests/posix/server.h"
#include "tests/posix/thousand.h"
#include "tests/posix/waiting.h"

#define ROUNDS 3
#define BIG    300000u

static struct harness_process *server;
static int port;
static char socket_path[HARNESS_PATH];
/* The files of two authorities; the first has certified the server. */
static char authority[HARNESS_PATH], stranger[HARNESS_PATH];

static void run_server(void)
{
	char options[8][HARNESS_PATH + 32], data[HARNESS_PATH], log[HARNESS_PATH];

	mkdir(harness_file(data, "data"), 0700);
	snprintf(options[0], sizeof options[0], "--datadir=%s", data);
	snprintf(options[1], sizeof options[1], "--socket=%s", socket_path);
	snprintf(options[2], sizeof options[2], "--port=%d", port);
	snprintf(options[3], sizeof options[3], "--log-error=%s", harness_file(log, "mariadb.log"));
	snprintf(options[4], sizeof options[4], "--ssl-cert=%s", harness_pem("server"));
	snprintf(options[5], sizeof options[5], "--ssl-key=%s", harness_key("server"));
	snprintf(options[6], sizeof options[6], "--max-connections=%d", MANY + 100);
	snprintf(options[7], sizeof options[7], "--pid-file=%s.pid", data);
	server = harness_start(
		(const char *[]){MARIADB, "--no-defaults", "--bind-address=127.0.0.1",
				 "--skip-grant-tables", "--skip-innodb", "--skip-name-resolve",
				 /* With a sanitizer a hundred handshakes of TLS take more
						 * than the 10 s that it waits by itself. */
				 "--connect-timeout=600", "--default-storage-engine=Aria",
				 "--back-log=1000", options[0], options[1], options[2], options[3],
				 options[4], options[5], options[6], options[7],
				 getuid() == 0 ? "--user=root" : NULL, NULL},
		NULL);
}

/* Connect c, whose options are set, by the socket or the port. */
static bool connects(MYSQL *c, long i)
{
	return mysql_real_connect(c, i % 2 ? "127.0.0.1" : "localhost", "test", "", NULL,
				  i % 2 ? (unsigned)port : 0, i % 2 ? NULL : socket_path,
				  i % 8 > 5 ? CLIENT_COMPRESS : 0) != NULL;
}

static MYSQL *connected(long i)
{
	MYSQL *c = mysql_init(NULL);

	if (!connects(c, i)) {
		printf("# %s\n", mysql_error(c));
		failures++;
	}
	return c;
}

static bool done(MYSQL *c, const char *query)
{
	MYSQL_RES *r;

	if (mysql_query(c, query))
		return false;
	r = mysql_store_result(c);
	mysql_free_result(r);
	return mysql_errno(c) == 0;
}

/* The server listens on its port before it does on its socket. */
static bool has_database(void *arg)
{
	MYSQL *c = mysql_init(NULL);
	const bool has = connects(c, 0) && done(c, "CREATE DATABASE IF NOT EXISTS test") &&
			 server_listens(&port);

	(void)arg;
	mysql_close(c);
	return has;
}

static int start_server(void **state)
{
	(void)state;
	thousand_allow(4 * MANY); /* the server has this limit too */
	harness_file(socket_path, "mariadb.sock");
	harness_file(authority, "authority.pem");
	harness_file(stranger, "stranger.pem");
	harness_authority("authority");
	harness_authority("stranger");
	harness_certify("server", "authority", "IP:127.0.0.1", 1);
	if (mysql_library_init(0, NULL, NULL))
		return -1;
	port = server_port();
	run_server();
	return harness_until(has_database, NULL, 30) ? 0 : -1;
}

static int stop_server(void **state)
{
	(void)state;
	harness_free(server);
	mysql_library_end();
	return 0;
}

/* Whether the query gives one row whose first field is this text. */
static bool gives(MYSQL *c, const char *query, const char *text)
{
	MYSQL_RES *r = mysql_query(c, query) ? NULL : mysql_store_result(c);
	MYSQL_ROW row = r ? mysql_fetch_row(r) : NULL;
	const bool same = row && row[0] && strcmp(row[0], text) == 0;

	mysql_free_result(r);
	return same;
}

/* A lock that the first fiber has. */
static const char take_lock[] = "SELECT GET_LOCK('lock', 1000)";
static const char give_lock[] = "SELECT RELEASE_LOCK('lock')";
static const char waiters[] = "FROM information_schema.processlist WHERE state = 'User lock'";

/* Wait until all sessions wait for the lock in the server, and their fibers are suspended. */
static void all_wait(MYSQL *c)
{
	char query[128], number[16];

	snprintf(number, sizeof number, "%d", FIBERS);
	snprintf(query, sizeof query, "SELECT count(*) %s", waiters);
	while (!gives(c, query, number))
		usleep(5000);
	waiting_until("fd", FIBERS);
}

/* Kill the connections of the sessions that wait in the server. */
static void kill_waiters(MYSQL *c)
{
	unsigned long ids[FIBERS];
	char query[128];
	MYSQL_RES *r;
	MYSQL_ROW row;
	int count = 0;

	snprintf(query, sizeof query, "SELECT id %s", waiters);
	must(mysql_query(c, query) == 0);
	r = mysql_use_result(c);
	while ((row = mysql_fetch_row(r)) && count < FIBERS)
		ids[count++] = strtoul(row[0], NULL, 10);
	mysql_free_result(r);
	for (int i = 0; i < count; i++) {
		snprintf(query, sizeof query, "KILL %lu", ids[i]);
		must(done(c, query));
	}
}

/* -- all wait at once -- */

/* Rows that come one after another, a long field, and a prepared statement. */
static void work(MYSQL *c, int i)
{
	char query[128], number[16];
	MYSQL_RES *r;
	MYSQL_ROW row;
	long sum = 0;

	snprintf(number, sizeof number, "%d", i);
	snprintf(query, sizeof query, "SELECT %d", i);
	must(gives(c, query, number));
	must(mysql_query(c, "SELECT seq FROM test.seq_1_to_1000") == 0);
	r = mysql_use_result(c);
	while ((row = mysql_fetch_row(r)))
		sum += atol(row[0]);
	mysql_free_result(r);
	must(sum == 500500);
	snprintf(query, sizeof query, "SELECT repeat('x', %u)", BIG + (unsigned)i);
	must(mysql_query(c, query) == 0);
	r = mysql_store_result(c);
	row = mysql_fetch_row(r);
	must(row && strspn(row[0], "x") == BIG + (unsigned)i && !row[0][BIG + (unsigned)i]);
	mysql_free_result(r);
	snprintf(query, sizeof query, "EXECUTE IMMEDIATE 'SELECT ? + 1' USING %d", i);
	snprintf(number, sizeof number, "%d", i + 1);
	must(gives(c, query, number));
}

static void *waits_then_works(void *arg)
{
	MYSQL *c = connected((intptr_t)arg);

	must(gives(c, take_lock, "1") && gives(c, give_lock, "1"));
	for (int i = 0; i < ROUNDS; i++)
		work(c, (int)(intptr_t)arg);
	mysql_close(c);
	return arg;
}

static void *unlocks_when_all_wait(void *arg)
{
	MYSQL *c = connected(0);
	struct fiber *f[FIBERS];

	must(gives(c, take_lock, "1"));
	spawn_all(waits_then_works, f);
	all_wait(c);
	must(gives(c, give_lock, "1"));
	join_all(f);
	mysql_close(c);
	return arg;
}

static void test_hundred_fibers_wait_for_mariadb_at_once_and_each_gets_its_answers(void **state)
{
	(void)state;
	carriers_run_well(unlocks_when_all_wait, NULL);
}

/* -- the time that this takes -- */

static void *sleeps(void *arg)
{
	MYSQL *c = connected((intptr_t)arg);

	must(gives(c, "SELECT SLEEP(0.2)", "0"));
	mysql_close(c);
	return arg;
}

static void test_hundred_sleeps_of_200_ms_on_one_carrier_take_far_less_than_20_s(void **state)
{
	const struct fiber_runtime_options one = {
		.size = sizeof one, .carriers = 1, .control_path = ""};
	fiber_fn *fn = sleeps;
	int64_t took = fiber_now();

	(void)state;
	failures = 0;
	assert_int_equal(fiber_run(spawn_and_join_all, &fn, &one, NULL), 0);
	took = fiber_now() - took;
	assert_int_equal(failures, 0);
	printf("# %d ms\n", (int)(took / MS));
	assert_true(took >= 200 * MS);
	assert_true(took < FIBERS * 200 * MS / 4);
}

/* -- a thousand -- */

static atomic_uint present;

static void *is_there_with_all(void *arg)
{
	const int i = (int)(intptr_t)arg;
	MYSQL *c = connected(i);
	char query[32], number[16];

	present++;
	while (present < MANY)
		usleep(10000);
	snprintf(query, sizeof query, "SELECT %d", i);
	snprintf(number, sizeof number, "%d", i);
	must(gives(c, query, number));
	mysql_close(c);
	return arg;
}

static void test_thousand_fibers_have_a_connection_each(void **state)
{
	(void)state;
	present = 0;
	thousand_run_well(is_there_with_all);
}

/* -- killed connections -- */

static bool lost(const MYSQL *c)
{
	const unsigned e = mysql_errno((MYSQL *)c);

	return e == CR_SERVER_LOST || e == CR_SERVER_GONE_ERROR || e == ER_CONNECTION_KILLED;
}

static void *loses_its_connection(void *arg)
{
	MYSQL *c = connected((intptr_t)arg);

	must(!done(c, take_lock) && lost(c));
	must(mysql_query(c, "SELECT 1") != 0 && lost(c));
	mysql_close(c);
	c = connected((intptr_t)arg);
	must(gives(c, "SELECT 'again'", "again"));
	mysql_close(c);
	return arg;
}

static void *kills_all(void *arg)
{
	MYSQL *c = connected(0);
	struct fiber *f[FIBERS];

	must(gives(c, take_lock, "1"));
	spawn_all(loses_its_connection, f);
	all_wait(c);
	kill_waiters(c);
	join_all(f);
	mysql_close(c);
	return arg;
}

static void test_killed_connections_are_errors_and_connect_again(void **state)
{
	(void)state;
	carriers_run_well(kills_all, NULL);
}

/* -- a server that does not answer -- */

static atomic_uint ready;
static atomic_bool stopped;

static void *times_out(void *arg)
{
	const long i = (intptr_t)arg;
	const unsigned second = 1;
	/* libmariadb waits for the greeting of the server up to the time-out for connecting. */
	const enum mysql_option option = i % 4 ? MYSQL_OPT_READ_TIMEOUT : MYSQL_OPT_CONNECT_TIMEOUT;
	MYSQL *c = mysql_init(NULL);
	int64_t start;

	must(mysql_options(c, option, &second) == 0);
	/* Every fourth connects when the server has stopped; the kernel accepts it. */
	if (i % 4)
		must(connects(c, i));
	ready++;
	while (!stopped)
		usleep(1000);
	start = fiber_now();
	must(i % 4 ? mysql_query(c, "SELECT 1") != 0 : !connects(c, i));
	must(lost(c) && fiber_now() - start >= 1000 * MS);
	mysql_close(c);
	return arg;
}

static void *stops_the_server(void *arg)
{
	struct fiber *f[FIBERS];
	int64_t start;

	spawn_all(times_out, f);
	while (ready < FIBERS)
		usleep(1000);
	must(server_stop(server));
	start = fiber_now();
	stopped = true;
	join_all(f);
	must(fiber_now() - start < FIBERS * 1000 * MS / 4);
	must(kill(server->pid, SIGCONT) == 0);
	return arg;
}

static void test_stopped_server_is_left_at_the_read_time_out(void **state)
{
	(void)state;
	ready = 0;
	stopped = false;
	carriers_run_well(stops_the_server, NULL);
}

/* -- TLS -- */

/* Connect c with TLS to a server that must be certified by this authority. */
static bool connects_with_tls(MYSQL *c, const char *by)
{
	const my_bool yes = 1;

	mysql_ssl_set(c, NULL, NULL, by, NULL, NULL);
	mysql_options(c, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &yes);
	return connects(c, 1) && mysql_get_ssl_cipher(c);
}

static void *loses_its_connection_with_tls(void *arg)
{
	MYSQL *c = mysql_init(NULL);

	must(connects_with_tls(c, authority));
	/* To OpenSSL an end without a farewell is an error of TLS: "unexpected eof while reading". */
	must(!done(c, take_lock) && (lost(c) || mysql_errno(c) == CR_SSL_CONNECTION_ERROR));
	mysql_close(c);
	c = mysql_init(NULL);
	must(!connects_with_tls(c, stranger) && mysql_errno(c) == CR_SSL_CONNECTION_ERROR);
	mysql_close(c);
	c = mysql_init(NULL);
	must(connects_with_tls(c, authority));
	work(c, (int)(intptr_t)arg);
	mysql_close(c);
	return arg;
}

static void *kills_all_with_tls(void *arg)
{
	MYSQL *c = connected(0);
	struct fiber *f[FIBERS];

	must(gives(c, take_lock, "1"));
	spawn_all(loses_its_connection_with_tls, f);
	all_wait(c);
	kill_waiters(c);
	join_all(f);
	mysql_close(c);
	return arg;
}

static void test_hundred_connections_with_tls_are_killed_refuse_a_stranger_and_connect_again(
	void **state)
{
	(void)state;
	carriers_run_well(kills_all_with_tls, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hundred_fibers_wait_for_mariadb_at_once_and_each_gets_its_answers),
		cmocka_unit_test(
			test_hundred_sleeps_of_200_ms_on_one_carrier_take_far_less_than_20_s),
		cmocka_unit_test(test_thousand_fibers_have_a_connection_each),
		cmocka_unit_test(test_killed_connections_are_errors_and_connect_again),
		cmocka_unit_test(test_stopped_server_is_left_at_the_read_time_out),
		cmocka_unit_test(
			test_hundred_connections_with_tls_are_killed_refuse_a_stranger_and_connect_again),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
