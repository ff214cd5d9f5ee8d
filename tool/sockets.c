/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - find control sockets and the process that listens at each
 *
 * The kernel says which process listens at a socket (peer.c); that process is shown. The file's
 * name, the owners of file and folder, and the pid in an answer must only be consistent with it:
 *
 *   file name   An id of the process in one of its pid namespaces. So a program of a container that
 *               shares the folder is shown by its id here, and a program that uses the name of
 *               another one is not shown.
 *   owners      The user of the process, or root. Else a link may lead to another user's program.
 *
 * For programs of this user the name need not match, because the user chose it
 * (FIBER_CONTROL_PATH).
 *
 * A process that was killed or executed another program leaves its socket. Only a refused
 * connection proves that no process listens: a process of a container may have an id that is not
 * visible here.
 *
 * Root's search ends after FOLDERS folders of other users with sockets. A search for one process id
 * has no limits.
 */
#include "tool/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/folders.h"
#include "tool/peer.h"
#include "tool/report.h"
#include "tool/tool.h"
#include "inspect/text/escape.h"

#define FOLDERS 256  /* of other users */
#define SOCKETS 4096 /* in the folder of another user */
#define PLACES	4    /* named in a message */
#define LINES	8    /* about sockets that cannot be trusted */

/* -- what is left out -- */

struct search {
	tool_socket_fn *fn;
	void *context;
	size_t places;			   /* folders of other users with sockets */
	size_t left_folders, left_sockets; /* left out because of the limits */
	size_t odd_folders, odd_sockets;   /* not trusted */
	char first_odd[TOOL_PATH];
};

static char left[256];
static bool said; /* a command may search several times, but prints this once */

/* "1,744" */
static const char *grouped(size_t n, char buf[32])
{
	char digits[32];
	size_t length = (size_t)snprintf(digits, sizeof digits, "%zu", n), i, used = 0;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			buf[used++] = ',';
		buf[used++] = digits[i];
	}
	buf[used] = 0;
	return buf;
}

static void note_left(const struct search *s)
{
	char a[32], b[32];

	left[0] = 0;
	if (!s->left_folders && !s->left_sockets)
		return;
	snprintf(left, sizeof left,
		 "%s folder%s and %s socket%s of other users: name a process by its id or by the "
		 "path of its socket, or run this as its user",
		 grouped(s->left_folders, a), s->left_folders == 1 ? "" : "s",
		 grouped(s->left_sockets, b), s->left_sockets == 1 ? "" : "s");
}

static void say_left(const struct search *s)
{
	char plain[TOOL_PATH], more[64] = "", n[32];

	note_left(s);
	if (!said && s->odd_folders) {
		if (s->odd_folders > 1)
			snprintf(more, sizeof more, "; and %s more like it",
				 grouped(s->odd_folders - 1, n));
		tool_cannot("%s: passed over: it is not a directory that belongs to the user in "
			    "its name and that only this user can write to%s",
			    ins_escape(s->first_odd, plain, sizeof plain), more);
	}
	if (!said && s->odd_sockets > LINES)
		tool_cannot("left out: %s more sockets like these",
			    grouped(s->odd_sockets - LINES, n));
	if (!said && left[0])
		tool_cannot("left out: %s", left);
	said = true;
}

const char *tool_sockets_left(void)
{
	return left;
}

/* -- listeners -- */

/* A user can put any number of sockets into a folder: at most LINES of them are printed. */
static void pass_over(struct search *search, const struct tool_socket *s, const char *why)
{
	if (!said && search->odd_sockets < LINES)
		tool_socket_pass_over(s, why);
	search->odd_sockets++;
}

/* Leave out a socket whose listener is not the process of its name. */
static void pass_over_liar(struct search *search, const struct tool_socket *s, const char *follows)
{
	char why[512];

	pass_over(search, s, tool_socket_instead(s, follows, why, sizeof why));
}

/* Accept a listener with a full queue if the process of that id belongs to the folder's user. */
static bool believe(struct search *search, struct tool_socket *s)
{
	struct tool_peer peer;

	s->pid = s->named;
	s->uid = s->owner;
	s->known = false;
	if (tool_peer_look(s->named, s->owner, &peer) && peer.same_user)
		return true;
	pass_over(search, s,
		  "its queue of connections is full, so its listener is not known, and no "
		  "process with that id belongs to its user");
	return false;
}

static bool agrees(struct search *search, struct tool_socket *s, const struct tool_peer *peer,
		   uid_t file)
{
	char instead[64];

	s->pid = peer->pid;
	s->uid = peer->uid;
	s->known = true;
	if ((s->owner != s->uid && s->owner != 0) || (file != s->uid && file != 0)) {
		snprintf(instead, sizeof instead, ", and the %s belongs to uid %u",
			 s->owner != s->uid && s->owner != 0 ? "folder" : "file",
			 (unsigned)(s->owner != s->uid && s->owner != 0 ? s->owner : file));
		pass_over_liar(search, s, instead);
		return false;
	}
	if (!peer->same_user) {
		pass_over_liar(search, s, ", and runs as another user now");
		return false;
	}
	if (!s->pid || s->uid == geteuid() || tool_peer_has_number(peer, s->named))
		return true;
	snprintf(instead, sizeof instead, ", and not process %d", (int)s->named);
	pass_over_liar(search, s, instead);
	return false;
}

/* Whether the socket has a listener that may be shown. */
static bool judge(struct search *search, struct tool_socket *s)
{
	struct tool_peer peer;
	struct stat st;

	if (lstat(s->path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	switch (tool_peer_ask(s->path, &peer)) {
	case 0:
		return agrees(search, s, &peer, st.st_uid);
	case -ECONNREFUSED:
		tool_sockets_tidy(s);
		return false;
	case -ESRCH:
		pass_over(search, s,
			  "the process that made it has ended, and another one holds it");
		return false;
	case -ENOENT:
	case -ENOTSOCK:
	case -EPROTOTYPE:
	case -ENAMETOOLONG:
		return false;
	default:
		return believe(search, s);
	}
}

/* -- looking through the folders -- */

static int look_into(struct search *search, const char *path, uid_t owner, bool foreign)
{
	struct tool_socket s = {.owner = owner};
	struct dirent *entry;
	size_t sockets = 0;
	int rc = 0;
	DIR *dir = opendir(path);

	while (dir && rc == 0 && (entry = readdir(dir))) {
		s.named = tool_socket_number(entry->d_name);
		if (!s.named || (size_t)snprintf(s.path, sizeof s.path, "%s/%s", path,
						 entry->d_name) >= sizeof s.path)
			continue;
		if (foreign && !sockets && search->places == FOLDERS) {
			search->left_folders++;
			break;
		}
		if (foreign && !sockets)
			search->places++;
		if (foreign && sockets >= SOCKETS)
			search->left_sockets++;
		else if (judge(search, &s))
			rc = search->fn(search->context, &s);
		sockets++;
	}
	if (dir)
		closedir(dir);
	return rc;
}

int tool_sockets_each(tool_socket_fn *fn, void *context)
{
	struct search search = {.fn = fn, .context = context};
	struct tool_folders all;
	uid_t owner;
	size_t i;
	int rc = 0;

	tool_folders_find(&all);
	for (i = 0; rc == 0 && i < all.count; i++) {
		switch (tool_folder_look(&all.at[i], &owner)) {
		case TOOL_FOLDER_ABSENT:
			break;
		case TOOL_FOLDER_TRUSTED:
			rc = look_into(&search, all.at[i].path, owner, all.at[i].user != geteuid());
			break;
		case TOOL_FOLDER_ODD:
			if (!search.odd_folders++)
				snprintf(search.first_odd, sizeof search.first_odd, "%s",
					 all.at[i].path);
			break;
		}
	}
	tool_folders_free(&all);
	say_left(&search);
	return rc;
}

const char *tool_sockets_places(char *buf, size_t size)
{
	struct tool_folders all;
	size_t i, used = 0;
	char n[32];

	tool_folders_find(&all);
	buf[0] = 0;
	for (i = 0; i < all.count && i < PLACES && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "",
					 all.at[i].path);
	if (i < all.count && used < size)
		snprintf(buf + used, size - used, ", and %s more", grouped(all.count - i, n));
	tool_folders_free(&all);
	return buf;
}
