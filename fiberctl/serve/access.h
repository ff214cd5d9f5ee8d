/* SPDX-License-Identifier: MIT */
/*
 * access.h - decide whether a request may be answered
 *
 * A page of another site can make a browser send requests to this server. Three checks prevent
 * that it learns or changes anything. The Host of a request must be a name of this server, so a
 * foreign name that resolves to this address is refused (DNS rebinding). An Origin must be this
 * server. A change needs the token of the page, which only a page of this server can read.
 */
#ifndef SERVE_ACCESS_H
#define SERVE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

/* Characters of a token. */
#define SERVE_TOKEN_LEAST 16
#define SERVE_TOKEN_MOST  256

struct serve_access {
	char host[80]; /* "127.0.0.1", "[::1]"; "": a UNIX socket */
	unsigned port;
	bool loopback;			  /* only this machine can connect */
	char token[SERVE_TOKEN_MOST + 1]; /* that every request needs; "": none */
	bool changes;			  /* --allow-changes */
	char page_token[33];		  /* that a change needs */
};

/* The headers of a request; NULL: absent. */
struct serve_headers {
	const char *host, *origin, *fetch_site, *authorization, *page_token;
};

/*
 * Check a request. open: it asks for a file of the page, which has no secrets and shows the form
 * for the token. changes: it is a POST. Returns 0, or the HTTP status of the refusal with its
 * reason in *ret_why.
 */
unsigned serve_access_check(const struct serve_access *access, const struct serve_headers *headers,
			    bool open, bool changes, const char **ret_why);

/* Compare two texts in a time that depends only on the length of `given`. */
bool serve_access_same(const char *secret, const char *given);

/* Read a token from a file: its first line. False after a line on stderr. */
bool serve_access_read_token(const char *path, char ret[SERVE_TOKEN_MOST + 1]);

/* Make the token of the page. False: the system has no random bytes. */
bool serve_access_make_token(char ret[33]);

#endif
