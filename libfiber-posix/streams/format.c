/* SPDX-License-Identifier: MIT */
/*
 * format.c - make the text of printf(3) in memory
 *
 * vfprintf(3) in the C library writes the descriptor whenever the buffer is full. So the text is made in
 * memory, where nothing waits, and written as bytes. To a stream without a buffer it is one write.
 */
#include "streams/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Of _FORTIFY_SOURCE: a flag above 0 refuses %n in memory that can be written. */
extern int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
			   va_list args);

__attribute__((format(printf, 4, 0))) static int print(char *to, size_t size, int flag,
						       const char *format, va_list args)
{
	return __vsnprintf_chk(to, size, flag, size, format, args);
}

int fpx_text_make(struct fpx_text *text, int flag, const char *format, va_list args)
{
	va_list again;
	size_t size;

	va_copy(again, args);
	text->at = text->few;
	text->size = print(text->few, sizeof text->few, flag, format, args);
	if (text->size >= (int)sizeof text->few) {
		size = (size_t)text->size + 1;
		text->at = malloc(size);
		text->size = text->at ? print(text->at, size, flag, format, again) : -1;
	}
	va_end(again);
	if (text->size >= 0)
		return 0;
	fpx_text_free(text);
	return -1;
}

void fpx_text_free(struct fpx_text *text)
{
	const int before = errno;

	if (text->at != text->few)
		free(text->at);
	errno = before;
}
