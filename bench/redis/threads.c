/* SPDX-License-Identifier: MIT */
/* threads.c - a thread for each client */
#include <pthread.h>

#include "bench/redis/client.h"
#include "bench/work.h"

void start(void *(*fn)(void *), void *arg, long count)
{
	pthread_t *const threads = calloc((size_t)count, sizeof *threads);
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (long i = 0; i < count; i++)
		if (!threads || pthread_create(&threads[i], &attr, fn, arg))
			work_die("pthread_create");
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

int main(int argc, char **argv)
{
	return run_clients(argc, argv);
}
