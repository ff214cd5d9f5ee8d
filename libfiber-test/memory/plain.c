/* SPDX-License-Identifier: MIT */
/* plain.c - copy by the C library's bcopy(), whose name stays; fill and compare by 8 bytes */
#include "memory/plain.h"

#include <stdint.h>

void bcopy(const void *from, void *to, size_t size);

/*
 * Called by a pointer that is read each time: compilers make a call of memmove() of a call of bcopy(),
 * and after the renaming that would be a call of fib_plain_memmove().
 */
static void (*volatile const plain_copy)(const void *from, void *to, size_t size) = bcopy;

void *fib_plain_memcpy(void *to, const void *from, size_t size)
{
	plain_copy(from, to, size);
	return to;
}

void *fib_plain_memmove(void *to, const void *from, size_t size)
{
	plain_copy(from, to, size);
	return to;
}

/* The stores are volatile: a compiler makes a call of memset() of the loop otherwise. */
void *fib_plain_memset(void *at, int value, size_t size)
{
	const uint64_t word = (unsigned char)value * UINT64_C(0x0101010101010101);
	volatile unsigned char *byte = at;
	volatile uint64_t *words;

	for (; size && (uintptr_t)byte % sizeof word; size--)
		*byte++ = (unsigned char)value;
	words = (volatile uint64_t *)(uintptr_t)byte;
	for (; size >= sizeof word; size -= sizeof word)
		*words++ = word;
	byte = (volatile unsigned char *)words;
	for (; size; size--)
		*byte++ = (unsigned char)value;
	return at;
}

int fib_plain_memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a, *y = b;
	size_t i = 0;

	while (i < size && x[i] == y[i])
		i++;
	if (i == size)
		return 0;
	return x[i] < y[i] ? -1 : 1;
}
