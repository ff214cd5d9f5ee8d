/* SPDX-License-Identifier: MIT */
/* page.h - the text of the page that 'report --html' fills in: share/report.html. */
#ifndef FIBERTRACE_PAGE_H
#define FIBERTRACE_PAGE_H

extern const char trace_page[], trace_page_end[];

#endif
