/* SPDX-License-Identifier: MIT */
/*
 * client.c - clients of a redis server that make requests and wait for each answer
 *
 * The same object is linked with threads.c and with fibers.c. A client knows nothing of either: hiredis
 * calls read(2) and write(2). CPU time is counted from the moment when all have connected.
 */
#include "bench/redis/client.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/work.h"

static const char *socket_path;
static long rounds;
static pthread_barrier_t connected;
static double began; /* ns of CPU */

static double cpu(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

static void must_answer(const redisContext *c, redisReply *reply, const char *text)
{
	if (!reply || !reply->str || strcmp(reply->str, text) != 0)
		work_die(reply && reply->str ? reply->str : c->errstr);
	freeReplyObject(reply);
}

static void *make_requests(void *arg)
{
	redisContext *c = redisConnectUnix(socket_path);
	char number[32];

	if (!c || c->err)
		work_die(c ? c->errstr : "redisConnectUnix");
	if (pthread_barrier_wait(&connected) != 0) /* in one of them */
		began = cpu();
	for (long i = 0; i < rounds; i++) {
		snprintf(number, sizeof number, "%ld", i);
		must_answer(c, redisCommand(c, "SET key:%lx %s", (unsigned long)c, number), "OK");
		must_answer(c, redisCommand(c, "GET key:%lx", (unsigned long)c), number);
	}
	redisFree(c);
	return arg;
}

int run_clients(int argc, char **argv)
{
	const long clients = argc > 3 ? strtol(argv[2], NULL, 10) : 0;

	if (clients <= 0) {
		fprintf(stderr, "usage: %s SOCKET CLIENTS ROUNDS [CARRIERS]\n", argv[0]);
		return 64;
	}
	socket_path = argv[1];
	rounds = strtol(argv[3], NULL, 10);
	pthread_barrier_init(&connected, NULL, (unsigned)clients);
	start(make_requests, NULL, clients);
	work_report("cpu", (cpu() - began) / (double)(2 * rounds * clients));
	return 0;
}
