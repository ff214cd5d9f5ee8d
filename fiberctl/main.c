/* SPDX-License-Identifier: MIT */
/* main.c - fiberctl as a program */
#include "fiberctl/fiberctl.h"
#include "tool/main.h"

int main(int argc, char **argv)
{
	return tool_main(&fiberctl, argc, argv);
}
