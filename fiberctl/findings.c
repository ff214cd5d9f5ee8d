/* SPDX-License-Identifier: MIT */
/* findings.c - how many fibers the findings of each rule of `why` concern, from one look */
#include "fiberctl/findings.h"

#include <string.h>

#include "inspect/source/source.h"

/* Closes the source. */
static int look_at(struct ins_source *source, struct ctl_findings *ret, struct ins_error *error)
{
	struct ins_look look = {
		.source = source, .single = true, .silent = true, .pid = source->modules->pid};
	int rc = ins_look_take(&look, 0, error);

	if (rc == 0) {
		rc = ins_rules_count(&look, ret->fibers);
		if (rc < 0)
			ins_error_set(error, rc, "%s", strerror(-rc));
	}
	ret->looked = rc == 0;
	ins_look_drop(&look);
	ins_source_close(source);
	return rc;
}

int ctl_findings_of_socket(const char *path, pid_t pid, const struct ctl_look_time *time,
			   struct ctl_findings *ret, struct ins_error *error)
{
	struct ins_source *source;
	int rc = ins_source_open_control(path, pid, time->silence, error, &source);

	ret->looked = false;
	if (rc < 0)
		return rc;
	source->longest = time->all;
	return look_at(source, ret, error);
}

int ctl_findings_of_snapshot(const char *path, struct ctl_findings *ret, struct ins_error *error)
{
	struct ins_source *source;
	int rc = ins_source_open_snapshot(path, error, &source);

	ret->looked = false;
	return rc < 0 ? rc : look_at(source, ret, error);
}
