/* SPDX-License-Identifier: MIT */
/*
 * test_fiberctl_completion_shells.c - what bash, zsh and fish offer to somebody who presses Tab
 *
 * Bash and zsh run on a terminal, where a line is typed; what they would insert is printed instead, as <word>. Fish says
 * it without one. Others may run programs with fibers meanwhile, so those that are wanted are looked for among all.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/harness/cli/crowd.h"
#include "tests/harness/cli/terminal.h"
#include "tests/harness/watchdog.h"

enum { BASH, ZSH, FISH, SHELLS };

static const char *const names[SHELLS] = {"bash", "zsh", "fish"};
static struct terminal *terminals[FISH];
static struct crowd crowd;

static const char bashrc[] = "PS1='READY '\n"
			     "cd \"$XDG_RUNTIME_DIR\"\n"
			     "for tool in fiberctl fibertrace; do\n"
			     "\teval \"$(\"$tool\" completion bash)\"\n"
			     "\tcomplete -F ask $tool\n"
			     "done\n"
			     "ask() {\n"
			     "\t_$1 \"$@\"\n"
			     "\tprintf '<%s>\\n' \"${COMPREPLY[@]}\" END\n"
			     "\tCOMPREPLY=()\n"
			     "}\n";

/* compadd knows which of the words that it is given fit; with -O, -A or -D it adds none. */
static const char zshrc[] = "PS1='READY '\n"
			    "cd \"$XDG_RUNTIME_DIR\"\n"
			    "autoload -Uz compinit\n"
			    "compinit -u -D\n"
			    "eval \"$(fiberctl completion zsh)\"\n"
			    "eval \"$(fibertrace completion zsh)\"\n"
			    "compadd() {\n"
			    "\tlocal -a fit\n"
			    "\tif [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\\ * ]]; then\n"
			    "\t\tbuiltin compadd -A fit \"$@\"\n"
			    "\t\tprint -rl -- \"<\"${^fit}\">\"\n"
			    "\tfi\n"
			    "\tbuiltin compadd \"$@\"\n"
			    "}\n"
			    "ask() {\n"
			    "\t_main_complete\n"
			    "\tcompstate[insert]= compstate[list]=\n"
			    "\tprint -r -- '<END>'\n"
			    "}\n"
			    "zle -C ask complete-word ask\n"
			    "bindkey '^I' ask\n";

static void write_file(const char *name, const char *text)
{
	char path[HARNESS_PATH];
	FILE *out = fopen(harness_file(path, name), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* The folder of the tools first in PATH, as for a person who has installed them. */
static void settle(void)
{
	static char path[8192];

	snprintf(path, sizeof(path), "%s/bin:%s", harness_build(), getenv("PATH"));
	setenv("PATH", path, 1);
	setenv("HOME", harness_folder(), 1);
	setenv("ZDOTDIR", harness_folder(), 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_DATA_HOME");
}

static int start(void **state)
{
	char file[HARNESS_PATH];

	(void)state;
	settle();
	write_file("bashrc", bashrc);
	write_file(".zshrc", zshrc);
	write_file("kept.fib", "");
	assert_int_equal(mkdir(harness_file(file, "kept.folder"), 0700), 0);
	crowd = crowd_start(NULL, "crowd", "10", NULL);
	terminals[BASH] = terminal_start("vt100", "/usr/bin/env", "bash", "--rcfile",
					 harness_file(file, "bashrc"), "-i", NULL);
	terminals[ZSH] = terminal_start("vt100", "/usr/bin/env", "zsh", "-d", "-i", NULL);
	for (int i = 0; i < FISH; i++)
		terminal_await(terminals[i], "READY ");
	return 0;
}

static int stop(void **state)
{
	(void)state;
	for (int i = 0; i < FISH; i++) {
		terminal_type(terminals[i], "exit\r");
		terminal_end(terminals[i]);
	}
	crowd_end(&crowd);
	return 0;
}

/* What a shell with a terminal offers at the end of a line. */
static char *ask_terminal(struct terminal *t, const char *line)
{
	char *text;

	terminal_forget(t);
	terminal_type(t, line);
	terminal_type(t, "\t");
	terminal_await(t, "<END>");
	text = calloc(1, t->used + 1);
	assert_non_null(text);
	/* Terminals were slow once, and are still given zeros to pass the time. */
	for (size_t i = 0; i < t->used; i++)
		text[i] = t->seen[i] ? t->seen[i] : ' ';
	/* The line is given up, and the next prompt comes. */
	terminal_forget(t);
	terminal_type(t, "\025\r");
	terminal_await(t, "READY ");
	return text;
}

static char *ask_fish(const char *line)
{
	struct harness_process *p = harness_run(
		(const char *[]){"fish", "--no-config", "-c",
				 "cd $XDG_RUNTIME_DIR\n"
				 "fiberctl completion fish | source\n"
				 "fibertrace completion fish | source\n"
				 "complete -C $argv[1] | string replace -r '\\t.*' '' |\n"
				 "string replace -r '^(.*)$' '<$1>'\n"
				 "true",
				 line, NULL},
		NULL, CLI_SECONDS);
	char *text;

	cli_expect(p, 0);
	assert_string_equal(p->err.bytes, "");
	text = strdup(p->out.bytes);
	harness_free(p);
	return text;
}

static char *ask(int shell, const char *line)
{
	return shell == FISH ? ask_fish(line) : ask_terminal(terminals[shell], line);
}

/* Whether one of the words is that one, or ends so: shells differ in how much of what stands there already they repeat. */
static bool has(const char *offered, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = offered; (at = strstr(at, word)); at++)
		if (at[n] == '>' || (at[n] == '/' && at[n + 1] == '>'))
			return true;
	return false;
}

/* wanted: words with blanks between. In every shell. */
static void expect(const char *line, const char *wanted)
{
	for (int shell = 0; shell < SHELLS; shell++) {
		char *offered = ask(shell, line), *words = strdup(wanted), *rest = words, *word;

		while ((word = strsep(&rest, " "))) {
			if (!has(offered, word))
				print_error("%s: '%s' offers no '%s', but:\n%s\n", names[shell],
					    line, word, offered);
			assert_true(has(offered, word));
		}
		free(offered);
		free(words);
	}
}

static void refute(const char *line, const char *word)
{
	for (int shell = 0; shell < SHELLS; shell++) {
		char *offered = ask(shell, line);

		if (has(offered, word))
			print_error("%s: '%s' offers '%s'\n", names[shell], line, word);
		assert_false(has(offered, word));
		free(offered);
	}
}

static void test_shells_offer_commands_topics_and_shells(void **state)
{
	(void)state;
	expect("fiberctl li", "list");
	expect("fiberctl --json ", "list policy help");
	expect("fiberctl help ", "list where wait-kinds");
	expect("fiberctl completion ", "bash zsh fish");
	expect("fibertrace ", "list record help");
	refute("fibertrace ", "policy");
	refute("fiberctl nonsense ", "list");
}

/* Print help, and expect in every shell what stands first in each of its lines that begin with `start`. */
static void expect_of_help(const char *tool, const char *name, const char *start, const char *line)
{
	struct harness_process *p = cli_run(tool, "help", name, NULL);
	char wanted[4096] = "", *at, *rest = p->out.bytes, *row;
	unsigned n = 0;

	cli_expect(p, 0);
	while ((row = strsep(&rest, "\n")) && !strstr(row, "help TOPIC")) {
		at = strncmp(row, "  ", 2) == 0 ? strstr(row, start) : NULL;
		if (!at || at > row + 6 || !islower((unsigned char)at[strlen(start)]))
			continue;
		at[strcspn(at, " ")] = 0;
		strcat(strcat(wanted, n++ ? " " : ""), at);
	}
	assert_true(n > 0);
	expect(line, wanted);
	harness_free(p);
}

static void test_shells_offer_all_that_the_help_tells(void **state)
{
	(void)state;
	expect_of_help("fiberctl", NULL, "  ", "fiberctl ");
	expect_of_help("fibertrace", NULL, "  ", "fibertrace ");
	expect_of_help("fiberctl", "list", "--", "fiberctl list -");
	expect_of_help("fiberctl", "stacks", "--", "fiberctl --json stacks crowd --");
	expect_of_help("fiberctl", "watch", "--", "fiberctl watch list -");
	expect_of_help("fiberctl", "list", "--", "fiberctl watch list -");
	expect_of_help("fibertrace", "record", "--", "fibertrace record -");
	expect("fiberctl list -", "--json --color --help");
	refute("fiberctl cancel -", "--all");
}

static void test_shells_offer_processes_and_files_for_a_process(void **state)
{
	const char *pid = cli_number((uint64_t)crowd.process->pid);
	char both[128];

	(void)state;
	snprintf(both, sizeof(both), "%s crowd kept.fib", pid);
	expect("fiberctl list ", both);
	expect("fiberctl bt --all ", both);
	expect("fiberctl diff ", both);
	expect("fiberctl diff kept.fib ", both);
	expect("fiberctl diff kept.fib kept.fib kept.fib ke", "kept.fib");
	expect("fiberctl watch list ", both);
	expect("fibertrace ", both);
	expect("fibertrace stacks ", both);
	/* These ask a program that runs. */
	snprintf(both, sizeof(both), "%s crowd", pid);
	expect("fiberctl top ", both);
	refute("fiberctl top ", "kept.fib");
	refute("fiberctl show crowd ", "kept.fib");
	refute("fiberctl show crowd ", "crowd");
}

static void test_shells_offer_files_for_a_file_and_folders_for_a_folder(void **state)
{
	(void)state;
	expect("fiberctl snapshot crowd -o ke", "kept.fib");
	expect("fiberctl snapshot crowd --output ke", "kept.fib");
	expect("fiberctl snapshot crowd --output=ke", "kept.fib");
	expect("fiberctl stacks crowd --svg ", "kept.fib kept.folder");
	expect("fibertrace --core ke", "kept.fib");
	expect("fibertrace list --snapshot=ke", "kept.fib");
	expect("fibertrace report ke", "kept.fib");
	expect("fibertrace list --sysroot ke", "kept.folder");
	refute("fibertrace list --sysroot ke", "kept.fib");
}

static void test_shells_offer_the_words_of_closed_lists(void **state)
{
	(void)state;
	expect("fiberctl --color ", "auto always never");
	expect("fiberctl list --color=a", "auto always");
	expect("fiberctl policy crowd ", "warn error silent");
	expect("fiberctl policy --color never crowd e", "error");
	expect("fiberctl watchdog crowd ", "off");
	expect("fiberctl list --json=", "lines");
}

static void test_shells_offer_fields(void **state)
{
	(void)state;
	expect("fiberctl list crowd --group-by ", "state wait label.");
	expect("fiberctl list crowd -g st", "state");
	expect("fiberctl top crowd --sort ", "age cpu");
	expect("fiberctl top crowd --sort -", "-age -cpu");
	expect("fiberctl list crowd --sort=a", "age");
	expect("fiberctl list crowd --columns ", "id name");
	expect("fiberctl list crowd --columns id,wa", "id,wait id,waiting");
	expect("fiberctl list crowd -c id,na", "id,name");
	refute("fibertrace list crowd --module ", "state");
}

static void test_shells_offer_fields_and_their_words_in_an_expression(void **state)
{
	(void)state;
	expect("fiberctl list crowd --where ", "state name");
	expect("fiberctl list crowd --where 'sta", "state stack");
	expect("fiberctl list crowd --where=sta", "state stack");
	expect("fiberctl list crowd -w \"age>1s and (nam", "name");
	expect("fiberctl list crowd --where 'wait=mu", "mutex");
	expect("fiberctl list crowd --where state=run", "runnable running");
	refute("fiberctl list crowd --where 'age>1s sta", "state");
}

static void test_shells_offer_what_watch_can_run_and_its_words_and_options(void **state)
{
	(void)state;
	expect("fiberctl watch ", "list policy");
	refute("fiberctl watch ", "watch");
	expect("fiberctl watch -n 1 policy crowd ", "warn error silent");
	expect("fiberctl watch list crowd --", "--interval --columns");
	expect("fiberctl watch list crowd --columns id,na", "id,name");
	refute("fiberctl watch policy crowd --", "--columns");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shells_offer_commands_topics_and_shells),
		cmocka_unit_test(test_shells_offer_all_that_the_help_tells),
		cmocka_unit_test(test_shells_offer_processes_and_files_for_a_process),
		cmocka_unit_test(test_shells_offer_files_for_a_file_and_folders_for_a_folder),
		cmocka_unit_test(test_shells_offer_the_words_of_closed_lists),
		cmocka_unit_test(test_shells_offer_fields),
		cmocka_unit_test(test_shells_offer_fields_and_their_words_in_an_expression),
		cmocka_unit_test(test_shells_offer_what_watch_can_run_and_its_words_and_options),
	};

	harness_watchdog(110);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, stop);
}
