/* SPDX-License-Identifier: MIT */
/* as_user.c - the command line that runs this tool as another user */
#include "inspect/text/as_user.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

/* A name that a shell takes as one word. */
static int is_plain(const char *name)
{
	return name[0] && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789._-")];
}

const char *ins_as_user(uid_t uid, char buf[INS_AS_USER_SIZE])
{
	const struct passwd *pw = getpwuid(uid);

	if (uid == 0)
		snprintf(buf, INS_AS_USER_SIZE, "sudo %.20s ...", program_invocation_short_name);
	else if (pw && strlen(pw->pw_name) < 40 && is_plain(pw->pw_name))
		snprintf(buf, INS_AS_USER_SIZE, "sudo -u %s %.20s ...", pw->pw_name,
			 program_invocation_short_name);
	else
		snprintf(buf, INS_AS_USER_SIZE, "sudo -u '#%u' %.20s ...", (unsigned)uid,
			 program_invocation_short_name);
	return buf;
}
