/* SPDX-License-Identifier: MIT */
/*
 * source.h - the room source/: the four places that fibers are read from
 *
 * Takes: a control socket, a live process, a core file or a snapshot.
 * Gives: a struct ins_source, which passes the fibers to a callback one by one. model/source.h
 *        defines it and declares the functions that open each of the four.
 * Used by: tool/, fiberctl/ and fibertrace/ open a source; other rooms see only model/source.h.
 *
 * Sources that decode answers of the process: source_control.c, source_snapshot.c, frames.h,
 * snapshot.h. Sources that read memory: source_live.c, source_core.c, reading.h, records.h,
 * registry.h, live.h, guard.h, lacks.h.
 */
#ifndef INS_SOURCE_ROOM_H
#define INS_SOURCE_ROOM_H

#endif
