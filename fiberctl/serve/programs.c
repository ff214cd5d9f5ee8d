/* SPDX-License-Identifier: MIT */
/*
 * programs.c - the programs of this user that can be asked
 *
 * A search connects to each socket, and a program may be slow to answer. So a child process
 * searches. A program creates its socket when it starts and removes it when it ends, and both change
 * the folder's time of modification.
 */
#include "fiberctl/serve/programs.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inspect/text/duration.h"
#include "tool/folders.h"
#include "tool/process.h"
#include "tool/report.h"
#include "tool/tool.h"
#include "tool/round.h"

#define LOOK_EVERY  INT64_C(1000000000)
#define SEARCH_TIME INT64_C(5000000000)
#define SEARCH_MOST (8u << 20) /* bytes of a result */

/* -- the search, in a child -- */

static void put_found(const struct tool_asked *one, struct fib_wire_process *process)
{
	static struct serve_found found;

	if (one->rc == -ECONNREFUSED || one->rc == -ENOENT || one->rc == -ESTALE) {
		tool_sockets_tidy(&one->socket);
		return;
	}
	if (one->socket.uid != geteuid() ||
	    (one->rc == 0 && !tool_socket_says(&one->socket, process)))
		return;
	found = (struct serve_found){.socket = one->socket,
				     .started = tool_process_started(one->socket.pid)};
	if (one->rc == 0)
		snprintf(found.name, sizeof found.name, "%s", process->name);
	fwrite(&found, sizeof found, 1, stdout);
}

static int search(void *context)
{
	struct fib_wire_process *process = NULL;
	struct tool_round round;
	size_t i;

	(void)context;
	if (tool_round_gather(&round) < 0)
		return TOOL_CANNOT;
	if (round.count)
		process = tool_round_hello(&round, TOOL_HELLO_TIMEOUT);
	for (i = 0; process && i < round.count; i++)
		put_found(&round.all[i], &process[i]);
	free(process);
	return TOOL_WELL;
}

/* -- in the server -- */

bool serve_found_has_ended(const struct serve_found *found)
{
	return found->started && tool_process_started(found->socket.pid) != found->started;
}

static uint64_t mix(uint64_t hash, uint64_t n)
{
	return (hash ^ n) * UINT64_C(0x100000001b3);
}

/* The state of this user's folders, and whether the known programs exist. */
static uint64_t state_of(const struct serve_programs *p)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	struct tool_folders folders = {0};
	struct stat folder;
	size_t i;

	tool_folders_find(&folders);
	for (i = 0; i < folders.count; i++) {
		if (folders.at[i].user != geteuid() || stat(folders.at[i].path, &folder) < 0)
			continue;
		hash = mix(hash, (uint64_t)folder.st_mtim.tv_sec);
		hash = mix(hash, (uint64_t)folder.st_mtim.tv_nsec);
		hash = mix(hash, folder.st_ino);
	}
	tool_folders_free(&folders);
	for (i = 0; i < p->count; i++)
		hash = mix(hash, tool_process_started(p->all[i].socket.pid));
	return hash;
}

static void begin_search(struct serve_programs *p, int64_t now)
{
	p->search_began = now;
	serve_capture_call(&p->search, search, NULL, SEARCH_MOST);
}

static bool is_served(const struct serve_programs *p, const struct serve_found *found)
{
	char number[16];
	size_t i;

	snprintf(number, sizeof number, "%d", (int)found->socket.pid);
	for (i = 0; p->only && p->only[i]; i++)
		if (strcmp(p->only[i], number) == 0 || strcmp(p->only[i], found->name) == 0)
			return true;
	return !p->only;
}

static void keep(struct serve_programs *p, struct serve_found *all, size_t count)
{
	size_t i, k = 0;

	for (i = 0; i < count; i++)
		if (is_served(p, &all[i]))
			all[k++] = all[i];
	free(p->all);
	p->all = all;
	p->count = k;
	p->folders = state_of(p);
}

void serve_programs_take(struct serve_programs *p)
{
	size_t size;
	char *bytes;

	if (serve_capture_wait(&p->search, SEARCH_TIME) == TOOL_WELL) {
		bytes = serve_capture_read(p->search.out, &size);
		if (bytes)
			keep(p, (struct serve_found *)(void *)bytes,
			     size / sizeof(struct serve_found));
	}
	serve_capture_drop(&p->search);
}

bool serve_programs_begin(struct serve_programs *p, const char *const *only)
{
	*p = (struct serve_programs){.only = only, .search = SERVE_NO_CAPTURE};
	begin_search(p, ins_duration_now());
	if (!p->search.pid)
		return tool_cannot("cannot start a process"), false;
	serve_programs_take(p);
	return true;
}

void serve_programs_look(struct serve_programs *p, int64_t now)
{
	if (p->search.pid && now - p->search_began > SEARCH_TIME)
		serve_capture_drop(&p->search);
	if (p->search.pid || now - p->looked_at < LOOK_EVERY)
		return;
	p->looked_at = now;
	if (state_of(p) != p->folders)
		begin_search(p, now);
}

const struct serve_found *serve_programs_find(const struct serve_programs *p, const char *who,
					      bool *ret_several)
{
	const struct serve_found *found = NULL;
	char number[16];
	size_t i;

	*ret_several = false;
	for (i = 0; i < p->count; i++) {
		snprintf(number, sizeof number, "%d", (int)p->all[i].socket.pid);
		if (strcmp(number, who) == 0)
			return &p->all[i];
	}
	for (i = 0; i < p->count; i++) {
		if (strcmp(p->all[i].name, who) != 0)
			continue;
		*ret_several = found != NULL;
		found = &p->all[i];
	}
	return *ret_several ? NULL : found;
}

void serve_programs_end(struct serve_programs *p)
{
	serve_capture_drop(&p->search);
	free(p->all);
	p->all = NULL;
	p->count = 0;
}
