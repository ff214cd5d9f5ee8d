/* SPDX-License-Identifier: MIT */
/* format.h - make the text of printf(3) in memory */
#ifndef FPX_STREAMS_FORMAT_H
#define FPX_STREAMS_FORMAT_H

#include <stdarg.h>

#define FPX_TEXT 1024 /* bytes on the stack */

struct fpx_text {
	char *at;
	int size;
	char few[FPX_TEXT];
};

/*
 * flag: of _FORTIFY_SOURCE, or 0. Returns 0; or -1 and errno. After 0 the caller calls fpx_text_free(),
 * which keeps errno.
 */
int fpx_text_make(struct fpx_text *text, int flag, const char *format, va_list args);
void fpx_text_free(struct fpx_text *text);

#endif
