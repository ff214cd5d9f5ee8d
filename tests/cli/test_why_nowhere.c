/* SPDX-License-Identifier: MIT */
/* test_why_nowhere.c - the twin of a fault of the fixture trouble is found from no source */
#include "why_everywhere.h"

static const struct trouble troubles[] = {
	{"no-convoy", NULL, 0, "", true, "0.2"},  {"no-deadlock", NULL, 0, "", true, "0.2"},
	{"no-carrier", NULL, 0, "", true, "0.2"}, {"no-pinned", NULL, 0, "", true, "0.2"},
	{"no-stack", NULL, 0, "", true, "0.2"},	  {"no-growth", NULL, 0, "", true, "2s"},
	{"no-limits", NULL, 0, "", true, "0.2"},  {"no-forgotten", NULL, 0, "", true, "0.2"},
	{"no-signal", NULL, 0, "", true, "0.2"},  {"no-peer", NULL, 0, "", true, "0.2"},
	{"no-offload", NULL, 0, "", true, "0.2"}, {"no-failed", NULL, 0, "", true, "0.2"},
};

int main(void)
{
	return why_everywhere(troubles, sizeof troubles / sizeof *troubles);
}
