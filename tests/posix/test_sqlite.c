/* SPDX-License-Identifier: MIT */
/*
 * test_sqlite.c - SQLite, which locks files and sleeps while they are busy, on fibers
 *
 * Each fiber has a connection of its own to one file. SQLite takes POSIX locks of the process, which
 * do not exclude its own connections, and so counts them itself under pthread mutexes. It writes and
 * syncs while it holds them. A connection that finds the file busy sleeps in usleep(3) and tries
 * again, up to its busy time-out. That fibers overlap is shown by states: they sleep, or wait for a
 * mutex, while others go on.
 */
#include <sqlite3.h>

#include "tests/posix/hundred.h"
#include "tests/posix/waiting.h"

#include <fiber/posix.h>

#include <unistd.h>

#define ACCOUNTS 10
#define TOTAL	 1000
#define ROUNDS	 5
#define WRITERS	 20
/* Those that wait for one writer wake at the same moments, and one of them writes at each. */
#define WAITERS 10
#define PATIENT 100000 /* ms */

static char path[HARNESS_PATH];

/* A connection whose busy calls are tried again for this many ms. */
static sqlite3 *opened(int patience)
{
	sqlite3 *db = NULL;

	must(sqlite3_open(path, &db) == SQLITE_OK);
	must(sqlite3_busy_timeout(db, patience) == SQLITE_OK);
	return db;
}

static bool done(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static int take_text(void *text, int columns, char **values, char **names)
{
	(void)columns;
	(void)names;
	snprintf(text, 64, "%s", values[0] ? values[0] : "");
	return 0;
}

/* Whether the first column of the last row is this text. */
static bool gives(sqlite3 *db, const char *sql, const char *expected)
{
	char text[64] = "";

	return sqlite3_exec(db, sql, take_text, text, NULL) == SQLITE_OK &&
	       strcmp(text, expected) == 0;
}

static int number_of(sqlite3 *db, const char *sql)
{
	char text[64] = "";

	must(sqlite3_exec(db, sql, take_text, text, NULL) == SQLITE_OK);
	return atoi(text);
}

/* Replace the file by one with this journal mode: ACCOUNTS accounts that sum up to TOTAL. */
static void make_file(const char *mode)
{
	char sql[256];
	sqlite3 *db;

	harness_file(path, mode);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	snprintf(sql, sizeof sql, "PRAGMA journal_mode = %s", mode);
	assert_true(gives(db, sql, mode));
	assert_true(done(db, "DROP TABLE IF EXISTS account; DROP TABLE IF EXISTS transfer;"
			     "CREATE TABLE account(id INTEGER PRIMARY KEY, money INTEGER);"
			     "CREATE TABLE transfer(fiber INTEGER, round INTEGER)"));
	for (int i = 0; i < ACCOUNTS; i++) {
		snprintf(sql, sizeof sql, "INSERT INTO account VALUES(%d, %d)", i,
			 TOTAL / ACCOUNTS);
		assert_true(done(db, sql));
	}
	sqlite3_close(db);
}

/* -- writers and readers -- */

/* Move money between two accounts; SQLite may be asked to write between the statements. */
static bool transfer(sqlite3 *db, int fiber, int round)
{
	char sql[512];

	snprintf(sql, sizeof sql,
		 "UPDATE account SET money = money - %d WHERE id = %d;"
		 "UPDATE account SET money = money + %d WHERE id = %d;"
		 "INSERT INTO transfer VALUES(%d, %d)",
		 fiber % 7 + 1, (fiber + round) % ACCOUNTS, fiber % 7 + 1,
		 (fiber + round * 3 + 1) % ACCOUNTS, fiber, round);
	return done(db, sql);
}

static void write_in_rounds(sqlite3 *db, int fiber)
{
	for (int i = 0; i < ROUNDS; i++) {
		must(done(db, "BEGIN IMMEDIATE"));
		must(transfer(db, fiber, i));
		if (i == 0) {
			/* Nothing of this transaction is seen later. */
			must(done(db, "ROLLBACK; BEGIN IMMEDIATE"));
			must(transfer(db, fiber, i));
		}
		must(done(db, "COMMIT"));
	}
}

static void read_in_rounds(sqlite3 *db)
{
	for (int i = 0; i < ROUNDS; i++) {
		int seen;

		must(done(db, "BEGIN"));
		seen = number_of(db, "SELECT count(*) FROM transfer");
		must(number_of(db, "SELECT sum(money) FROM account") == TOTAL);
		usleep(1000);
		must(number_of(db, "SELECT count(*) FROM transfer") == seen);
		must(done(db, "COMMIT"));
	}
}

static void *writes_or_reads(void *arg)
{
	const int i = (int)(intptr_t)arg;
	sqlite3 *db = opened(PATIENT);

	if (i % (FIBERS / WRITERS) == 0)
		write_in_rounds(db, i);
	else
		read_in_rounds(db);
	must(sqlite3_close(db) == SQLITE_OK);
	return arg;
}

static void file_stays_right(const char *mode)
{
	sqlite3 *db;

	make_file(mode);
	hundred_run_well(writes_or_reads);
	db = opened(0);
	assert_int_equal(number_of(db, "SELECT sum(money) FROM account"), TOTAL);
	assert_int_equal(number_of(db, "SELECT count(*) FROM transfer"), WRITERS * ROUNDS);
	assert_int_equal(number_of(db, "SELECT count(DISTINCT fiber) FROM transfer"), WRITERS);
	assert_true(gives(db, "PRAGMA integrity_check", "ok"));
	sqlite3_close(db);
}

static void test_transfers_of_twenty_fibers_are_whole_for_eighty_readers_with_wal(void **state)
{
	(void)state;
	file_stays_right("wal");
}

static void test_transfers_of_twenty_fibers_are_whole_for_eighty_readers_with_journal(void **state)
{
	(void)state;
	file_stays_right("delete");
}

/* -- a writer that is slow -- */

static atomic_uint readers_done;

static void *reads_or_waits_to_write(void *arg)
{
	const bool reads = (intptr_t)arg % (FIBERS / WAITERS);
	sqlite3 *db = opened(PATIENT);

	if (reads) {
		must(number_of(db, "SELECT count(*) FROM transfer") == 0);
		readers_done++;
	} else {
		must(done(db, "BEGIN IMMEDIATE"));
		must(number_of(db, "SELECT count(*) FROM transfer") > 0);
		must(transfer(db, (int)(intptr_t)arg, 0) && done(db, "COMMIT"));
	}
	sqlite3_close(db);
	return arg;
}

static void *writes_slowly(void *arg)
{
	sqlite3 *db = opened(PATIENT);
	struct fiber *f[FIBERS];

	must(done(db, "BEGIN IMMEDIATE") && transfer(db, -1, 0));
	spawn_all(reads_or_waits_to_write, f);
	while (readers_done < FIBERS - WAITERS)
		usleep(1000);
	/* This fiber is awake. */
	waiting_until("sleep", WAITERS);
	must(done(db, "COMMIT"));
	join_all(f);
	must(number_of(db, "SELECT count(*) FROM transfer") == WAITERS + 1);
	sqlite3_close(db);
	return arg;
}

static void test_ten_writers_sleep_behind_a_slow_one_while_ninety_fibers_read(void **state)
{
	(void)state;
	readers_done = 0;
	make_file("wal");
	carriers_run_well(writes_slowly, NULL);
}

/* -- the busy time-out -- */

static void *gives_up(void *arg)
{
	sqlite3 *db = opened(50);
	const int64_t start = fiber_now();

	must(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_BUSY);
	must(fiber_now() - start >= 50 * MS);
	sqlite3_close(db);
	return arg;
}

static void *never_commits(void *arg)
{
	sqlite3 *db = opened(PATIENT);
	struct fiber *f[FIBERS];

	must(done(db, "BEGIN IMMEDIATE"));
	spawn_all(gives_up, f);
	join_all(f);
	must(done(db, "ROLLBACK"));
	sqlite3_close(db);
	return arg;
}

static void test_busy_time_out_is_an_error_after_its_time(void **state)
{
	(void)state;
	make_file("wal");
	carriers_run_well(never_commits, NULL);
}

/* -- a reader that wants to write -- */

static const char add_one[] = "UPDATE account SET money = money + 1 WHERE id = 0";

static atomic_uint have_read;
static atomic_bool written;
static atomic_uint refused;

static void *writes_what_it_has_read(void *arg)
{
	sqlite3 *db = opened(PATIENT);

	must(done(db, "BEGIN"));
	must(number_of(db, "SELECT sum(money) FROM account") == TOTAL);
	have_read++;
	while (!written)
		usleep(1000);
	/* Refused at once. Where another carrier's connection is being refused, the file is busy. */
	must(sqlite3_exec(db, add_one, NULL, NULL, NULL) == SQLITE_BUSY);
	refused += sqlite3_extended_errcode(db) == SQLITE_BUSY_SNAPSHOT;
	must(number_of(db, "SELECT sum(money) FROM account") == TOTAL);
	must(done(db, "ROLLBACK"));
	if ((intptr_t)arg % (FIBERS / WAITERS) == 0)
		must(done(db, "BEGIN IMMEDIATE") && done(db, add_one) && done(db, "COMMIT"));
	sqlite3_close(db);
	return arg;
}

static void *writes_past_the_readers(void *arg)
{
	sqlite3 *db = opened(PATIENT);
	struct fiber *f[FIBERS];

	spawn_all(writes_what_it_has_read, f);
	while (have_read < FIBERS)
		usleep(1000);
	must(done(db, add_one));
	written = true;
	join_all(f);
	must(number_of(db, "SELECT sum(money) FROM account") == TOTAL + WAITERS + 1);
	sqlite3_close(db);
	return arg;
}

static void test_old_snapshot_is_refused_and_no_write_is_lost(void **state)
{
	(void)state;
	make_file("wal");
	have_read = 0;
	written = false;
	refused = 0;
	carriers_run_well(writes_past_the_readers, NULL);
	assert_true(refused >= 1);
}

/* -- one connection for all -- */

static sqlite3 *shared;
static atomic_uint inside, most_inside;
static atomic_bool all_came;

/* A function of SQL that parks its fiber, which has the mutex of the connection. */
static void nap(sqlite3_context *context, int count, sqlite3_value **values)
{
	const unsigned now = ++inside;

	(void)count;
	if (now > most_inside)
		most_inside = now;
	if (!all_came) {
		waiting_until("pthread-mutex", FIBERS - 1);
		all_came = true;
	}
	usleep(10);
	inside--;
	sqlite3_result_value(context, values[0]);
}

static void *naps(void *arg)
{
	char sql[64], expected[16];

	snprintf(expected, sizeof expected, "%d", (int)(intptr_t)arg);
	snprintf(sql, sizeof sql, "SELECT nap(%s)", expected);
	for (int i = 0; i < ROUNDS; i++)
		must(gives(shared, sql, expected));
	return arg;
}

static void test_mutex_of_a_shared_connection_is_a_fibers_not_a_carriers(void **state)
{
	(void)state;
	make_file("wal");
	most_inside = 0;
	all_came = false;
	assert_int_equal(sqlite3_open(path, &shared), SQLITE_OK);
	assert_int_equal(
		sqlite3_create_function(shared, "nap", 1, SQLITE_UTF8, NULL, nap, NULL, NULL), 0);
	hundred_run_well(naps);
	assert_int_equal(most_inside, 1);
	assert_int_equal(sqlite3_close(shared), SQLITE_OK);
}

static int linked(void **state)
{
	(void)state;
	return fiber_posix_linked() && sqlite3_threadsafe() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_transfers_of_twenty_fibers_are_whole_for_eighty_readers_with_wal),
		cmocka_unit_test(
			test_transfers_of_twenty_fibers_are_whole_for_eighty_readers_with_journal),
		cmocka_unit_test(test_ten_writers_sleep_behind_a_slow_one_while_ninety_fibers_read),
		cmocka_unit_test(test_busy_time_out_is_an_error_after_its_time),
		cmocka_unit_test(test_old_snapshot_is_refused_and_no_write_is_lost),
		cmocka_unit_test(test_mutex_of_a_shared_connection_is_a_fibers_not_a_carriers),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, linked, NULL);
}
