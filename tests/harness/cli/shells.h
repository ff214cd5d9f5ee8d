/* SPDX-License-Identifier: MIT */
/*
 * shells.h - check what bash, zsh and fish complete in a command line of the tools
 *
 * Bash and zsh run on a terminal in which a line is typed; they print each completion as <word>
 * instead of inserting it. Fish prints the completions for a given line. The shells run in the
 * test's folder, which contains a file kept.fib and a folder kept.folder.
 */
#ifndef HARNESS_CLI_SHELLS_H
#define HARNESS_CLI_SHELLS_H

/* Start all three shells, with the built tools first in PATH; programs that the test starts later
 * have this PATH too. Setup of a group of tests, and its teardown; they return 0. */
int shells_start(void **state);
int shells_end(void **state);

/*
 * Assert that every shell offers each of the words (separated by blanks) at the end of a line. An
 * offer may start with the text that was typed: one shell repeats it, another does not.
 */
void shells_expect(const char *line, const char *words);

/* Assert that no shell offers this word at the end of a line. */
void shells_refute(const char *line, const char *word);

#endif
