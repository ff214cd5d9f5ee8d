/* SPDX-License-Identifier: MIT */
/*
 * bash.c - a function for bash's `complete`
 *
 * Bash splits --color=auto into three words and replaces the last of them. So the script joins them
 * for the question and removes the typed part from each answer.
 */
#include "tool/completion/completion.h"

static const char script[] =
	"# bash completion for " TOOL_NAME ", printed by '" TOOL_NAME " completion bash'\n"
	"_" TOOL_NAME "()\n"
	"{\n"
	"\tlocal tool=${1:-" TOOL_NAME "} typed= have= option= word i glued=\n"
	"\tlocal -a words=()\n"
	"\ttool=${tool/#\\~/${HOME-}}\n"
	"\ttype -P \"$tool\" >/dev/null || tool=" TOOL_NAME "\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i <= COMP_CWORD; i++)); do\n"
	"\t\tword=${COMP_WORDS[i]} have=\n"
	"\t\t((i < COMP_CWORD)) || word=${word#[\\'\\\"]}\n"
	"\t\tif [[ $word =~ ^[=:]+$ && -n $typed ]]; then\n"
	"\t\t\thave=$typed$word words[-1]=$typed$word glued=yes\n"
	"\t\telif [[ -n $glued ]]; then\n"
	"\t\t\thave=$typed words[-1]=$typed$word glued=\n"
	"\t\telse\n"
	"\t\t\twords+=(\"$word\")\n"
	"\t\tfi\n"
	"\t\ttyped=${words[-1]}\n"
	"\tdone\n"
	"\t[[ $typed != --*=* ]] || option=${typed%%=*}=\n"
	"\tcompopt -o nosort 2>/dev/null\n"
	"\twhile IFS=$'\\t' read -r word _; do\n"
	"\t\tcase $word in\n"
	"\t\t:files | :folders)\n"
	"\t\t\tcompopt -o filenames 2>/dev/null\n"
	"\t\t\t[[ $word == :files ]] && word=-f || word=-d\n"
	"\t\t\twhile IFS= read -r word; do\n"
	"\t\t\t\tword=$option$word\n"
	"\t\t\t\tCOMPREPLY+=(\"${word#\"$have\"}\")\n"
	"\t\t\tdone < <(compgen \"$word\" -- \"${typed#\"$option\"}\")\n"
	"\t\t\t;;\n"
	"\t\t:nospace) compopt -o nospace 2>/dev/null ;;\n"
	"\t\t\"$typed\"*) COMPREPLY+=(\"${word#\"$have\"}\") ;;\n"
	"\t\tesac\n"
	"\tdone < <(printf '%s\\0' \"${words[@]}\" | \"$tool\" completion words 2>/dev/null)\n"
	"}\n"
	"complete -F _" TOOL_NAME " " TOOL_NAME;

void tool_completion_bash(void)
{
	tool_completion_say(script);
}
