/* SPDX-License-Identifier: MIT */
/* misuse.h - abort with one line where Windows leaves open what happens */
#ifndef FIB_WIN32_MISUSE_H
#define FIB_WIN32_MISUSE_H

/* Print "libfiber-win32: call: what" on stderr and abort. */
_Noreturn void fib_win32_misuse(const char *call, const char *what);

#endif
