/* SPDX-License-Identifier: MIT */
/*
 * text.h - the room text/: text, numbers and files, without any knowledge of programs and fibers
 *
 * Takes: strings, numbers, times and paths.
 * Gives: text for people and for files, parsed numbers and times, and error messages.
 * Used by: every other room of inspect/, tool/, fiberctl/ and fibertrace/. Uses no room.
 *
 * Errors: error.h, access.h. Text for people: strbuf.h, escape.h, duration.h, timestamp.h, number.h,
 * progress.h. Files: read_file.h reads one, atomic_file.h replaces one, json_put.h writes JSON. Small
 * collections: texts.h, pairs.h, sample.h, distribution.h.
 */
#ifndef INS_TEXT_H
#define INS_TEXT_H

#endif
