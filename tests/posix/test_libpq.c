/* SPDX-License-Identifier: MIT */
/*
 * test_libpq.c - libpq, which waits in poll(2) on a non-blocking descriptor, on fibers
 *
 * The server is Debian's PostgreSQL. That the fibers overlap is shown by a state, not by a time: all
 * of them wait in the server for one lock, and for a descriptor here, at one moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/select.h>
#include <sys/stat.h>

#include "tests/posix/hundred.h"
#include "tests/posix/server.h"
#include "tests/posix/waiting.h"

#define ROUNDS 10

static const char initdb[] = POSTGRES "/initdb", postgres[] = POSTGRES "/postgres";
static struct harness_process *server;
static int port;
static char folder[] = "/tmp/fiber-libpq-XXXXXX";
static char url[128];

/* The server refuses to run as root. */
static uid_t server_user(void)
{
	const struct passwd *user = getuid() == 0 ? getpwnam("postgres") : NULL;

	return user ? user->pw_uid : 0;
}

static int start_server(void **state)
{
	const struct harness_how how = {.user = server_user(), .folder = folder};
	struct harness_process *p;
	char number[16], data[64];
	int code;

	(void)state;
	if (!mkdtemp(folder) || (how.user && chown(folder, how.user, (gid_t)-1) < 0))
		return -1;
	snprintf(data, sizeof data, "%s/data", folder);
	p = harness_run((const char *[]){initdb, "-D", data, "-A", "trust", "-U", "test",
					 "--no-sync", "--no-instructions", NULL},
			&how, 60);
	code = harness_exit_code(p);
	if (code)
		printf("# initdb: %s\n", p->err.bytes);
	harness_free(p);
	if (code)
		return -1;
	port = server_port();
	snprintf(number, sizeof number, "%d", port);
	snprintf(url, sizeof url, "host=127.0.0.1 port=%d user=test dbname=postgres", port);
	server = harness_start((const char *[]){postgres, "-D", data, "-p", number, "-k", folder,
						"-N", "200", "-F", "-c",
						"listen_addresses=127.0.0.1", NULL},
			       &how);
	return harness_until(server_listens, &port, 30) ? 0 : -1;
}

static int stop_server(void **state)
{
	(void)state;
	harness_free(server);
	harness_free(harness_run((const char *[]){"rm", "-rf", folder, NULL}, NULL, 30));
	return 0;
}

/* The server may still be starting. */
static PGconn *connected(void)
{
	PGconn *c = PQconnectdb(url);

	for (int i = 0; i < 1000 && PQstatus(c) != CONNECTION_OK; i++) {
		usleep(10000);
		PQreset(c);
	}
	return c;
}

/* Whether the query gives one row whose first field is this text. */
static bool gives(PGconn *c, const char *query, const char *text)
{
	PGresult *r = PQexec(c, query);
	const bool same = PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1 &&
			  strcmp(PQgetvalue(r, 0, 0), text) == 0;

	PQclear(r);
	return same;
}

static bool done(PGconn *c, const char *query)
{
	PGresult *r = PQexec(c, query);
	const bool ok =
		PQresultStatus(r) == PGRES_COMMAND_OK || PQresultStatus(r) == PGRES_TUPLES_OK;

	PQclear(r);
	return ok;
}

/* Wait until all sessions wait for the lock in the server, and their fibers are suspended. */
static void all_wait(PGconn *c)
{
	char number[16];

	snprintf(number, sizeof number, "%d", FIBERS);
	while (!gives(c, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory'",
		      number))
		usleep(5000);
	waiting_until("fd", FIBERS);
}

/* -- all wait at once -- */

static void *waits_then_works(void *arg)
{
	PGconn *c = connected();
	char query[128], answer[16];

	snprintf(answer, sizeof answer, "%d", (int)(intptr_t)arg);
	snprintf(query, sizeof query, "SELECT %s FROM pg_advisory_lock_shared(1)", answer);
	must(gives(c, query, answer));
	for (int i = 0; i < ROUNDS; i++) {
		snprintf(query, sizeof query, "SELECT length(repeat('x', %s * 1000 + %d))", answer,
			 i);
		snprintf(answer, sizeof answer, "%d", (int)(intptr_t)arg * 1000 + i);
		must(gives(c, query, answer));
		snprintf(answer, sizeof answer, "%d", (int)(intptr_t)arg);
	}
	PQfinish(c);
	return arg;
}

static void *unlocks_when_all_wait(void *arg)
{
	PGconn *c = connected();
	struct fiber *f[FIBERS];

	must(done(c, "SELECT pg_advisory_lock(1)"));
	spawn_all(waits_then_works, f);
	all_wait(c);
	must(done(c, "SELECT pg_advisory_unlock(1)"));
	join_all(f);
	PQfinish(c);
	return arg;
}

static void test_hundred_fibers_wait_for_postgresql_at_once_and_each_gets_its_answers(void **state)
{
	(void)state;
	carriers_run_well(unlocks_when_all_wait, NULL);
}

/* -- killed connections -- */

static void *loses_its_connection(void *arg)
{
	PGconn *c = connected();

	must(!done(c, "SELECT pg_advisory_lock_shared(1)"));
	must(PQstatus(c) == CONNECTION_BAD);
	PQreset(c);
	must(gives(c, "SELECT 'again'", "again"));
	PQfinish(c);
	return arg;
}

static void *kills_all(void *arg)
{
	PGconn *c = connected();
	struct fiber *f[FIBERS];

	must(done(c, "SELECT pg_advisory_lock(1)"));
	spawn_all(loses_its_connection, f);
	all_wait(c);
	must(done(c, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
		     "WHERE wait_event = 'advisory'"));
	join_all(f);
	PQfinish(c);
	return arg;
}

static void test_killed_connections_are_errors_and_connect_again(void **state)
{
	(void)state;
	carriers_run_well(kills_all, NULL);
}

/* -- notifications, waited for with select(2) by the program, as the manual of libpq does -- */

static atomic_uint listening;

static void *listens(void *arg)
{
	PGconn *c = connected();
	PGnotify *n = NULL;
	fd_set in;

	must(done(c, "LISTEN news"));
	listening++;
	while (!n && PQstatus(c) == CONNECTION_OK) {
		FD_ZERO(&in);
		FD_SET(PQsocket(c), &in);
		must(select(PQsocket(c) + 1, &in, NULL, NULL, NULL) == 1);
		PQconsumeInput(c);
		n = PQnotifies(c);
	}
	must(n && strcmp(n->extra, "hello") == 0);
	PQfreemem(n);
	PQfinish(c);
	return arg;
}

static void *notifies(void *arg)
{
	PGconn *c = connected();
	struct fiber *f[FIBERS];

	listening = 0;
	spawn_all(listens, f);
	while (listening < FIBERS)
		usleep(5000);
	waiting_until("fd", FIBERS);
	must(done(c, "NOTIFY news, 'hello'"));
	join_all(f);
	PQfinish(c);
	return arg;
}

static void test_hundred_fibers_are_notified(void **state)
{
	(void)state;
	carriers_run_well(notifies, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hundred_fibers_wait_for_postgresql_at_once_and_each_gets_its_answers),
		cmocka_unit_test(test_killed_connections_are_errors_and_connect_again),
		cmocka_unit_test(test_hundred_fibers_are_notified),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start_server, stop_server);
}
