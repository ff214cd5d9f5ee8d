/* SPDX-License-Identifier: MIT */
/* preload.h - what fibertest hands to libfiber-test.so in the environment of the program */
#ifndef FIB_TEST_PRELOAD_H
#define FIB_TEST_PRELOAD_H

/* The number of words of its options; they are in variables of this name with _1, _2, ... behind. */
#define FIB_PRELOAD_OPTIONS "FIBERTEST_OPTIONS"

/* A descriptor, to which the library writes a byte as soon as it has control. */
#define FIB_PRELOAD_LOADED "FIBERTEST_LOADED"

#endif
