/* SPDX-License-Identifier: MIT */
/*
 * table.h - an HTTP server whose connections share one table, for libfiber and its peers in C
 *
 * The table has 1,024 entries of 64 bytes. "GET /KEY" answers with an entry; "POST /KEY" fills the
 * entry with another letter and answers with it. The client is build/bench/table_client, a process
 * of its own. It sends a request only after the answer to the one before it, and a request is short
 * enough to arrive in one piece.
 *
 * The lock is the server's: it calls table_answer_of() with the lock held and nothing else.
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include <spawn.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/work.h"
#include "fixtures/listen.h"

#define TABLE_CONNECTIONS 100
#define TABLE_KEYS	  1024
#define TABLE_ENTRY	  64
#define TABLE_HEAD	  "HTTP/1.1 200 OK\r\nContent-Length: 64\r\n\r\n"
#define TABLE_ANSWER	  (sizeof(TABLE_HEAD) - 1 + TABLE_ENTRY)
#define TABLE_ROOM	  512 /* for a request */
#define TABLE_PATIENCE	  10  /* s that the client may take for the next connection */

static char table_entries[TABLE_KEYS][TABLE_ENTRY];

struct table_request {
	bool write;
	unsigned key;
};

/* Parse a request of n bytes; bytes has room for one more. */
static inline struct table_request table_parse(char *bytes, ssize_t n)
{
	struct table_request request = {.write = bytes[0] == 'P'};
	const char *key;

	bytes[n] = '\0';
	key = strchr(bytes, '/');
	if (n < 4 || strcmp(bytes + n - 4, "\r\n\r\n") != 0 || !key)
		work_die("the request");
	request.key = (unsigned)strtoul(key + 1, NULL, 10) % TABLE_KEYS;
	return request;
}

/* Write the entry if asked to, and copy it to answer. The caller holds the lock. */
static inline void table_answer_of(struct table_request request, char answer[TABLE_ANSWER])
{
	char *entry = table_entries[request.key];

	if (request.write)
		memset(entry, entry[0] == 'z' ? 'a' : entry[0] + 1, TABLE_ENTRY);
	memcpy(answer + sizeof(TABLE_HEAD) - 1, entry, TABLE_ENTRY);
}

/* Fill the table and listen. Returns the descriptor; *ret_port: the port. */
static inline int table_open(unsigned *ret_port)
{
	memset(table_entries, 'a', sizeof(table_entries));
	return listen_local(0, false, 0, ret_port);
}

/*
 * Start the client, which sends that many requests to the port over TABLE_CONNECTIONS connections
 * and prints what one of them cost this process. Returns its process id.
 */
static inline pid_t table_client_start(unsigned port, long requests)
{
	char path[4096], port_text[16], connections[16], count[24], server[16];
	char *const argv[] = {path, port_text, connections, count, server, NULL};
	const char *folder = getenv("BENCH_PROGRAMS");
	extern char **environ;
	pid_t pid;

	if (!folder)
		work_die("to find table_client in the folder BENCH_PROGRAMS");
	snprintf(path, sizeof(path), "%s/table_client", folder);
	snprintf(port_text, sizeof(port_text), "%u", port);
	snprintf(connections, sizeof(connections), "%d", TABLE_CONNECTIONS);
	snprintf(count, sizeof(count), "%ld", requests);
	snprintf(server, sizeof(server), "%ld", (long)getpid());
	if (posix_spawn(&pid, path, NULL, NULL, argv, environ))
		work_die("posix_spawn of table_client");
	return pid;
}

/* End the program if the client failed. status: from waitpid(2). */
static inline void table_client_check(int status)
{
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		work_die("table_client");
}

#endif
