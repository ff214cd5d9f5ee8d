/* SPDX-License-Identifier: MIT */
/* demangle.h - the names of C++ functions as their source has them */
#ifndef FIB_TEST_DEMANGLE_H
#define FIB_TEST_DEMANGLE_H

/*
 * The name without mangling; the name itself if it is not mangled, or the program is not linked with the
 * runtime of C++. NULL: NULL. The text stays as long as name does.
 */
const char *fib_demangled(const char *name);

#endif
