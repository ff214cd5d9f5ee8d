/* SPDX-License-Identifier: MIT */
/* 04_fan_out.c - send several queries at once, with one deadline; late ones are cancelled. */
#include <fiber.h>
#include <stdio.h>

#define MS 1000000

struct question {
	const char *whom;
	int64_t takes; /* ns */
	int answer;    /* 0: no answer */
};

static void *ask(void *arg)
{
	struct question *q = arg;

	if (fiber_sleep(q->takes) == 0) /* -ECANCELED if the group is cancelled */
		q->answer = 42;
	return NULL;
}

static void *start(void *arg)
{
	struct question questions[] = {
		{"near", 5 * MS, 0}, {"far", 10 * MS, 0}, {"lost", 60000LL * MS, 0}};
	struct fiber_group group;
	int rc = 0;

	fiber_group_init(&group);
	for (int i = 0; i < 3 && rc == 0; i++)
		rc = fiber_group_spawn(&group, ask, &questions[i]);
	if (rc == 0)
		rc = fiber_group_wait(&group, fiber_after(300 * MS));
	/* The fibers write to this stack: wait for all of them before returning. */
	fiber_group_cancel(&group);
	fiber_group_wait(&group, FIBER_FOREVER);
	for (int i = 0; i < 3; i++)
		printf("%s: %s\n", questions[i].whom,
		       questions[i].answer ? "answered" : "too late");
	return rc < 0 ? NULL : arg;
}

int main(void)
{
	return fiber_run(start, NULL, NULL, NULL) < 0;
}
