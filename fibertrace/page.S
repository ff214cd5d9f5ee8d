/* SPDX-License-Identifier: MIT */
/* page.S - the file share/report.html; the path is relative to the root of the tree */
	.section .rodata
	.globl	trace_page
	.type	trace_page, %object
trace_page:
	.incbin	"fibertrace/share/report.html"
	.globl	trace_page_end
trace_page_end:
	.size	trace_page, . - trace_page
	.byte	0
	.section .note.GNU-stack, "", %progbits
