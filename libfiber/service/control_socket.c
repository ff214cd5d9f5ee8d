/* SPDX-License-Identifier: MIT */
/*
 * control_socket.c - create the control socket
 *
 * A client can read every fiber's stack, so the socket must be private from its first moment. /tmp
 * is writable for all users: another user may have put a folder there, or a link to one. So the
 * folder must be a real directory, owned by this user and closed to others; otherwise there is no
 * control socket. The socket is bound under a draft name, made private, and then renamed. So it is
 * usable as soon as it has its name.
 *
 * A killed program leaves its socket. Only a refused connection proves that no process listens: a
 * container may share the folder and not the process ids. But a connection wakes the program, and
 * the folder may hold many sockets. So a socket is only probed if the process in its name does not
 * exist, or did not make it (fib_wire_mark()). A draft does not listen at first, so it is removed
 * only when it is old.
 */
#include "service/control_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "os/os.h"
#include "service/peer.h"

#define WITHOUT	  "going on without a control socket"
#define BACKLOG	  16
#define DRAFT_AGE 60 /* s; bind() to rename() takes far less */

static int refuse(const char *path, const char *why, int rc)
{
	fib_log("control socket: %.200s: %s; " WITHOUT, path, why);
	return rc;
}

static int refuse_error(const char *path, int rc)
{
	return refuse(path, strerrordesc_np(-rc), rc);
}

static int check_folder(const char *folder)
{
	struct fib_os_entry entry;
	int rc = fib_os_make_folder(folder, 0700);

	if (rc < 0 && rc != -EEXIST)
		return refuse_error(folder, rc);
	rc = fib_os_look(folder, &entry);
	if (rc < 0)
		return refuse_error(folder, rc);
	if (!entry.folder)
		return refuse(folder, "is not a directory but a link or a file: remove it",
			      -ENOTDIR);
	if (entry.owner != fib_os_uid())
		return refuse(folder, "belongs to another user: remove it or set XDG_RUNTIME_DIR",
			      -EPERM);
	if (entry.mode & 077)
		return refuse(folder, "is open to other users: chmod 700 it", -EPERM);
	return 0;
}

struct tidying {
	const char *folder;
};

/*
 * The pid in "<pid>.sock", or in the draft name ".<pid>" of a program that died early. 0: neither.
 */
static pid_t pid_of(const char *name)
{
	const char *digits = name[0] == '.' ? name + 1 : name;
	char *end;
	long pid;

	if (digits[0] < '1' || digits[0] > '9')
		return 0;
	pid = strtol(digits, &end, 10);
	if (strcmp(end, name[0] == '.' ? "" : ".sock") != 0 || pid > INT32_MAX)
		return 0;
	return (pid_t)pid;
}

/* Whether the process in the file's name seems to have made it. */
static bool has_maker(pid_t pid, const struct fib_os_entry *entry)
{
	uint64_t started;

	return fib_os_pid_exists(pid) &&
	       (!fib_wire_marked(entry->modified) || fib_os_started(pid, &started) < 0 ||
		entry->modified == fib_wire_mark(started));
}

static void remove_if_stale(void *arg, const char *name)
{
	const struct tidying *t = arg;
	struct fib_os_entry before, after;
	const pid_t pid = pid_of(name);
	char path[4200];

	if (!pid)
		return;
	snprintf(path, sizeof path, "%s/%s", t->folder, name);
	if (fib_os_look(path, &before) < 0 || (name[0] == '.' && before.age < DRAFT_AGE) ||
	    has_maker(pid, &before) || fib_os_local_probe(path) != -ECONNREFUSED)
		return;
	/* Meanwhile a program that starts may have put its own socket there. */
	if (fib_os_look(path, &after) == 0 && after.device == before.device &&
	    after.inode == before.inode)
		fib_os_unlink(path);
}

/* Make sure that path is free, or holds a socket without a listener. */
static int clear_path(const char *path)
{
	int rc = fib_os_local_probe(path);

	if (rc == -ENOENT)
		return 0;
	if (rc == 0 && fib_os_local_ours(path))
		return refuse(path,
			      "another copy of libfiber in this process listens there: link the "
			      "program and its libraries with libfiber.so",
			      -EADDRINUSE);
	if (rc == 0)
		return refuse(path, "another process listens there: set FIBER_CONTROL_PATH",
			      -EADDRINUSE);
	if (rc == -ENOTSOCK)
		return refuse(path, "exists and is not a socket: remove it", -EEXIST);
	if (rc != -ECONNREFUSED)
		return refuse_error(path, rc);
	return 0; /* rename() replaces it */
}

/* Listen under the draft name. Replaces one left by a process that had the same pid. */
static int listen_at(const char *draft)
{
	int fd = fib_os_local_listen(draft, BACKLOG);

	if (fd != -EADDRINUSE || fib_os_local_probe(draft) != -ECONNREFUSED)
		return fd;
	fib_os_unlink(draft);
	return fib_os_local_listen(draft, BACKLOG);
}

/*
 * Mark the file with the start time of this process. Without it the tools know less of a stale
 * socket.
 */
static void mark(const char *draft)
{
	uint64_t started;

	if (fib_os_started(getpid(), &started) == 0)
		fib_os_set_modified(draft, fib_wire_mark(started));
}

int fib_control_socket_open(struct fib_control_socket *control_socket,
			    const struct fib_socket_path *socket_path)
{
	struct tidying t = {.folder = socket_path->folder};
	struct fib_os_entry entry = {0};
	int fd, rc;

	control_socket->fd = -1;
	rc = socket_path->own_folder ? check_folder(socket_path->folder) : 0;
	if (rc < 0)
		return rc;
	if (socket_path->own_folder)
		fib_os_each_entry(socket_path->folder, remove_if_stale, &t);
	rc = clear_path(socket_path->path);
	if (rc < 0)
		return rc;
	fd = listen_at(socket_path->draft);
	if (fd < 0)
		return refuse_error(socket_path->draft, fd);
	mark(socket_path->draft);
	rc = fib_os_rename(socket_path->draft, socket_path->path);
	if (rc == 0)
		rc = fib_os_look(socket_path->path, &entry);
	if (rc < 0) {
		fib_os_unlink(socket_path->draft);
		fib_os_close(fd);
		return refuse_error(socket_path->path, rc);
	}
	control_socket->fd = fd;
	control_socket->device = entry.device;
	control_socket->inode = entry.inode;
	strcpy(control_socket->path, socket_path->path);
	return 0;
}

void fib_control_socket_close(struct fib_control_socket *control_socket)
{
	struct fib_os_entry entry;

	if (control_socket->fd < 0 && !control_socket->shut)
		return;
	control_socket->shut = false;
	if (fib_os_look(control_socket->path, &entry) == 0 &&
	    entry.device == control_socket->device && entry.inode == control_socket->inode)
		fib_os_unlink(control_socket->path);
	if (control_socket->fd >= 0)
		fib_os_close(control_socket->fd);
	control_socket->fd = -1;
}

void fib_control_socket_shut(struct fib_control_socket *control_socket, const char *call)
{
	if (control_socket->fd < 0)
		return;
	fib_log("control socket: the program's sandbox refuses %s; " WITHOUT, call);
	fib_os_close(control_socket->fd);
	control_socket->fd = -1;
	control_socket->shut = true;
}

/* Whether the client is authorized. If not, it gets the reason and fd is closed. */
static bool check_visitor(int fd, struct fib_os_who *ret)
{
	const int rc = fib_os_local_who(fd, ret);

	if (rc == 0 && (ret->uid == 0 || ret->uid == fib_os_uid()))
		return true;
	fib_peer_turn_away(
		fd, rc < 0 ? rc : -EPERM,
		rc < 0 ? "the program's sandbox refuses getsockopt, so it cannot tell who asks: "
			 "allow that call (libfiber(7)) or use fibertrace"
		       : "this process belongs to another user: be that user or root");
	return false;
}

int fib_control_socket_accept(struct fib_control_socket *control_socket, struct fib_os_who *ret)
{
	const int fd = fib_os_local_accept(control_socket->fd);

	if (fd >= 0)
		return check_visitor(fd, ret) ? fd : -EAGAIN;
	/*
	 * A sandbox is never lifted. With the socket closed clients fail at once and do not wait in
	 * vain.
	 */
	if (!fib_os_is_refusal(fd))
		return fd;
	fib_control_socket_shut(control_socket, "accept4");
	return -EAGAIN;
}
