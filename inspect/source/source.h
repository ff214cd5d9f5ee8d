/* SPDX-License-Identifier: MIT */
/*
 * source.h - the room source/: the four places that fibers are read from
 *
 * Takes: a control socket, a live process, a core file or a snapshot.
 * Gives: a struct ins_source, which passes the fibers to a callback one by one. model/source.h
 *        defines it; ins_source_close() closes it.
 * Used by: tool/, fiberctl/ and fibertrace/ open a source; other rooms see only model/source.h.
 *
 * Sources that decode answers of the process: source_control.c, source_snapshot.c, frames.h,
 * snapshot.h. Sources that read memory: source_live.c, source_core.c, reading.h, records.h,
 * registry.h, live.h (live_copy.c, live_many.c), guard.h, lacks.h. snapshot_threads.h writes a part of a snapshot.
 */
#ifndef INS_SOURCE_ROOM_H
#define INS_SOURCE_ROOM_H

#include <stdint.h>
#include <sys/types.h>

#include "inspect/model/source.h"

/*
 * Open the control socket at path of process pid (0: unknown yet). An answer that does not come
 * within timeout_ns is an error. Returns 0, or a negative errno with error set: exit code 2.
 */
int ins_source_open_control(const char *path, pid_t pid, int64_t timeout_ns,
			    struct ins_error *error, struct ins_source **ret);

/*
 * Open the memory of a live process. -ESRCH, -EPERM (error names the missing right), -ENOENT if it
 * has no fibers, ...
 */
int ins_source_open_live(pid_t pid, struct ins_error *error, struct ins_source **ret);

/*
 * Open the memory and the threads of a live process that need not have fibers: for
 * ins_threads_show() (threads/threads.h), without which it must not be read. Errors as above, except
 * for those about fibers.
 */
int ins_source_open_process(pid_t pid, struct ins_error *error, struct ins_source **ret);

/*
 * Open a core file. exe: the executable to use, NULL: the one that the core names. -ENOENT, -EINVAL
 * if the file is no core of a fiber program, is of another machine, ...
 */
int ins_source_open_core(const char *core, const char *exe, struct ins_error *error,
			 struct ins_source **ret);

/*
 * The same for a core whose program need not have fibers: for ins_threads_show(), like
 * ins_source_open_process().
 */
int ins_source_open_core_process(const char *core, const char *exe, struct ins_error *error,
				 struct ins_source **ret);

/*
 * Open a snapshot (snapshot.h). Layout and modules are set at once. It can be read any number of
 * times.
 */
int ins_source_open_snapshot(const char *path, struct ins_error *error, struct ins_source **ret);

#endif
