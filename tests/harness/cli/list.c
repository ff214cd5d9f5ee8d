/* SPDX-License-Identifier: MIT */
/* list.c - request lists of fibers */
#include "tests/harness/cli/list.h"

json_t *list_where(const char *process, const char *where)
{
	struct harness_process *p =
		cli_run("fiberctl", "list", process, "--where", where, "--json", NULL);
	json_t *answer;

	answer = json_well(p);
	json_promise_answer(answer, "control");
	assert_int_equal(json_int(answer, "matched"),
			 json_array_size(json_object_get(answer, "fibers")));
	assert_int_equal(json_int(answer, "matched"), json_int(answer, "shown"));
	return answer;
}
