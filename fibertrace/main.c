/* SPDX-License-Identifier: MIT */
/* main.c - fibertrace as a program */
#include "fibertrace/fibertrace.h"
#include "tool/main.h"

int main(int argc, char **argv)
{
	return tool_main(&fibertrace, argc, argv);
}
