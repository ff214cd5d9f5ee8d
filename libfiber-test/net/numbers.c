/* SPDX-License-Identifier: MIT */
/* numbers.c - the numbers that the last schedule has given to the poller; all, if they are many */
#include "net/numbers.h"

#include "base/atomic.h"
#include "io/table.h"

#define NUMBERS_MAX 64u

static struct {
	int noted[NUMBERS_MAX];
	unsigned n; /* counts on if they are more than NUMBERS_MAX */
} numbers;

void fib_numbers_note(int fd)
{
	if (numbers.n < NUMBERS_MAX)
		numbers.noted[numbers.n] = fd;
	numbers.n++;
}

static void forget(struct fib_descriptor *d)
{
	fib_store(&d->watched_by, 0);
	fib_store(&d->file, 0);
	fib_store(&d->replaced, 0);
	fib_store(&d->plain, 0);
}

static void forget_all(void)
{
	for (unsigned i = 0; i < FIB_TABLE_BLOCKS; i++) {
		struct fib_descriptor *block = fib_load(&fib_table_blocks[i]);

		for (unsigned k = 0; block && k < FIB_TABLE_BLOCK; k++)
			forget(&block[k]);
	}
}

void fib_numbers_begin(void)
{
	const unsigned n = numbers.n;

	numbers.n = 0;
	if (n > NUMBERS_MAX) {
		forget_all();
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		struct fib_descriptor *d = fib_descriptor_find(numbers.noted[i]);

		if (d)
			forget(d);
	}
}
