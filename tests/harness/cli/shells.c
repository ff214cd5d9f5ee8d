/* SPDX-License-Identifier: MIT */
/* shells.c - read the completions of bash, zsh and fish */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/harness/cli/shells.h"
#include "tests/harness/cli/terminal.h"

enum { BASH, ZSH, FISH, SHELLS };

static const char *const names[SHELLS] = {"bash", "zsh", "fish"};
static struct terminal *terminals[SHELLS];

static const char bashrc[] = "PS1='READY '\n"
			     "cd \"$XDG_RUNTIME_DIR\"\n"
			     "for tool in fiberctl fibertrace; do\n"
			     "\teval \"$(\"$tool\" completion bash)\"\n"
			     "\tcomplete -F ask $tool\n"
			     "done\n"
			     "for tool in fibertest fiberize; do\n"
			     "\tsource \"$SCRIPTS/$tool.bash\"\n"
			     "\tcomplete -F ask $tool\n"
			     "done\n"
			     "ask() {\n"
			     "\t_$1 \"$@\"\n"
			     "\tprintf '<%s>\\n' \"${COMPREPLY[@]}\" END\n"
			     "\tCOMPREPLY=()\n"
			     "}\n";

/* compadd selects the matching words of those it is given; with -O, -A or -D it adds none. */
static const char zshrc[] = "PS1='READY '\n"
			    "cd \"$XDG_RUNTIME_DIR\"\n"
			    "fpath=($SCRIPTS $fpath)\n"
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

static const char fishrc[] = "cd $XDG_RUNTIME_DIR\n"
			     "fiberctl completion fish | source\n"
			     "fibertrace completion fish | source\n"
			     "source $SCRIPTS/fibertest.fish\n"
			     "source $SCRIPTS/fiberize.fish\n"
			     "echo 'READY '\n"
			     "cat | while read -l line\n"
			     "\tif test -n \"$line\"\n"
			     "\t\tcomplete -C (string sub -e -1 -- $line) |\n"
			     "\t\tstring replace -r '^([^\\t]*).*$' '<$1>'\n"
			     "\t\techo '<END>'\n"
			     "\telse\n"
			     "\t\techo 'READY '\n"
			     "\tend\n"
			     "end\n";

static void write_file(const char *name, const char *text)
{
	char path[HARNESS_PATH];
	FILE *out = fopen(harness_file(path, name), "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* Put the folder of the tools first in PATH, as after an installation. */
static void settle(void)
{
	static char path[8192], scripts[HARNESS_PATH];

	snprintf(path, sizeof(path), "%s/bin:%s", harness_build(), getenv("PATH"));
	setenv("PATH", path, 1);
	snprintf(scripts, sizeof(scripts), "%s/completion", harness_build());
	setenv("SCRIPTS", scripts, 1);
	setenv("HOME", harness_folder(), 1);
	setenv("ZDOTDIR", harness_folder(), 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_DATA_HOME");
}

int shells_start(void **state)
{
	char file[HARNESS_PATH];

	(void)state;
	settle();
	write_file("bashrc", bashrc);
	write_file(".zshrc", zshrc);
	write_file("fishrc", fishrc);
	write_file("kept.fib", "");
	assert_int_equal(mkdir(harness_file(file, "kept.folder"), 0700), 0);
	terminals[BASH] = terminal_start("vt100", "/usr/bin/env", "bash", "--rcfile",
					 harness_file(file, "bashrc"), "-i", NULL);
	terminals[ZSH] = terminal_start("vt100", "/usr/bin/env", "zsh", "-d", "-i", NULL);
	terminals[FISH] = terminal_start("vt100", "/usr/bin/env", "fish", "--no-config",
					 harness_file(file, "fishrc"), NULL);
	for (int i = 0; i < SHELLS; i++)
		terminal_await(terminals[i], "READY ");
	return 0;
}

int shells_end(void **state)
{
	(void)state;
	for (int i = 0; i < SHELLS; i++) {
		terminal_type(terminals[i], i == FISH ? "\004" : "exit\r");
		terminal_end(terminals[i]);
	}
	return 0;
}

/* The words that a shell offers at the end of a line. */
static char *ask(int shell, const char *line)
{
	struct terminal *const t = terminals[shell];
	char *text;

	terminal_forget(t);
	terminal_type(t, line);
	/* Fish reads lines with an end mark instead. */
	terminal_type(t, shell == FISH ? "|\n" : "\t");
	terminal_await(t, "<END>");
	text = calloc(1, t->used + 1);
	assert_non_null(text);
	/* Programs still send zeros to a terminal as padding, from the time of slow terminals. */
	for (size_t i = 0; i < t->used; i++)
		text[i] = t->seen[i] ? t->seen[i] : ' ';
	/* Abort the line and wait for the next prompt. */
	terminal_forget(t);
	terminal_type(t, shell == FISH ? "\n" : "\025\r");
	terminal_await(t, "READY ");
	return text;
}

/* Whether one of the words equals this one or ends with it: shells differ in how much of the typed
 * text they repeat. */
static bool has(const char *offered, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = offered; (at = strstr(at, word)); at++)
		if (at[n] == '>' || (at[n] == '/' && at[n + 1] == '>'))
			return true;
	return false;
}

void shells_expect(const char *line, const char *wanted)
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

void shells_refute(const char *line, const char *word)
{
	for (int shell = 0; shell < SHELLS; shell++) {
		char *offered = ask(shell, line);

		if (has(offered, word))
			print_error("%s: '%s' offers '%s'\n", names[shell], line, word);
		assert_false(has(offered, word));
		free(offered);
	}
}
