/* SPDX-License-Identifier: MIT */
/* zsh.c - a function for zsh's compsys. */
#include "tool/completion/completion.h"

static const char script[] =
	"#compdef " TOOL_NAME "\n"
	"# zsh completion for " TOOL_NAME ", printed by '" TOOL_NAME " completion zsh'\n"
	"_" TOOL_NAME "() {\n"
	"\tlocal tool=${words[1]/#\\~/${HOME-}} line files= code=1\n"
	"\tlocal -a found blank\n"
	"\twhence -p -- \"$tool\" >/dev/null || tool=" TOOL_NAME "\n"
	"\tfor line in ${(f)\"$(print -rN -- \"${(@Q)words[2,CURRENT-1]}\" \"$PREFIX\" |\n"
	"\t\t\"$tool\" completion words 2>/dev/null)\"}; do\n"
	"\t\tcase $line in\n"
	"\t\t:files) files=_files ;;\n"
	"\t\t:folders) files='_files -/' ;;\n"
	"\t\t:nospace) blank=(-S '') ;;\n"
	"\t\t*) found+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\") ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t(($#found)) && _describe -t words " TOOL_NAME " found $blank && code=0\n"
	"\tif [[ -n $files ]]; then\n"
	"\t\t[[ $PREFIX != --*=* ]] || compset -P '*='\n"
	"\t\t${=files} && code=0\n"
	"\tfi\n"
	"\treturn code\n"
	"}\n"
	"\n"
	"if [[ $funcstack[1] == _" TOOL_NAME " ]]; then\n"
	"\t_" TOOL_NAME " \"$@\"\n"
	"else\n"
	"\tcompdef _" TOOL_NAME " " TOOL_NAME "\n"
	"fi";

void tool_completion_zsh(void)
{
	tool_completion_say(script);
}
