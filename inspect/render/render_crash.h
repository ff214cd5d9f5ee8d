/* SPDX-License-Identifier: MIT */
/* render_crash.h - the signal that ended a program, in words and as JSON */
#ifndef INS_RENDER_CRASH_H
#define INS_RENDER_CRASH_H

#include <jansson.h>

#include "inspect/model/crash.h"

/*
 * "fiber 12 "worker" was running when signal 11 (SIGSEGV) came at 0x..., for address 0x0"; safe for
 * a terminal. Returns buf.
 */
const char *ins_crash_text(const struct ins_crash *crash, char *buf, size_t size);

/* The same as an object; null for NULL. */
json_t *ins_crash_json(const struct ins_crash *crash);

#endif
