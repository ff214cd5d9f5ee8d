/* SPDX-License-Identifier: MIT */
/*
 * debug_search.c - search a sysroot, folders of debug files, and debuginfod
 *
 * libdw searches folders and debuginfod servers for debug files. It does not check what lies at the
 * path of a build-id, so its results are checked here. A server that does not answer costs its
 * timeout once: the wait is limited, and afterwards no server is asked again.
 */
#include "inspect/elf/debug_search.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "inspect/text/access.h"

#define SERVERS	  "DEBUGINFOD_URLS"
#define SLOW_NS	  INT64_C(5000000000) /* after a vain search this long no server is asked */
#define FILE_TIME "20"		      /* seconds for one file */
#define IDLE_TIME "5"		      /* seconds without data from a server */

static int sysroot = -1;
static char path[4 * PATH_MAX] = "+:.debug:/usr/lib/debug";
char *ins_debug_search_path = path;

static int open_folder(const char *name, struct ins_error *error)
{
	int fd = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC), rc = -errno;
	char why[INS_ACCESS_EXPLAIN_SIZE];

	if (fd >= 0)
		return fd;
	return ins_error_set(error, rc, "%s: %s", name,
			     ins_access_explain(name, INS_ACCESS_READ, rc, why, sizeof why));
}

/* Put a folder before those that libdw searches. */
static int add_folder(const char *name, struct ins_error *error)
{
	char whole[PATH_MAX], before[sizeof path];
	int fd = open_folder(name, error);

	if (fd < 0)
		return fd;
	close(fd);
	if (!realpath(name, whole))
		return ins_error_set(error, -errno, "%s: %s", name, strerror(errno));
	memcpy(before, path, sizeof before);
	if (strchr(whole, ':') ||
	    snprintf(path, sizeof path, "+%s:%s", whole, before + 1) >= (int)sizeof path) {
		memcpy(path, before, sizeof path);
		return ins_error_set(error, -ENAMETOOLONG,
				     "%s: too long, or with a colon in its name", name);
	}
	return 0;
}

int ins_debug_search_sysroot(const char *folder, struct ins_error *error)
{
	char below[PATH_MAX];
	int fd = open_folder(folder, error);

	if (fd < 0)
		return fd;
	if (sysroot >= 0)
		close(sysroot);
	sysroot = fd;
	/* Add its folder of debug files, if it has one. */
	if (snprintf(below, sizeof below, "%s/usr/lib/debug", folder) < (int)sizeof below)
		add_folder(below, NULL);
	return 0;
}

int ins_debug_search_debug(const char *folders, struct ins_error *error)
{
	char *all = strdup(folders), *end, *at;
	int rc = 0;

	if (!all)
		return ins_error_set(error, -ENOMEM, "out of memory");
	/* Start with the last folder, so that the first one is searched first. */
	for (end = all + strlen(all); rc == 0 && end > all; end = at > all ? at - 1 : all) {
		*end = 0;
		at = strrchr(all, ':');
		at = at ? at + 1 : all;
		if (*at)
			rc = add_folder(at, error);
	}
	free(all);
	return rc;
}

bool ins_debug_search_in_sysroot(const char *name, char *ret, size_t size)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char link[64];
	ssize_t n;
	int fd;

	if (sysroot < 0)
		return false;
	fd = (int)syscall(SYS_openat2, sysroot, name, &how, sizeof how);
	if (fd < 0)
		return false;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	n = readlink(link, ret, size);
	close(fd);
	if (n <= 0 || (size_t)n >= size)
		return false;
	ret[n] = 0;
	return true;
}

/* -- slow searches -- */

static int64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

static int64_t search_begins(void)
{
	if (getenv(SERVERS)) {
		setenv("DEBUGINFOD_TIMEOUT", IDLE_TIME, 0);
		setenv("DEBUGINFOD_MAXTIME", FILE_TIME, 0);
	}
	return now();
}

static void search_ended(struct ins_modules *modules, int64_t began, bool found)
{
	if (found || !getenv(SERVERS) || now() - began < SLOW_NS)
		return;
	ins_problems_add(modules->problems, "the debuginfod servers (" SERVERS
					    ") do not answer: names, lines and frames "
					    "may be missing");
	unsetenv(SERVERS);
}

/* Where a file was found. */
struct place {
	char *at;
	size_t size;
};

static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
		    char **ret_name, Elf **ret_elf)
{
	const struct place *place = *userdata;
	int fd = dwfl_build_id_find_elf(module, userdata, name, base, ret_name, ret_elf);
	char link[64];
	ssize_t n = 0;

	/* libdw returns no name for a server's file, but the client keeps it in a file. */
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fd >= 0)
		n = readlink(link, place->at, place->size);
	place->at[n > 0 && (size_t)n < place->size ? n : 0] = 0;
	return fd;
}

bool ins_debug_search_by_build_id(struct ins_modules *modules, const struct ins_module *module,
				  char *ret, size_t size)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &ins_debug_search_path,
	};
	const struct ins_image *image = &module->image;
	struct place place = {ret, size};
	Dwfl_Module *found;
	Dwarf_Addr bias;
	void **userdata;
	int64_t began;
	Dwfl *dwfl;

	ret[0] = 0;
	dwfl = image->build_id_size ? dwfl_begin(&callbacks) : NULL;
	if (!dwfl)
		return false;
	began = search_begins();
	dwfl_report_begin(dwfl);
	found = dwfl_report_module(dwfl, "", module->start, module->end);
	if (found && dwfl_module_info(found, &userdata, NULL, NULL, NULL, NULL, NULL, NULL)) {
		*userdata = &place;
		if (dwfl_module_report_build_id(found, image->build_id, image->build_id_size, 0) ==
		    0)
			dwfl_module_getelf(found, &bias);
	}
	search_ended(modules, began, ret[0] != 0);
	dwfl_report_end(dwfl, NULL, NULL);
	dwfl_end(dwfl);
	return ret[0] != 0;
}

/* Whether the file's build-id is another module's. */
static bool of_another(Dwfl_Module *module, int fd)
{
	const unsigned char *mine;
	const void *theirs = NULL;
	GElf_Addr where;
	int n = dwfl_module_build_id(module, &mine, &where);
	Elf *elf = n > 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
	bool another;

	if (!elf)
		return false;
	another = dwelf_elf_gnu_build_id(elf, &theirs) != n || memcmp(mine, theirs, (size_t)n) != 0;
	elf_end(elf);
	return another;
}

static void refuse(struct ins_modules *modules, const char *file, const char *name)
{
	if (modules)
		ins_problems_add(
			modules->problems,
			"%s is not of the %s that ran: its build-id differs; it is not used", file,
			name);
}

/*
 * libdw ignores files at a build-id's path that have another build-id, without a message. Report
 * them.
 */
static void refuse_silent(Dwfl_Module *module, struct ins_modules *modules, const char *name)
{
	const unsigned char *id;
	char file[PATH_MAX], digits[2 * INS_BUILD_ID_MAX + 1] = "";
	int i, n = dwfl_module_build_id(module, &id, &(GElf_Addr){0});
	const char *at = path + 1;

	for (i = 0; i < n && i < INS_BUILD_ID_MAX; i++)
		snprintf(digits + 2 * (size_t)i, 3, "%02x", id[i]);
	for (; n > 1 && *at; at += strcspn(at, ":"), at += *at == ':') {
		int length = (int)strcspn(at, ":"), fd;

		if (*at != '/' || snprintf(file, sizeof file, "%.*s/.build-id/%.2s/%s.debug",
					   length, at, digits, digits + 2) >= (int)sizeof file)
			continue;
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		if (fd >= 0 && of_another(module, fd))
			refuse(modules, file, name);
		if (fd >= 0)
			close(fd);
	}
}

int ins_debug_search_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			       Dwarf_Addr base, const char *file_name, const char *link,
			       GElf_Word crc, char **ret)
{
	struct ins_modules *modules = *userdata;
	int64_t began = search_begins();
	int fd = dwfl_standard_find_debuginfo(module, userdata, name, base, file_name, link, crc,
					      ret);

	if (modules)
		search_ended(modules, began, fd >= 0);
	if (fd < 0)
		refuse_silent(module, modules, name);
	if (fd < 0 || !of_another(module, fd))
		return fd;
	refuse(modules, *ret ? *ret : "a debug file", name);
	close(fd);
	free(*ret);
	*ret = NULL;
	return -1;
}
