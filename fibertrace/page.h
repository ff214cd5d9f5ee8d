/* SPDX-License-Identifier: MIT */
/* page.h - the page template of 'report --html': share/report.html */
#ifndef FIBERTRACE_PAGE_H
#define FIBERTRACE_PAGE_H

extern const char trace_page[], trace_page_end[];

#endif
