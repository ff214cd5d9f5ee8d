/* SPDX-License-Identifier: MIT */
/* test_why_everywhere.c - each fault of the fixture trouble is found from every source */
#include "why_everywhere.h"

static const struct trouble troubles[] = {
	{"convoy", "convoy", SLOW, "compact", true, "0.2"},
	{"convoy-peer", "convoy", SLOW, "ask", true, "0.2"},
	{"deadlock", "deadlock", LASTS, "first_then_second", true, "0.2"},
	{"carrier", "carrier", SLOW, "", true, "0.2"},
	{"carrier-call", "carrier", SLOW, "block_in_call", true, "0.2"},
	{"convoy-computes", "convoy", SLOW, "", true, "0.2"},
	{"convoy-call", "convoy", SLOW, "block_in_call", true, "0.2"},
	{"delay", "delay", SLOW, "compute_long_and_yield", true, "0.2"},
	{"delay-beside", "delay", SLOW, "compute_long_and_yield", true, "0.2"},
	{"pinned", "pinned", SLOW, "sleep_pinned", true, "0.2"},
	{"stack", "stack", SLOW, "fill", true, "0.2"},
	{"stack-once", "stack", SLOW, "fill_once", true, "0.2"},
	{"growth", "growth", SLOW, "begin", false, "2s"},
	{"limits", "limits", SLOW, "", false, "0.2"},
	{"forgotten", "forgotten", SLOW, "stay", true, "0.2"},
	{"signal", "signal", SLOW, "work", true, "0.2"},
	{"peer", "peer", SLOW, "ask", false, "0.2"},
	{"offload", "offload", SLOW, "call", true, "0.2"},
	{"failed", "failed", SLOW, "begin", true, "0.2"},
};

int main(void)
{
	return why_everywhere(troubles, sizeof troubles / sizeof *troubles);
}
