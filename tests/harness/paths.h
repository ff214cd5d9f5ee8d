/* SPDX-License-Identifier: MIT */
/*
 * paths.h - where a test finds what was built, and where it may write
 */
#ifndef HARNESS_PATHS_H
#define HARNESS_PATHS_H

#include <stddef.h>

#define HARNESS_PATH 512

/* The build folder: $FIBER_BUILD, which the runner sets, else derived from where the test program is.
 * Absolute. Any thread. */
const char *harness_build(void);

/* The path of a program in the build folder's bin/. Returns buf of HARNESS_PATH bytes. */
const char *harness_program(char *buf, const char *name);

/* The same, built without a sanitizer also where the others have one: those that scripts/check.mk names. */
const char *harness_plain(char *buf, const char *name);

/* A folder of this test's own, mode 0700, removed with all it holds when the test exits. Programs
 * started by the harness have their control sockets below it. */
const char *harness_folder(void);

/* folder/name, in buf of HARNESS_PATH bytes. */
const char *harness_file(char *buf, const char *name);

/* The sanitizer of this build: "address", "undefined", "thread", or "" for none. */
const char *harness_sanitizer(void);

#endif
