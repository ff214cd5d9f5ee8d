/* SPDX-License-Identifier: MIT */
/* table.c - an HTTP server, one thread per connection, whose connections share one table: see table.h */
#include "bench/peers/pthread/pthread.h"
#include "bench/table.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void answer_with_mutex(struct table_request request, char *answer)
{
	pthread_mutex_lock(&mutex);
	table_answer_of(request, answer);
	pthread_mutex_unlock(&mutex);
}

static void answer_with_rwlock(struct table_request request, char *answer)
{
	if (request.write)
		pthread_rwlock_wrlock(&rwlock);
	else
		pthread_rwlock_rdlock(&rwlock);
	table_answer_of(request, answer);
	pthread_rwlock_unlock(&rwlock);
}

static void (*answer_of)(struct table_request request, char *answer);

/* Serve a connection until the client closes it. */
static void *serve(void *arg)
{
	const int fd = (int)(intptr_t)arg;
	char bytes[TABLE_ROOM + 1], answer[TABLE_ANSWER];
	ssize_t n;

	memcpy(answer, TABLE_HEAD, sizeof(TABLE_HEAD) - 1);
	while ((n = recv(fd, bytes, TABLE_ROOM, 0)) > 0) {
		answer_of(table_parse(bytes, n), answer);
		if (send(fd, answer, sizeof(answer), MSG_NOSIGNAL) != (ssize_t)sizeof(answer))
			work_die("send");
	}
	close(fd);
	return NULL;
}

static void run(long requests, long cpus)
{
	const struct timeval patience = {.tv_sec = TABLE_PATIENCE};
	pthread_t threads[TABLE_CONNECTIONS];
	unsigned port;
	const int listener = table_open(&port);
	/* Before the CPUs are set: the client may use all. */
	const pid_t client = table_client_start(port, requests);
	int status;

	threads_on(cpus);
	setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	for (int i = 0; i < TABLE_CONNECTIONS; i++) {
		const int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			work_die("accept");
		threads[i] = threads_start(serve, (void *)(intptr_t)fd);
	}
	for (int i = 0; i < TABLE_CONNECTIONS; i++)
		pthread_join(threads[i], NULL);
	if (waitpid(client, &status, 0) != client)
		work_die("waitpid");
	table_client_check(status);
	close(listener);
}

void threads_shared_table_mutex(long requests, long cpus)
{
	answer_of = answer_with_mutex;
	run(requests, cpus);
}

void threads_shared_table_rwlock(long requests, long cpus)
{
	answer_of = answer_with_rwlock;
	run(requests, cpus);
}
