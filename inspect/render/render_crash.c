/* SPDX-License-Identifier: MIT */
/* render_crash.c - the signal that ended a program, in words and as JSON. */
#include "inspect/render/render_crash.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "inspect/render/render.h"
#include "inspect/text/escape.h"

/* "SIGSEGV"; "" for a signal without a name. */
static const char *signal_name(int number, char *buf, size_t size)
{
	const char *name = sigabbrev_np(number);

	snprintf(buf, size, "%s%s", name ? "SIG" : "", name ? name : "");
	return buf;
}

const char *ins_crash_text(const struct ins_crash *crash, char *buf, size_t size)
{
	char name[sizeof crash->name * 4 + 4] = "", known[32], more[64] = "", who[sizeof name + 48];

	if (crash->name[0]) {
		char plain[sizeof crash->name * 4];

		snprintf(name, sizeof name, " \"%s\"",
			 ins_escape_quoted(crash->name, plain, sizeof plain));
	}
	if (crash->fiber)
		snprintf(who, sizeof who, "fiber %" PRIu64 "%s was running", crash->fiber, name);
	else
		snprintf(who, sizeof who, "thread %d ran no fiber", (int)crash->thread);
	if (crash->sender)
		snprintf(more, sizeof more, ", sent by process %d", (int)crash->sender);
	else if (crash->has_address)
		snprintf(more, sizeof more, ", for address 0x%" PRIx64, crash->address);
	signal_name(crash->signal, known, sizeof known);
	snprintf(buf, size, "%s when signal %d%s%s%s came at 0x%" PRIx64 "%s", who, crash->signal,
		 known[0] ? " (" : "", known, known[0] ? ")" : "", crash->pc, more);
	return buf;
}

json_t *ins_crash_json(const struct ins_crash *crash)
{
	char known[32];

	if (!crash)
		return json_null();
	signal_name(crash->signal, known, sizeof known);
	return json_pack(
		"{s:i, s:o, s:i, s:o, s:o, s:o, s:o}", "signal", crash->signal, "signalName",
		known[0] ? json_string(known) : json_null(), "thread", (int)crash->thread, "sender",
		crash->sender ? json_integer(crash->sender) : json_null(), "pc",
		ins_json_address(crash->pc), "address",
		crash->has_address ? ins_json_address(crash->address) : json_null(), "fiberId",
		crash->fiber ? json_integer((json_int_t)crash->fiber) : json_null());
}
