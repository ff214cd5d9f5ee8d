/* SPDX-License-Identifier: MIT */
/*
 * shells.h - what bash, zsh and fish offer to somebody who presses Tab behind a command line of the tools
 *
 * Bash and zsh have a terminal, where a line is typed; what they would insert is printed instead, as <word>. Fish says of
 * lines what it would offer at their end. They are in the test's folder, in which there are kept.fib, a file, and kept.folder.
 */
#ifndef HARNESS_CLI_SHELLS_H
#define HARNESS_CLI_SHELLS_H

/* Start all three, with the built tools first in their PATH, which the programs of the test have from then on. */
void shells_start(void);
void shells_end(void);

/*
 * Assert that each of the words, with blanks between, is among what every shell offers at the end of a line. An offer may begin
 * with what stands there already, which one shell repeats and another does not.
 */
void shells_expect(const char *line, const char *words);

/* Assert that no shell offers that word there. */
void shells_refute(const char *line, const char *word);

#endif
