/* SPDX-License-Identifier: MIT */
/* silence.h - why the process behind a control socket does not answer. */
#ifndef INS_SILENCE_H
#define INS_SILENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "inspect/text/access.h"

/* Whether process pid runs: there is one, and it is no zombie. False for what is no process id. */
bool ins_process_is_alive(pid_t pid);

/*
 * Why a control socket gave no answer; rc as of ins_access_explain(). pid: its process, 0: the one that the socket's name tells. A
 * process is only said to have ended where it has: one that lives may be forbidden to answer by its own sandbox. Returns buf.
 */
const char *ins_process_silence(const char *path, pid_t pid, int rc, char *buf, size_t size);

#endif
