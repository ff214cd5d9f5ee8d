/* SPDX-License-Identifier: MIT */
/*
 * 11_request.c - fiber-local values, exit handlers and labels
 *
 * A fiber may continue on another thread after each wait, so a thread-local variable is not its
 * own. It may also exit in the middle of a call: exit handlers do what must be done in any case.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fiber.h>

static fiber_key_t buffer_key; /* its destructor is free() */

/* Each fiber's own buffer, allocated at the first call. */
static char *buffer(void)
{
	char *b = fiber_getspecific(buffer_key);

	if (b)
		return b;
	b = aligned_alloc(64, 256); /* own cache lines: no false sharing */
	if (fiber_setspecific(buffer_key, b) == 0)
		return b;
	free(b);
	return NULL;
}

static void hang_up(void *arg)
{
	printf("%s: the line is free again\n", (const char *)arg);
}

static void answer(const char *request)
{
	char *text = buffer();

	if (!text)
		fiber_fail(-ENOMEM, "no memory");
	if (!strchr(request, '/')) /* fiber_fail() ends the fiber at any call depth */
		fiber_fail(-EPROTO, "%s: not a request", request);
	snprintf(text, 256, "answer to %s", request);
}

static void *serve(void *arg)
{
	if (fiber_at_exit(hang_up, arg) < 0)
		return NULL;
	fiber_label("request", arg); /* the tools show it until it is replaced */
	answer(arg);
	printf("%s\n", buffer());
	return arg;
}

static void *start(void *arg)
{
	static char *const requests[] = {"GET /", "nonsense"};
	struct fiber_result result;
	struct fiber *fiber;

	for (int i = 0; i < 2; i++) {
		if (fiber_spawn(serve, requests[i], &fiber) < 0)
			return NULL;
		fiber_join(fiber, &result, FIBER_FOREVER); /* after its exit handlers */
		printf("%s: ended with %d\n", requests[i], result.error);
	}
	return arg;
}

int main(void)
{
	return fiber_key_create(&buffer_key, free) < 0 || fiber_run(start, NULL, NULL, NULL) < 0;
}
