/* SPDX-License-Identifier: MIT */
/*
 * 12_pinned_library.c - a C library that keeps state in its thread, and calls back
 *
 * uselocale(3) changes the locale of the thread. Until it is restored, the fiber must not move to
 * another thread, and no other fiber may run on this thread. So the fiber is pinned. Meanwhile
 * qsort(3) calls us back, and a callback may try to wait. The policy says what happens: WARN, the
 * default, prints a line and blocks the thread; with ERROR, used here, the call returns -EDEADLK.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include <fiber.h>

static const char *words[] = {"naïveté", "strength", "über", "Ångströms", "one"};
static bool sorted;
static int refused; /* refused waits */

/* The number of characters in the thread's locale. In the "C" locale "ü" is not a character. */
static size_t length(const void *word)
{
	return mbstowcs(NULL, *(const char *const *)word, 0);
}

static int shorter_first(const void *a, const void *b)
{
	size_t one = length(a), other = length(b);

	if (fiber_sleep(1000000) == -EDEADLK) /* refused: the fiber is pinned */
		refused++;
	return (one > other) - (one < other);
}

static void *sort(void *arg)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), before;

	if (!utf8)
		fiber_fail(-ENOENT, "there is no locale C.UTF-8");
	{
		FIBER_PINNED_SCOPE; /* until the block is left, whichever way */

		before = uselocale(utf8);
		qsort(words, sizeof(words) / sizeof(*words), sizeof(*words), shorter_first);
		uselocale(before);
	}
	sorted = true;
	freelocale(utf8);
	return arg;
}

/* Runs on the same thread, and must never see that locale. */
static void *neighbour(void *arg)
{
	bool *disturbed = arg;

	do
		*disturbed |= MB_CUR_MAX != 1;
	while (fiber_yield() == 0 && !sorted);
	return arg;
}

int main(void)
{
	struct fiber_runtime_options options = {
		.size = sizeof(options), .carriers = 1, .pinned_policy = FIBER_PINNED_ERROR};
	fiber_fn *fns[] = {neighbour, sort};
	bool disturbed = false;
	void *args[] = {&disturbed, NULL};
	int rc = fiber_run_many(fns, args, 2, &options, NULL);

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		printf("%s ", words[i]);
	printf("\nwaits while pinned: %s, the neighbour: %s\n", refused ? "refused" : "none",
	       disturbed ? "disturbed" : "undisturbed");
	return rc < 0;
}
