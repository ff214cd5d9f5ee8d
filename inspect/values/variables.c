/* SPDX-License-Identifier: MIT */
/*
 * variables.c - find arguments and local variables
 *
 * A frame's address is in scopes: blocks, inlined functions, and the function that has the code.
 * The variables of each scope belong to the innermost function around it; frames are numbered as in
 * symbolize.c. A damaged file may have endless scopes, so every count is limited.
 */
#include "inspect/values/variables.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/values/dwarf_stack.h"
#include "inspect/elf/debug.h"
#include "inspect/values/location.h"
#include "inspect/symbols/symbolize.h"
#include "inspect/values/type_name.h"
#include "inspect/values/value.h"
#include "inspect/values/unwound.h"

#define OF_FRAME   64	/* variables kept per frame */
#define OF_WALK	   2048 /* variables kept in total */
#define OF_SCOPE   8192 /* entries of a scope that are read */
#define OPEN_MAX   8
#define VALUE_TEXT 400
#define TYPE_TEXT  128

struct search {
	struct ins_source *source;
	struct ins_symbols *symbols;
	const struct ins_fiber *fiber;
	unsigned wanted;
	struct ins_variables *ret;
	struct ins_scene scene;
	unsigned frame;	   /* number of the current frame */
	unsigned of_frame; /* variables of that frame so far */
	bool failed;	   /* memory ran out */
};

/* The scopes around the address of a frame, innermost first; the caller frees them. */
static int scopes_at(struct ins_source *source, uint64_t at, Dwarf_Addr *ret_bias, Dwarf_Die **ret)
{
	struct ins_module *m = ins_modules_find(source->modules, at);
	Dwfl_Module *module = m ? ins_debug_module(source->modules, m) : NULL;
	Dwarf_Die *cu = module ? dwfl_module_addrdie(module, at, ret_bias) : NULL;
	Dwarf_Die *found = NULL, innermost;
	int n;

	*ret = NULL;
	n = cu ? dwarf_getscopes(cu, at - *ret_bias, &found) : 0;
	if (n <= 0) {
		free(found);
		return 0;
	}
	/*
	 * Beyond an inlined function these are the scopes in which it was written, not those in
	 * which it was inlined.
	 */
	innermost = found[0];
	free(found);
	n = dwarf_getscopes_die(&innermost, ret);
	return n < 0 ? 0 : n;
}

static const Dwarf_Die *function_of(const Dwarf_Die *scopes, int n)
{
	int i;

	for (i = 0; i < n; i++)
		if (dwarf_tag((Dwarf_Die *)&scopes[i]) == DW_TAG_subprogram)
			return &scopes[i];
	return NULL;
}

static bool find_outer(const struct ins_scene *scene, struct ins_scene *ret,
		       Dwarf_Die *ret_function)
{
	const Dwarf_Die *function;
	Dwarf_Die *scopes;
	bool found;
	int n;

	*ret = *scene;
	ret->function = NULL;
	if (++ret->at >= ret->count)
		return false;
	n = scopes_at(ret->source,
		      ret->frames[ret->at].registers.pc - ret->frames[ret->at].returned, &ret->bias,
		      &scopes);
	function = function_of(scopes, n);
	found = function != NULL;
	if (found)
		*ret_function = *function;
	free(scopes);
	return found;
}

/* -- one variable -- */

static bool put_constant(struct search *s, Dwarf_Die *type, Dwarf_Attribute *attr,
			 struct ins_strbuf *line)
{
	unsigned char bytes[INS_VALUE_BYTES] = {0};
	bool known[INS_VALUE_BYTES];
	struct ins_value value = {s->source, s->fiber, bytes, known, ins_value_size(type)};
	Dwarf_Sword number;
	Dwarf_Block block;

	memset(known, true, sizeof known);
	if (dwarf_formblock(attr, &block) == 0)
		memcpy(bytes, block.data,
		       block.length < sizeof bytes ? block.length : sizeof bytes);
	else if (dwarf_formsdata(attr, &number) == 0)
		memcpy(bytes, &number, sizeof number);
	else
		return ins_strbuf_text(line, "<cannot be shown: a constant of an unknown form>"),
		       false;
	if (value.size > sizeof bytes)
		value.size = sizeof bytes;
	return ins_value_put(&value, type, line);
}

static bool put_fault(const struct search *s, uint64_t address, struct ins_strbuf *line)
{
	ins_strbuf_text(line, s->source->memory ? "<cannot be read: " : "<not on the stack: ");
	ins_strbuf_hex(line, address);
	ins_strbuf_char(line, '>');
	return false;
}

static bool put_located(struct search *s, Dwarf_Die *type, Dwarf_Attribute *attr,
			struct ins_strbuf *line)
{
	unsigned char bytes[INS_VALUE_BYTES];
	bool known[INS_VALUE_BYTES];
	struct ins_value value = {s->source, s->fiber, bytes, known, ins_value_size(type)};
	struct ins_location where;
	uint64_t address = 0;
	unsigned op = 0;
	char name[64];
	int rc = ins_location_of(&s->scene, attr, &where, &op);

	if (rc == -ENOTSUP) {
		ins_strbuf_text(line, "<cannot be shown: ");
		ins_strbuf_text(line, op ? ins_dwarf_stack_name(op, name, sizeof name)
					 : "a damaged place");
		ins_strbuf_char(line, '>');
		return false;
	}
	if (value.size > sizeof bytes)
		value.size = sizeof bytes;
	if (rc == 0)
		rc = ins_location_fetch(&s->scene, &where, bytes, known, value.size, &address);
	if (rc == -EFAULT)
		return put_fault(s, address, line);
	if (rc < 0)
		return ins_strbuf_text(line, "<optimized out>"), false;
	return ins_value_put(&value, type, line);
}

static bool put_value(struct search *s, Dwarf_Die *die, Dwarf_Die *type, struct ins_strbuf *line)
{
	Dwarf_Attribute attr;

	if (!ins_value_size(type))
		return ins_strbuf_text(line, "<cannot be shown: its size is not known>"), false;
	if (s->source->modules->machine.swapped)
		return ins_strbuf_text(line,
				       "<cannot be shown: of a machine of another byte order>"),
		       false;
	if (s->scene.at >= s->scene.count)
		return ins_strbuf_text(line,
				       "<unknown: no unwind rule gives its frame's registers>"),
		       false;
	if (dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return put_constant(s, type, &attr, line);
	if (dwarf_attr_integrate(die, DW_AT_location, &attr))
		return put_located(s, type, &attr, line);
	return ins_strbuf_text(line, "<optimized out>"), false;
}

static struct ins_variable *new_variable(struct search *s)
{
	struct ins_variables *v = s->ret;
	struct ins_variable *more;

	if (s->of_frame == OF_FRAME || v->count == OF_WALK) {
		v->cut = true;
		return NULL;
	}
	if (v->count == v->room) {
		more = realloc(v->at, (v->room * 2 + 16) * sizeof *more);
		if (!more) {
			s->failed = true;
			return NULL;
		}
		v->at = more;
		v->room = v->room * 2 + 16;
	}
	s->of_frame++;
	return &v->at[v->count++];
}

static void take_variable(struct search *s, Dwarf_Die *die, bool argument)
{
	const char *name = dwarf_diename(die);
	char text[VALUE_TEXT], named[TYPE_TEXT];
	struct ins_strbuf value = ins_strbuf(text, sizeof text),
			  type = ins_strbuf(named, sizeof named);
	struct ins_variable *v;
	Dwarf_Die of;

	if (!name || dwarf_hasattr(die, DW_AT_declaration) || !ins_type_of(die, &of))
		return;
	v = new_variable(s);
	if (!v)
		return;
	v->available = put_value(s, die, &of, &value);
	if (value.at == value.end)
		memcpy(value.end - 3, "...", 3);
	ins_type_name(&of, &type);
	v->frame = s->frame;
	v->argument = argument;
	v->name = strdup(name);
	v->type = strdup(named);
	v->value = strdup(text);
	s->failed |= !v->name || !v->type || !v->value;
}

/* -- scopes -- */

/* A block without addresses: its variables belong to the scope around it. */
static bool is_open(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_lexical_block && !dwarf_hasattr(die, DW_AT_low_pc) &&
	       !dwarf_hasattr(die, DW_AT_ranges);
}

/*
 * depth: how many blocks without addresses are around. Their variables are mostly optimized out;
 * then they are not listed.
 */
static void take_scope(struct search *s, Dwarf_Die *scope, unsigned depth, unsigned *left)
{
	Dwarf_Die die;

	if (depth > OPEN_MAX || dwarf_child(scope, &die) != 0)
		return;
	do {
		int tag = dwarf_tag(&die);

		if (depth && !dwarf_hasattr_integrate(&die, DW_AT_location) &&
		    !dwarf_hasattr_integrate(&die, DW_AT_const_value) && !is_open(&die))
			continue;
		if (tag == DW_TAG_formal_parameter && (s->wanted & INS_VARIABLES_ARGS))
			take_variable(s, &die, true);
		else if (tag == DW_TAG_variable && (s->wanted & INS_VARIABLES_LOCALS))
			take_variable(s, &die, false);
		else if (is_open(&die))
			take_scope(s, &die, depth + 1, left);
	} while (!s->failed && *left && --*left && dwarf_siblingof(&die, &die) == 0);
}

/* Take the variables at one address of the walk, which stands for `frames` frames. */
static void take_place(struct search *s, unsigned i, uint64_t at, unsigned frames)
{
	unsigned last = s->frame + frames;
	Dwarf_Die *scopes;
	int k, n;

	n = scopes_at(s->source, at, &s->scene.bias, &scopes);
	s->scene.at = i;
	s->scene.function = (Dwarf_Die *)function_of(scopes, n);
	s->of_frame = 0;
	for (k = 0; s->scene.function && k < n && s->frame < last && !s->failed; k++) {
		int tag = dwarf_tag(&scopes[k]);
		unsigned left = OF_SCOPE;

		take_scope(s, &scopes[k], 0, &left);
		if (tag == DW_TAG_subprogram)
			break;
		if (tag == DW_TAG_inlined_subroutine) {
			s->frame++;
			s->of_frame = 0;
		}
	}
	free(scopes);
	s->frame = last;
}

int ins_variables_find(struct ins_source *source, struct ins_symbols *symbols,
		       const struct ins_fiber *fiber, const struct ins_walk *walk, unsigned wanted,
		       struct ins_variables **ret)
{
	struct search s = {.source = source, .symbols = symbols, .fiber = fiber, .wanted = wanted};
	struct ins_unwound *frames = calloc(walk->count + 1, sizeof *frames);
	size_t n;
	unsigned i;

	*ret = s.ret = calloc(1, sizeof *s.ret);
	if (!frames || !s.ret) {
		free(frames);
		ins_variables_free(s.ret);
		*ret = NULL;
		return -ENOMEM;
	}
	s.ret->fiber = fiber->row.id;
	s.scene = (struct ins_scene){.source = source,
				     .fiber = fiber,
				     .frames = frames,
				     .count = ins_unwound_find(source, fiber, walk, frames),
				     .outer = find_outer};
	/* A fiber that has not started, or that runs, has no frames. */
	for (i = 0; fiber->stack && i < walk->count && !s.failed; i++) {
		ins_symbols_at(symbols, walk->pc[i], ins_walk_returned(walk, i), &n);
		take_place(&s, i, walk->pc[i] - ins_walk_returned(walk, i), (unsigned)n);
	}
	free(frames);
	if (!s.failed)
		return 0;
	ins_variables_free(s.ret);
	*ret = NULL;
	return -ENOMEM;
}

void ins_variables_free(struct ins_variables *variables)
{
	size_t i;

	for (i = 0; variables && i < variables->count; i++) {
		free(variables->at[i].name);
		free(variables->at[i].type);
		free(variables->at[i].value);
	}
	if (variables)
		free(variables->at);
	free(variables);
}
