/* SPDX-License-Identifier: MIT */
/*
 * 25_test_linear.c - is a queue a queue, whatever the order in which fibers use it?
 *
 * Without arguments the queue is right. "racy" tests the one without a lock.
 */
#include <fiber.h>
#include <fiber/test.h>
#include <stdio.h>
#include <string.h>

#define ROOM 8

struct queue {
	struct fiber_mutex lock;
	int item[ROOM], first, n;
};

static void put(struct queue *q, int item)
{
	fiber_mutex_lock(&q->lock, FIBER_FOREVER);
	q->item[(q->first + q->n++) % ROOM] = item;
	fiber_mutex_unlock(&q->lock);
}

/* -1: empty */
static int take(struct queue *q)
{
	int item = -1;

	fiber_mutex_lock(&q->lock, FIBER_FOREVER);
	if (q->n) {
		item = q->item[q->first];
		q->first = (q->first + 1) % ROOM;
		q->n--;
	}
	fiber_mutex_unlock(&q->lock);
	return item;
}

/* Looks, and takes a moment later. */
static int take_racy(struct queue *q)
{
	int item;

	if (!q->n)
		return -1;
	item = q->item[q->first];
	fiber_yield();
	q->first = (q->first + 1) % ROOM;
	q->n--;
	return item;
}

/* -- what a queue is: a program for one call at a time -- */

enum { PUT, TAKE };

struct model {
	int item[ROOM], n;
};

static bool step(void *state, const struct fiber_test_call *call)
{
	struct model *m = state;
	int item = -1;

	if (call->op == PUT) {
		m->item[m->n++] = (int)call->arg;
		return true;
	}
	if (m->n) {
		item = m->item[0];
		m->n--;
		memmove(m->item, m->item + 1, sizeof m->item - sizeof m->item[0]);
	}
	/* A call that has not returned may take any item. */
	return !call->end || call->result == item;
}

static int print(const struct fiber_test_call *call, char *text, size_t size)
{
	if (call->op == PUT)
		return snprintf(text, size, "put(%d)", (int)call->arg);
	if (!call->end)
		return snprintf(text, size, "take()");
	return snprintf(text, size, "take() = %d", (int)call->result);
}

static const struct fiber_test_model model = {
	.size = sizeof model,
	.state_size = sizeof(struct model),
	.step = step,
	.print = print,
};

/* -- the test -- */

struct test {
	struct queue queue;
	int (*take)(struct queue *);
};

static void *producer(void *arg)
{
	struct test *t = arg;

	for (int item = 1; item <= 3; item++) {
		unsigned call = fiber_test_call(PUT, 0, item);

		put(&t->queue, item);
		fiber_test_return(call, 0);
	}
	return NULL;
}

static void *consumer(void *arg)
{
	struct test *t = arg;

	for (int i = 0; i < 2; i++) {
		unsigned call = fiber_test_call(TAKE, 0, 0);

		fiber_test_return(call, t->take(&t->queue));
	}
	return NULL;
}

static void test_queue(void *take_function)
{
	struct test test = {.take = *(int (**)(struct queue *))take_function};
	struct fiber_group group;

	fiber_test_history(&model);
	fiber_group_init(&group);
	fiber_group_spawn(&group, producer, &test);
	fiber_group_spawn(&group, consumer, &test);
	fiber_group_spawn(&group, consumer, &test);
	fiber_group_wait(&group, FIBER_FOREVER);
}

int main(int argc, char *argv[])
{
	static int (*right)(struct queue *) = take, (*racy)(struct queue *) = take_racy;
	static const struct fiber_test_case cases[] = {
		{"right", test_queue, &right, NULL},
		{"racy", test_queue, &racy, NULL},
	};
	char *only_right[] = {argv[0], (char[]){"right"}};

	if (argc < 2)
		return fiber_test_main(2, only_right, cases, 2);
	return fiber_test_main(argc, argv, cases, 2);
}
