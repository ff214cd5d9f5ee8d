/* SPDX-License-Identifier: MIT */
/*
 * object.c - which loaded file has an address, without a lock of the loader
 *
 * dladdr() and dl_iterate_phdr() take the loader's lock, and a fiber that is in dlopen() holds it. The
 * service thread must not wait for a fiber. _dl_find_object() of glibc 2.35 takes no lock.
 *
 * musl and older glibc do not have it. Their loader has a list of files for debuggers, whose address is
 * in the dynamic section of the program (DT_DEBUG). It may change while it is read. So it is read by
 * fib_os_peek_through(), and the headers of a file must say that it has the address. The headers of the
 * program itself never change, and a static program has only these.
 */
#include "os/linux/object.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>

/* struct dl_find_object of <dlfcn.h>, which older C libraries lack: the part all machines share. */
struct found {
	uint64_t flags;
	void *low, *high;
	struct link_map *file;
	void *table;
	uint64_t reserved[10];
};

/* A weak reference: NULL where the C library does not have it. */
int fib_find_object(void *address, struct found *ret) __asm__("_dl_find_object");
#pragma weak fib_find_object

#define FILES_MOST   4096u /* a list that changes may have a circle */
#define HEADERS_MOST 32u

/* -- headers -- */

static bool has(const ElfW(Phdr) * headers, size_t n, uint64_t offset)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD && offset >= headers[i].p_vaddr &&
		    offset - headers[i].p_vaddr < headers[i].p_memsz)
			return true;
	return false;
}

static uint64_t address_of(const ElfW(Phdr) * headers, size_t n, uint32_t type, uint64_t bias)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (headers[i].p_type == type)
			return bias + headers[i].p_vaddr;
	return 0;
}

/* -- the program -- */

static const ElfW(Phdr) * program_headers(size_t *ret_n)
{
	*ret_n = getauxval(AT_PHNUM);
	return (const ElfW(Phdr) *)getauxval(AT_PHDR); // NOLINT(performance-no-int-to-ptr)
}

/* A program that is linked statically has no PT_PHDR. Its headers follow the header of the file. */
static uint64_t program_bias(const ElfW(Phdr) * headers, size_t n)
{
	const uint64_t at = (uint64_t)(uintptr_t)headers;
	size_t i;

	for (i = 0; i < n; i++)
		if (headers[i].p_type == PT_PHDR)
			return at - headers[i].p_vaddr;
	for (i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_offset == 0)
			return at - sizeof(ElfW(Ehdr)) - headers[i].p_vaddr;
	return 0;
}

/* The address of the loader's first file, which is the program; 0: there is no loader. */
static uint64_t first_file(struct fib_os_pipe *pipe, const ElfW(Phdr) * headers, size_t n,
			   uint64_t bias)
{
	uint64_t at = address_of(headers, n, PT_DYNAMIC, bias);
	struct r_debug list;
	ElfW(Dyn) entry;

	for (; at; at += sizeof entry) {
		if (fib_os_peek_through(pipe, at, &entry, sizeof entry) < 0 ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == DT_DEBUG)
			break;
	}
	if (!at || fib_os_peek_through(pipe, entry.d_un.d_ptr, &list, sizeof list) < 0)
		return 0;
	return (uint64_t)(uintptr_t)list.r_map;
}

/* -- the other files -- */

/* The file, of those after the first one, that starts closest before the address: no two overlap. */
static struct link_map find_closest(struct fib_os_pipe *pipe, uint64_t first, uint64_t address)
{
	struct link_map file, ret = {.l_addr = 0};
	uint64_t at = first;
	unsigned i;

	for (i = 0; at && i < FILES_MOST; i++) {
		if (fib_os_peek_through(pipe, at, &file, sizeof file) < 0)
			break;
		if (i > 0 && file.l_addr <= address && file.l_addr > ret.l_addr)
			ret = file;
		at = (uint64_t)(uintptr_t)file.l_next;
	}
	return ret;
}

/* A library is linked for address 0, where its own header is. */
static bool read_headers(struct fib_os_pipe *pipe, uint64_t bias, ElfW(Phdr) headers[HEADERS_MOST],
			 size_t *ret_n)
{
	ElfW(Ehdr) header;

	if (fib_os_peek_through(pipe, bias, &header, sizeof header) < 0 ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof *headers ||
	    header.e_phnum > HEADERS_MOST)
		return false;
	*ret_n = header.e_phnum;
	return fib_os_peek_through(pipe, bias + header.e_phoff, headers,
				   header.e_phnum * sizeof *headers) == 0;
}

bool fib_os_object_listed(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_object *ret)
{
	ElfW(Phdr) headers[HEADERS_MOST];
	struct link_map file;
	size_t n;
	const ElfW(Phdr) *const own = program_headers(&n);
	const uint64_t bias = own ? program_bias(own, n) : 0;

	if (!own)
		return false;
	if (has(own, n, address - bias)) {
		*ret = (struct fib_os_object){.bias = bias,
					      .table = address_of(own, n, PT_GNU_EH_FRAME, bias)};
		return true;
	}
	file = find_closest(pipe, first_file(pipe, own, n, bias), address);
	if (!file.l_addr || !read_headers(pipe, file.l_addr, headers, &n) ||
	    !has(headers, n, address - file.l_addr))
		return false;
	*ret = (struct fib_os_object){.bias = file.l_addr,
				      .name = (uint64_t)(uintptr_t)file.l_name,
				      .table =
					      address_of(headers, n, PT_GNU_EH_FRAME, file.l_addr)};
	return true;
}

bool fib_os_object_find(struct fib_os_pipe *pipe, uint64_t address, struct fib_os_object *ret)
{
	struct link_map file;
	struct found found;

	if (!fib_find_object)
		return fib_os_object_listed(pipe, address, ret);
	if (fib_find_object((void *)(uintptr_t)address, &found) != 0 ||
	    fib_os_peek_through(pipe, (uint64_t)(uintptr_t)found.file, &file, sizeof file) < 0)
		return false;
	*ret = (struct fib_os_object){.bias = file.l_addr,
				      .name = (uint64_t)(uintptr_t)file.l_name,
				      .table = (uint64_t)(uintptr_t)found.table};
	return true;
}
