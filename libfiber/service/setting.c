/* SPDX-License-Identifier: MIT */
/* setting.c - what all commands that change a setting share */
#include "service/setting.h"

#include <errno.h>

#include "service/answer.h"
#include "service/audit.h"

/* If no runtime runs, there is no previous value. */
static void note(const struct fib_peer *peer, const struct fib_setting *setting, int64_t before,
		 int result)
{
	fib_audit(peer, setting->what, before < 0 ? 0 : (uint64_t)before,
		  (uint64_t)peer->cursor.setting, result);
}

bool fib_setting_begin(struct fib_peer *peer, const struct fib_setting *setting, int64_t wanted)
{
	peer->cursor.setting = wanted;
	if (wanted == setting->leave || fib_answer_mode() >= FIB_WIRE_RW)
		return true;
	note(peer, setting, setting->read(), -EPERM);
	fib_peer_error(peer, -EPERM,
		       "this process lets nobody change settings (FIBER_CONTROL=ro): start it with "
		       "FIBER_CONTROL=rw");
	return false;
}

void fib_setting_refused(const struct fib_peer *peer, const struct fib_setting *setting)
{
	note(peer, setting, setting->read(), -EINVAL);
}

bool fib_setting_apply(struct fib_peer *peer, const struct fib_setting *setting,
		       int64_t *ret_before, int64_t *ret_now)
{
	const int64_t wanted = peer->cursor.setting;
	const bool changes = wanted != setting->leave;

	*ret_before = changes ? setting->change(wanted) : setting->read();
	*ret_now = setting->read();
	if (changes)
		note(peer, setting, *ret_before, *ret_before < 0 ? (int)*ret_before : 0);
	if (*ret_before >= 0 && *ret_now >= 0)
		return true;
	fib_peer_error(peer, *ret_before < 0 ? (int)*ret_before : (int)*ret_now,
		       "no runtime runs in this process now");
	return false;
}
