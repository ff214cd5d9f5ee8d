/* SPDX-License-Identifier: MIT */
/* json.c - check the tools' JSON answers against the documented format */
#include <stdio.h>
#include <string.h>

#include "tests/harness/cli/json.h"

json_t *json_answer(const struct harness_process *p)
{
	json_error_t error;
	json_t *answer = json_loads(p->out.bytes, JSON_REJECT_DUPLICATES, &error);

	if (!json_is_object(answer)) {
		print_error("no JSON object: line %d: %s\n%.2000s\n%s", error.line, error.text,
			    p->out.bytes, p->err.bytes);
		fail();
	}
	return answer;
}

json_t *json_ended(struct harness_process *p, int code)
{
	json_t *answer;

	cli_expect(p, code);
	answer = json_answer(p);
	harness_free(p);
	return answer;
}

json_t *json_well(struct harness_process *p)
{
	return json_ended(p, 0);
}

static bool is_address(const json_t *value)
{
	const char *const text = json_string_value(value);

	return text && !strncmp(text, "0x", 2) && text[2] &&
	       strspn(text + 2, "0123456789abcdef") == strlen(text + 2);
}

static bool is_of(const json_t *value, char type)
{
	switch (type) {
	case 'i':
		return json_is_integer(value);
	case 's':
		return json_is_string(value);
	case 'x':
		return is_address(value);
	case 'b':
		return json_is_boolean(value);
	case 'o':
		return json_is_object(value);
	case 'a':
		return json_is_array(value);
	default:
		return type == '*';
	}
}

void json_promise(const json_t *object, const char *where, const char *keys)
{
	char key[64], type[8];
	int length;

	assert_true(json_is_object(object));
	while (sscanf(keys, " %63[A-Za-z]:%7[a-z*?]%n", key, type, &length) == 2) {
		const json_t *const value = json_object_get(object, key);
		const bool nullable = type[1] == '?' || type[0] == '*';

		keys += length;
		if (value && (is_of(value, type[0]) || (nullable && json_is_null(value))))
			continue;
		char *const text = json_dumps(object, JSON_COMPACT);

		print_error("%s.%s is %s, promised type %s\nin %.2000s\n", where, key,
			    value ? "of another type" : "missing", type, text);
		fail();
	}
	assert_int_equal(strspn(keys, " "), strlen(keys));
}

void json_promise_answer(const json_t *answer, const char *source)
{
	json_promise(answer, "answer", JSON_ANSWER);
	assert_int_equal(json_int(answer, "schemaVersion"), 1);
	assert_string_equal(json_text(answer, "source"), source);
	if (json_is_false(json_object_get(answer, "complete")))
		json_promise(answer, "answer", "problems:a");
}

void json_promise_frames(const json_t *frames)
{
	const json_t *frame;
	size_t i;

	json_array_foreach (frames, i, frame)
		json_promise(frame, "frame", JSON_FRAME);
}

static bool one_of(const char *word, const char *words)
{
	char spaced[64];

	snprintf(spaced, sizeof(spaced), " %s ", word);
	return strstr(words, spaced);
}

void json_promise_fiber(const json_t *fiber, bool frames)
{
	const json_t *const wait = json_object_get(fiber, "wait");

	json_promise(fiber, "fiber", JSON_FIBER);
	assert_true(one_of(json_text(fiber, "state"), " created runnable running suspended dead "));
	if (json_is_object(wait)) {
		json_promise(wait, "wait", JSON_WAIT);
		assert_true(
			one_of(json_text(wait, "kind"),
			       " yield sleep park predicate join mutex rwlock-read rwlock-write"
			       " cond sem event barrier once waitgroup group chan-send chan-recv"
			       " select fd timer offload op pinned pthread-mutex pthread-cond"
			       " pthread-rwlock pthread-sem pthread-barrier pthread-once futex "));
	}
	json_promise(json_object_get(fiber, "stack"), "stack", JSON_STACK);
	json_promise(json_object_get(fiber, "spawn"), "spawn", JSON_SPAWN);
	if (strcmp(json_text(fiber, "state"), "running"))
		assert_true(json_is_null(json_object_get(fiber, "carrier")));
	if (frames) {
		json_promise(fiber, "fiber", "frames:a truncated:b");
		json_promise_frames(json_object_get(fiber, "frames"));
	}
}

json_t *json_fiber(const json_t *answer, uint64_t id)
{
	json_t *fiber;
	size_t i;

	json_array_foreach (json_object_get(answer, "fibers"), i, fiber)
		if ((uint64_t)json_int(fiber, "id") == id)
			return fiber;
	return NULL;
}

const char *json_text(const json_t *object, const char *key)
{
	const char *const text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

json_int_t json_int(const json_t *object, const char *key)
{
	const json_t *const value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : -1;
}

const json_t *json_finding(const json_t *answer, const char *rule)
{
	const json_t *found;
	size_t i;

	json_array_foreach (json_object_get(answer, "findings"), i, found)
		if (!strcmp(json_text(found, "rule"), rule))
			return found;
	return NULL;
}
