/* SPDX-License-Identifier: MIT */
/*
 * test_libxml2.c - libxml2, which computes and reads descriptors, on fibers
 *
 * Each fiber parses a document of its own, from memory and from a socket. A parser that reads a
 * socket parks in read(2) in the middle of the document. What libxml2 keeps for each thread, such as
 * the last error, belongs to the carrier here; what it keeps in a parser belongs to the fiber.
 */
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <libxml/xmlreader.h>
#include <libxml/xpath.h>

#include "tests/posix/hundred.h"
#include "tests/posix/waiting.h"

#include <sys/socket.h>
#include <unistd.h>

#define ITEMS 500
#define QUIET (XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NONET)

/* A document of this fiber; *size is its length. Freed by the caller. */
static char *document(int fiber, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<list fiber=\"%d\">", fiber);
	for (int i = 0; i < ITEMS; i++)
		fprintf(out, "<item number=\"%d\"><b>&lt;%d&gt; \xc3\xa9</b></item>\n", i, fiber);
	fputs("</list>\n", out);
	fclose(out);
	return text;
}

/* Whether the tree is the fiber's document. */
static bool is_right(xmlDoc *doc, int fiber)
{
	const int numbers = ITEMS * (ITEMS - 1) / 2;
	char expected[32];
	xmlXPathContext *context = xmlXPathNewContext(doc);
	xmlXPathObject *sum =
		context ? xmlXPathEval(BAD_CAST "sum(//item/@number)", context) : NULL;
	xmlXPathObject *last =
		context ? xmlXPathEval(BAD_CAST "string(//item[500]/b)", context) : NULL;
	bool right;

	snprintf(expected, sizeof expected, "<%d> \xc3\xa9", fiber);
	right = sum && last && sum->floatval == numbers &&
		strcmp((const char *)last->stringval, expected) == 0;
	xmlXPathFreeObject(last);
	xmlXPathFreeObject(sum);
	xmlXPathFreeContext(context);
	return right;
}

/* -- memory -- */

static void *parses_memory(void *arg)
{
	const int fiber = (int)(intptr_t)arg;
	size_t size;
	char *text = document(fiber, &size);
	xmlDoc *doc = xmlReadMemory(text, (int)size, NULL, NULL, QUIET), *again;
	xmlChar *dump;
	int length;

	fiber_yield();
	must(doc && is_right(doc, fiber));
	xmlDocDumpMemory(doc, &dump, &length);
	fiber_yield();
	again = xmlReadMemory((const char *)dump, length, NULL, NULL, QUIET);
	must(again && is_right(again, fiber));
	xmlFreeDoc(again);
	xmlFree(dump);
	xmlFreeDoc(doc);
	free(text);
	return arg;
}

static void test_hundred_fibers_parse_print_and_parse_again(void **state)
{
	(void)state;
	hundred_run_well(parses_memory);
}

/* -- sockets -- */

static int ends[FIBERS][2];
static atomic_bool all_wait;

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		const ssize_t n = write(fd, bytes, size);

		if (n < 0)
			return false;
		bytes += n;
		size -= (size_t)n;
	}
	return true;
}

/* Half of the document, and when all parsers wait for more, the rest; of odd fibers a wrong one. */
static void *sends(void *arg)
{
	const int fiber = (int)(intptr_t)arg;
	size_t size;
	char *text = document(fiber, &size);

	must(write_all(ends[fiber][1], text, size / 2));
	while (!all_wait)
		usleep(1000);
	must(write_all(ends[fiber][1], text + size / 2, size / 2 - 20));
	if (fiber % 2 == 0)
		must(write_all(ends[fiber][1], text + size / 2 * 2 - 20, size + 20 - size / 2 * 2));
	close(ends[fiber][1]);
	free(text);
	return arg;
}

static void *parses_a_socket(void *arg)
{
	const int fiber = (int)(intptr_t)arg;
	xmlParserCtxt *parser = xmlNewParserCtxt();
	xmlDoc *doc = xmlCtxtReadFd(parser, ends[fiber][0], NULL, NULL, QUIET);

	if (fiber % 2 == 0) {
		must(doc && is_right(doc, fiber) && parser->wellFormed && !parser->errNo);
	} else {
		must(!doc && !parser->wellFormed);
		must(parser->lastError.level == XML_ERR_FATAL);
		/* With a sanitizer the last error is the carrier's. */
		must(*harness_sanitizer() || xmlGetLastError()->ctxt == parser);
	}
	xmlFreeDoc(doc);
	xmlFreeParserCtxt(parser);
	close(ends[fiber][0]);
	return arg;
}

/* The same by the reader, which has a node at a time. */
static void *reads_a_socket(void *arg)
{
	const int fiber = (int)(intptr_t)arg;
	xmlTextReader *reader = xmlReaderForFd(ends[fiber][0], NULL, NULL, QUIET);
	int items = 0, e;

	while ((e = xmlTextReaderRead(reader)) == 1)
		items += xmlTextReaderNodeType(reader) == XML_READER_TYPE_ELEMENT &&
			 strcmp((const char *)xmlTextReaderConstName(reader), "item") == 0;
	must(e == (fiber % 2 ? -1 : 0));
	must(fiber % 2 ? items <= ITEMS : items == ITEMS);
	xmlFreeTextReader(reader);
	close(ends[fiber][0]);
	return arg;
}

static void *feeds_when_all_wait(void *fn)
{
	struct fiber *parsers[FIBERS], *senders[FIBERS];

	spawn_all(*(fiber_fn **)fn, parsers);
	spawn_all(sends, senders);
	waiting_until("fd", FIBERS);
	all_wait = true;
	join_all(parsers);
	join_all(senders);
	return NULL;
}

static void parsers_wait_at_once(fiber_fn *fn)
{
	all_wait = false;
	for (int i = 0; i < FIBERS; i++)
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
	carriers_run_well(feeds_when_all_wait, &fn);
}

static void test_hundred_parsers_wait_in_the_middle_of_their_documents(void **state)
{
	(void)state;
	parsers_wait_at_once(parses_a_socket);
}

static void test_hundred_readers_wait_in_the_middle_of_their_documents(void **state)
{
	(void)state;
	parsers_wait_at_once(reads_a_socket);
}

static int start(void **state)
{
	(void)state;
	xmlInitParser();
	return 0;
}

static int finish(void **state)
{
	(void)state;
	xmlCleanupParser();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hundred_fibers_parse_print_and_parse_again),
		cmocka_unit_test(test_hundred_parsers_wait_in_the_middle_of_their_documents),
		cmocka_unit_test(test_hundred_readers_wait_in_the_middle_of_their_documents),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, finish);
}
