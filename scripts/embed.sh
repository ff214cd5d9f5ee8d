#!/bin/sh
# SPDX-License-Identifier: MIT
#
# embed.sh SYMBOL [NAME=]FILE... - print assembly for a table of files that a program contains
#
# The table has three addresses for each file: its name with a NUL, its first byte, and the byte after its last. A name of
# NULL ends it. NAME is the file's own name unless it is given.
set -eu
symbol=$1
shift
echo "/* made by scripts/embed.sh */"
n=0
for file; do
	name=$(basename "${file%%=*}")
	printf '\t.section .rodata\nname%d:\t.string "%s"\nbegin%d:\t.incbin "%s"\nend%d:\t.byte 0\n' \
		$n "$name" $n "${file#*=}" $n
	n=$((n + 1))
done
printf '\t.section .data.rel.ro,"aw"\n\t.balign 8\n\t.globl %s\n\t.type %s, %%object\n%s:\n' "$symbol" "$symbol" "$symbol"
i=0
while [ $i -lt $n ]; do
	printf '\t.dc.a name%d, begin%d, end%d\n' $i $i $i
	i=$((i + 1))
done
printf '\t.dc.a 0, 0, 0\n\t.size %s, . - %s\n\t.section .note.GNU-stack, "", %%progbits\n' "$symbol" "$symbol"
