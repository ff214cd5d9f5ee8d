/* SPDX-License-Identifier: MIT */
/* fish.c - a function for fish's `complete`, which completes file names itself */
#include "tool/completion/completion.h"

static const char script[] =
	"# fish completion for " TOOL_NAME ", printed by '" TOOL_NAME " completion fish'\n"
	"function __" TOOL_NAME "_answer\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l typed (commandline -ct | string trim -l -c '\\'\"')\n"
	"\tset -l tool (string replace -r '^~' \"$HOME\" -- $words[1])\n"
	"\ttype -q \"$tool\"; or set tool " TOOL_NAME "\n"
	"\tprintf '%s\\0' $words[2..-1] \"$typed\" | $tool completion words 2>/dev/null\n"
	"end\n"
	"function __" TOOL_NAME "_folders\n"
	"\tset -l typed (commandline -ct)\n"
	"\tset -l option (string match -r -- '^--[^=]*=' \"$typed\")\n"
	"\tset -l path (string replace -- \"$option\" '' \"$typed\")\n"
	"\tstring replace -r '^' -- \"$option\" (__fish_complete_directories \"$path\")\n"
	"end\n"
	"function __" TOOL_NAME "_offered\n"
	"\tfor line in (__" TOOL_NAME "_answer)\n"
	"\t\tswitch $line\n"
	"\t\t\tcase :folders\n"
	"\t\t\t\t__" TOOL_NAME "_folders\n"
	"\t\t\tcase ':*'\n"
	"\t\t\tcase '*'\n"
	"\t\t\t\techo $line\n"
	"\t\tend\n"
	"\tend\n"
	"end\n"
	"complete -c " TOOL_NAME " -f -k -a '(__" TOOL_NAME "_offered)'\n"
	"complete -c " TOOL_NAME " -n '__" TOOL_NAME "_answer | string match -q :files' -F";

void tool_completion_fish(void)
{
	tool_completion_say(script);
}
