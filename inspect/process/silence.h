/* SPDX-License-Identifier: MIT */
/* silence.h - explain why the process behind a control socket does not answer */
#ifndef INS_SILENCE_H
#define INS_SILENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "inspect/text/access.h"

/*
 * Whether process pid exists and has not begun to end: its sockets close before it is a zombie. False
 * if pid is no process id.
 */
bool ins_process_is_alive(pid_t pid);

/*
 * Explain why a control socket gave no answer; rc as for ins_access_explain(). pid: its process; 0: the
 * one in the socket's name. A process is reported as ended only if it has ended: its own sandbox
 * may forbid a live one to answer. Returns buf.
 */
const char *ins_process_silence(const char *path, pid_t pid, int rc, char *buf, size_t size);

#endif
