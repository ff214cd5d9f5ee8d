/* SPDX-License-Identifier: MIT */
/* 03_pipeline.c - channels: one fiber makes numbers, three square them, another adds them up. */
#include <fiber.h>
#include <stdio.h>

struct pipeline {
	struct fiber_chan *numbers, *squares;
};

static void *count(void *arg)
{
	struct pipeline *p = arg;

	for (long i = 1; i <= 1000; i++) /* waits while the channel is full */
		fiber_chan_send(p->numbers, &i, FIBER_FOREVER);
	fiber_chan_close(p->numbers); /* values in it can still be received */
	return NULL;
}

static void *square(void *arg)
{
	struct pipeline *p = arg;
	long n;

	while (fiber_chan_recv(p->numbers, &n, FIBER_FOREVER) == 0) {
		n *= n;
		fiber_chan_send(p->squares, &n, FIBER_FOREVER);
	}
	return NULL; /* -EPIPE: closed and drained */
}

/* Add up the squares until the channel is closed or the timer expires. */
static void *add_up(void *arg)
{
	struct pipeline *p = arg;
	long n = 0, sum = 0;
	struct fiber_select_case cases[] = {
		{.op = FIBER_SELECT_RECV, .chan = p->squares, .elem = &n},
		{.op = FIBER_SELECT_TIMER, .at = fiber_after(10 * INT64_C(1000000000))},
	};

	while (fiber_select(cases, 2, FIBER_FOREVER) == 0 && cases[0].result == 0)
		sum += n;
	fiber_chan_close(p->squares); /* after a timeout, the senders get -EPIPE */
	printf("the squares of 1 to 1000 add up to %ld\n", sum);
	return NULL;
}

static void *start(void *arg)
{
	struct pipeline *p = arg;
	struct fiber *squarers[3], *adder;
	int i, rc = fiber_spawn(count, p, NULL);

	for (i = 0; rc == 0 && i < 3; i++)
		rc = fiber_spawn(square, p, &squarers[i]);
	if (rc != 0 || (rc = fiber_spawn(add_up, p, &adder)) != 0)
		fiber_fail(rc, "cannot spawn");
	for (i = 0; i < 3; i++)
		fiber_join(squarers[i], NULL, FIBER_FOREVER);
	fiber_chan_close(p->squares);
	fiber_join(adder, NULL, FIBER_FOREVER);
	return NULL;
}

int main(void)
{
	struct pipeline p;
	struct fiber_result result = {NULL, 0};
	int rc = fiber_chan_new(sizeof(long), 16, &p.numbers);

	if (rc < 0 || fiber_chan_new(sizeof(long), 0, &p.squares) < 0)
		return 1;
	fiber_object_name(p.numbers, "numbers"); /* what fiberctl list shows */
	fiber_object_name(p.squares, "squares");
	rc = fiber_run(start, &p, NULL, &result);
	fiber_chan_unref(p.numbers);
	fiber_chan_unref(p.squares);
	return rc < 0 || result.error < 0;
}
