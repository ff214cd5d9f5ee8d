/* SPDX-License-Identifier: MIT */
/*
 * one_page.h - programs, a server that shows only these, and its page in a browser
 *
 * A view is ready when it has shown its first answers: its element then has data-ready.
 */
#ifndef HARNESS_CLI_ONE_PAGE_H
#define HARNESS_CLI_ONE_PAGE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/cli/browser.h"

#define PAGE_PROGRAMS 4

static struct harness_process *page_programs[PAGE_PROGRAMS], *page_server;
static char page_address[64]; /* http://127.0.0.1:PORT */
static struct browser *page;

static const char *const page_ready = "document.querySelector('.view[data-ready]') !== null";

/* Start the server on a port, "0" for any, with the programs that were started. */
static inline void page_serve(const char *port)
{
	static const char line[] = "fiberctl: serving on ";
	const char *word[PAGE_PROGRAMS] = {NULL};
	char where[32];
	size_t i, n = 0;

	for (i = 0; i < PAGE_PROGRAMS; i++)
		if (page_programs[i])
			word[n++] = cli_number((uint64_t)page_programs[i]->pid);
	snprintf(where, sizeof where, "127.0.0.1:%s", port);
	page_server = cli_start(NULL, line, "fiberctl", "serve", "--allow-changes", "--listen",
				where, word[0], word[1], word[2], word[3], NULL);
	snprintf(page_address, sizeof page_address, "%s", page_server->line + sizeof line - 1);
	page_address[strcspn(page_address, "\n")] = 0;
	if (page_address[strlen(page_address) - 1] == '/')
		page_address[strlen(page_address) - 1] = 0;
}

/* Change the part of the address after '#', and wait until that view is ready. */
static inline void page_at(const char *hash)
{
	char expression[2 * HARNESS_PATH];

	snprintf(expression, sizeof expression,
		 "location.hash === `%s` || (document.querySelector('.view').dataset.old = 'yes', "
		 "location.hash = `%s`)",
		 hash, hash);
	json_decref(browser_value(page, expression));
	browser_wait(page, "document.querySelector('.view[data-ready]:not([data-old])') !== null");
}

/* Open a view of the i-th program: "fibers", "fiber/3" or "" for the overview. */
static inline void page_view(unsigned i, const char *view)
{
	char hash[128];

	snprintf(hash, sizeof hash, "#/process/%d%s%s", page_programs[i]->pid, *view ? "/" : "",
		 view);
	page_at(hash);
}

/* The number of elements that a selector finds; the text of the first one. */
static inline json_int_t page_count(const char *selector)
{
	char expression[256];

	snprintf(expression, sizeof expression, "document.querySelectorAll(`%s`).length", selector);
	return browser_number(page, expression);
}

static inline const char *page_text(const char *selector)
{
	char expression[256];

	snprintf(expression, sizeof expression, "document.querySelector(`%s`).textContent",
		 selector);
	return browser_text(page, expression);
}

/* Wait until the text of the page has these words. */
static inline void page_says(const char *words)
{
	char expression[512];

	snprintf(expression, sizeof expression, "document.body.innerText.includes(`%s`)", words);
	browser_wait(page, expression);
}

/* Follow the first link that a selector finds and whose text is this. */
static inline void page_follow(const char *selector, const char *words)
{
	char expression[512];

	snprintf(expression, sizeof expression,
		 "[...document.querySelectorAll(`%s`)].some((a) => a.textContent.trim() === `%s` "
		 "&& (a.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})), "
		 "true))",
		 selector, words);
	browser_wait(page, expression);
}

/* The group's setup, after page_programs[] was filled, and its teardown. */
static inline int page_open(void)
{
	char address[80];

	page_serve("0");
	snprintf(address, sizeof address, "%s/", page_address);
	page = browser_open(address, page_ready);
	return 0;
}

static inline int page_close(void **state)
{
	size_t i;

	(void)state;
	assert_int_equal(browser_faults(page), 0);
	assert_int_equal(browser_requests(page), 0);
	browser_close(page);
	harness_free(page_server);
	for (i = 0; i < PAGE_PROGRAMS; i++)
		harness_free(page_programs[i]);
	return 0;
}

#endif
