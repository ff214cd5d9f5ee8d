/* SPDX-License-Identifier: MIT */
/* table.c - an HTTP server, one fiber per connection, whose connections share one table: see table.h */
#include <fiber/io.h>

#include "bench/libfiber/shared/shared.h"
#include "bench/table.h"

static struct fiber_mutex mutex;
static struct fiber_rwlock rwlock;

static void answer_with_mutex(struct table_request request, char *answer)
{
	fiber_mutex_lock(&mutex, FIBER_FOREVER);
	table_answer_of(request, answer);
	fiber_mutex_unlock(&mutex);
}

static void answer_with_rwlock(struct table_request request, char *answer)
{
	if (request.write)
		fiber_rwlock_wrlock(&rwlock, FIBER_FOREVER);
	else
		fiber_rwlock_rdlock(&rwlock, FIBER_FOREVER);
	table_answer_of(request, answer);
	fiber_rwlock_unlock(&rwlock);
}

static void (*answer_of)(struct table_request request, char *answer);

/* Serve a connection until the client closes it. */
static void *serve(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char bytes[TABLE_ROOM + 1], answer[TABLE_ANSWER];
	ssize_t n;

	memcpy(answer, TABLE_HEAD, sizeof(TABLE_HEAD) - 1);
	while ((n = fiber_recv(fd, bytes, TABLE_ROOM, 0, FIBER_FOREVER)) > 0) {
		answer_of(table_parse(bytes, n), answer);
		if (fiber_send(fd, answer, sizeof(answer), MSG_NOSIGNAL, FIBER_FOREVER) !=
		    (ssize_t)sizeof(answer))
			work_die("fiber_send");
	}
	fiber_close(fd);
	return NULL;
}

static void *server_main(void *arg)
{
	struct fiber *fibers[TABLE_CONNECTIONS];
	const struct bench_costs since = bench_costs_begin();
	unsigned port;
	const int listener = table_open(&port);
	const pid_t client = table_client_start(port, *(long *)arg);
	int status;

	for (int i = 0; i < TABLE_CONNECTIONS; i++) {
		const int fd = fiber_accept(listener, NULL, NULL,
					    fiber_after(TABLE_PATIENCE * INT64_C(1000000000)));

		if (fd < 0)
			work_die("fiber_accept");
		fibers[i] = bench_start(serve, (void *)(intptr_t)fd);
	}
	for (int i = 0; i < TABLE_CONNECTIONS; i++)
		bench_finish(fibers[i]);
	if (fiber_waitpid(client, &status, 0, FIBER_FOREVER) != client)
		work_die("fiber_waitpid");
	table_client_check(status);
	bench_steals_report(&since, *(long *)arg);
	fiber_close(listener);
	return NULL;
}

void bench_shared_table_mutex(long count, long carriers)
{
	answer_of = answer_with_mutex;
	bench_run(server_main, &count, (unsigned)carriers);
}

void bench_shared_table_rwlock(long count, long carriers)
{
	answer_of = answer_with_rwlock;
	bench_run(server_main, &count, (unsigned)carriers);
}
