/* SPDX-License-Identifier: MIT */
/*
 * setting.h - what changing a setting from outside has in common, whatever the setting is
 *
 * Whether it may be changed at all, the entry in the audit ring for all that was done or refused, and what to say where no
 * runtime runs whose setting it could be.
 */
#ifndef FIB_SERVICE_SETTING_H
#define FIB_SERVICE_SETTING_H

#include "service/peer.h"

struct fib_setting {
	enum fib_wire_audit_what what;
	int64_t leave; /* the value of a request that only reads */
	/* The value in force; -ESRCH when no runtime runs. */
	int64_t (*read)(void);
	/* Put another one in force. The one before, or -ESRCH. */
	int64_t (*change)(int64_t wanted);
};

/* Remember the value of a request, which may be `leave`. False: nobody may change settings of this process, the peer was told. */
bool fib_setting_begin(struct fib_peer *peer, const struct fib_setting *setting, int64_t wanted);

/* There is no such value: one more entry in the audit ring. What is said to the peer is the caller's. */
void fib_setting_refused(const struct fib_peer *peer, const struct fib_setting *setting);

/* Change it unless it is only read, and read it back. False: no runtime runs, the peer was told. */
bool fib_setting_apply(struct fib_peer *peer, const struct fib_setting *setting,
		       int64_t *ret_before, int64_t *ret_now);

#endif
