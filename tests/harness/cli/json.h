/* SPDX-License-Identifier: MIT */
/* json.h - check the tools' JSON answers against the documented format */
#ifndef HARNESS_CLI_JSON_H
#define HARNESS_CLI_JSON_H

#include <jansson.h>

#include "tests/harness/cli/cli.h"

/* Parse a tool's stdout, which must be exactly one object. The caller calls json_decref(). */
json_t *json_answer(const struct harness_process *p);
/* json_answer() of a process that must have exited with `code`; frees the process. */
json_t *json_ended(struct harness_process *p, int code);
json_t *json_well(struct harness_process *p);

/*
 * Assert that an object has every key of a list "name:type name:type ...". Types: i integer, s
 * string, x address "0x...", b boolean, o object, a array; a ? after the type allows null. `where`
 * names the object in the message.
 */
void json_promise(const json_t *object, const char *where, const char *keys);

/* The keys of every answer. */
#define JSON_ANSWER                                                                             \
	"schemaVersion:i pid:i name:s source:s takenNs:i? host:s? sampledNs:i total:i shown:i " \
	"complete:b"
#define JSON_FIBER                                                                             \
	"id:i parentId:i name:s state:s ageNs:i switches:i cpuNs:i runnableNs:i? waitedNs:i? " \
	"livedNs:i? pins:i cancelled:b carrier:i? wait:o? "                                    \
	"stack:o entry:s? spawn:o labels:o"
#define JSON_WAIT                                                                    \
	"kind:s object:x? objectName:s? holderId:i? holderThread:i? fd:i? events:* " \
	"deadlineNs:i? leftNs:i? targetId:i?"
#define JSON_STACK "address:x? size:i used:i? highWater:i?"
#define JSON_SPAWN "pc:x? function:s? file:s? line:i?"
#define JSON_FRAME "pc:x function:s? offset:i? module:s? file:s? line:i? inlined:b internal:b"
#define JSON_GROUP "count:i fiberIds:a ageNs:o wait:o? frames:a"

/* Check the head, the source and the fiber rows of an answer; also the frames if they were
 * requested. */
void json_promise_answer(const json_t *answer, const char *source);
void json_promise_fiber(const json_t *fiber, bool frames);
void json_promise_frames(const json_t *frames);

/* The row with this id in answer.fibers, or NULL. */
json_t *json_fiber(const json_t *answer, uint64_t id);

/* The first finding of an answer of `why` that is of this rule, or NULL. */
const json_t *json_finding(const json_t *answer, const char *rule);

/* A string or integer member; "" and -1 if it is null or missing. */
const char *json_text(const json_t *object, const char *key);
json_int_t json_int(const json_t *object, const char *key);

#endif
