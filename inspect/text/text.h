/* SPDX-License-Identifier: MIT */
/*
 * text.h - the room text/: text, numbers and files, without any knowledge of programs and fibers
 *
 * Takes: strings, numbers, times and paths.
 * Gives: the same in the form that people and files get them, and errors as a sentence.
 * Used by: every other room of inspect/, tool/, fiberctl/ and fibertrace/. Uses no room.
 *
 * Errors: error.h, access.h. Text for people: line.h, plain.h, duration.h, moment.h, number.h,
 * progress.h. Files: slurp.h reads one, draft.h replaces one, json_put.h writes JSON. Small
 * collections: texts.h, pairs.h, sample.h, spread.h.
 */
#ifndef INS_TEXT_H
#define INS_TEXT_H

#endif
