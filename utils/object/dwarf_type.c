/* SPDX-License-Identifier: MIT */
/* See dwarf_type.h.  Nothing is believed of a file: loops of types and deep nesting end. */
#include "utils/object/dwarf_type.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "utils/object/callconv_parts.h"
#include "utils/object/dwarf_enum.h"
#include "utils/object/dwarf_leaves.h"
#include "utils/object/dwarf_libcxx.h"
#include "utils/object/dwarf_members.h"
#include "utils/object/dwarf_place.h"
#include "utils/object/dwarf_rust.h"
#include "utils/object/dwarf_text.h"

#define PARAMS_MAX 64
#define CLANG_WITH_WHOLE_INT128 18
#define POINTER_BYTES 8		/* in a payload, whatever it has in the program */

const char *ftr_dwarf_plain_name(struct ftr_arena *arena, const char *name)
{
	size_t len = name == NULL ? 0 : strcspn(name, "<");
	char *copy = len == 0 ? NULL : ftr_arena_strndup(arena, name, len);
	size_t i;

	for (i = 0; copy != NULL && i < len; i++) {
		char c = copy[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9'))
			copy[i] = '_';
	}
	return copy != NULL ? copy : "";
}

/* Is @type as large as libstdc++'s std::string: a pointer, a number, and room for 16 characters? */
static bool has_std_string_bytes(Dwarf_Die *type)
{
	int64_t bytes = dwarf_bytesize(type);
	uint8_t pointer_bytes = POINTER_BYTES;
	Dwarf_Die unit;

	dwarf_diecu(type, &unit, &pointer_bytes, NULL);
	return bytes == 2 * pointer_bytes + 16 || bytes == -1;
}

/* libstdc++'s, of the ABI that has { characters, their number } in it, or libc++'s. */
static bool is_std_string(Dwarf_Die *type, bool *is_libcxx)
{
	const char *name = dwarf_diename(type);
	int tag = dwarf_tag(type);

	if ((tag != DW_TAG_class_type && tag != DW_TAG_structure_type) || name == NULL ||
	    strncmp(name, "basic_string<char,", 18) != 0)
		return false;
	*is_libcxx = ftr_libcxx_is_string(type);
	return *is_libcxx || has_std_string_bytes(type);
}

static bool is_char(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return dwarf_tag(type) == DW_TAG_base_type && dwarf_bytesize(type) == 1 && name != NULL &&
	       strcmp(name, "char") == 0;
}

/* @type is a pointer or a reference. */
static enum ftr_type_kind pointer_kind(Dwarf_Die *type, struct ftr_text_parts *text)
{
	Dwarf_Die target;

	if (!ftr_dwarf_type(type, &target, NULL))
		return FTR_TYPE_POINTER;
	text->is_followed = is_std_string(&target, &text->is_libcxx);
	if (text->is_followed)
		return FTR_TYPE_STD_STRING;
	text->is_followed = ftr_dwarf_text(&target, text);
	if (text->is_followed)
		return FTR_TYPE_TEXT;
	return dwarf_tag(type) == DW_TAG_pointer_type && is_char(&target) ? FTR_TYPE_STRING :
									   FTR_TYPE_POINTER;
}

static Dwarf_Word encoding_of(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;

	dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attr), &encoding);
	return encoding;
}

/*
 * gcc's and clang's __int128, Rust's i128 and u128.  What C23 calls _BitInt(100) has bits that
 * nobody sets.
 */
static bool is_int128(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type);

	return dwarf_bytesize(type) == 2 * POINTER_BYTES && name != NULL &&
	       (strstr(name, "__int128") != NULL || strcmp(name, "i128") == 0 ||
		strcmp(name, "u128") == 0);
}

static enum ftr_wide_kind wide_kind(const struct ftr_dwarf_types *types, Dwarf_Die *type)
{
	bool has_x87 = types->callconv == NULL || types->callconv->has_x87;
	int64_t bytes = dwarf_bytesize(type);

	switch (encoding_of(type)) {
	case DW_ATE_complex_float:	/* of other long doubles nobody reads the bits */
		return bytes == 8 || bytes == 16 ||
		       (has_x87 && ftr_dwarf_is_x87_complex(type)) ? FTR_WIDE_COMPLEX :
								     FTR_WIDE_NONE;
	case DW_ATE_signed:
		return is_int128(type) ? FTR_WIDE_SIGNED : FTR_WIDE_NONE;
	case DW_ATE_unsigned:
		return is_int128(type) ? FTR_WIDE_UNSIGNED : FTR_WIDE_NONE;
	default:
		return FTR_WIDE_NONE;
	}
}

static enum ftr_type_kind base_kind(const struct ftr_dwarf_types *types, Dwarf_Die *type,
				    uint32_t bytes)
{
	bool has_x87 = types->callconv == NULL || types->callconv->has_x87;
	Dwarf_Word encoding = encoding_of(type);

	if (bytes > POINTER_BYTES && !(has_x87 && ftr_dwarf_is_x87(type)))
		return FTR_TYPE_OPAQUE;
	switch (encoding) {
	case DW_ATE_float:
		return FTR_TYPE_FLOAT;
	case DW_ATE_complex_float:
		return FTR_TYPE_OPAQUE;
	case DW_ATE_boolean:
		return FTR_TYPE_BOOL;
	case DW_ATE_signed:
		return FTR_TYPE_SIGNED;
	case DW_ATE_signed_char:
		return is_char(type) ? FTR_TYPE_CHAR : FTR_TYPE_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_address:
		return is_char(type) ? FTR_TYPE_CHAR : FTR_TYPE_UNSIGNED;
	default:			/* gcc's and clang's _Complex int, for one */
		return FTR_TYPE_OPAQUE;
	}
}

static uint32_t array_bytes(Dwarf_Die *type)
{
	Dwarf_Word bytes = 0;

	return dwarf_aggregate_size(type, &bytes) == 0 && bytes <= UINT32_MAX ? (uint32_t)bytes : 0;
}

struct ftr_type ftr_dwarf_type_read(struct ftr_dwarf_types *types, Dwarf_Die *type,
				    const char *alias)
{
	const char *name = dwarf_diename(type) != NULL ? dwarf_diename(type) : alias;
	int64_t bytes = dwarf_bytesize(type);
	struct ftr_type read = { .kind = FTR_TYPE_OPAQUE,
				 .bytes = bytes > 0 && bytes <= UINT32_MAX ? (uint32_t)bytes : 0 };

	switch (dwarf_tag(type)) {
	case DW_TAG_base_type:
		read.kind = base_kind(types, type, read.bytes);
		read.wide = read.kind == FTR_TYPE_OPAQUE ? wide_kind(types, type) : FTR_WIDE_NONE;
		break;
	case DW_TAG_enumeration_type:
		read.kind = FTR_TYPE_ENUM;
		read.values = ftr_dwarf_enum_read(types, type, name);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		read.kind = pointer_kind(type, &read.text);
		read.bytes = POINTER_BYTES;
		if (read.kind == FTR_TYPE_POINTER)
			read.inner = ftr_dwarf_target(types, type);
		break;
	case DW_TAG_ptr_to_member_type:
		read.kind = ftr_dwarf_is_method_pointer(type) ? FTR_TYPE_OPAQUE : FTR_TYPE_SIGNED;
		read.bytes = ftr_dwarf_is_method_pointer(type) ? 2 * POINTER_BYTES : POINTER_BYTES;
		break;
	case DW_TAG_unspecified_type:		/* of nullptr */
		read.kind = FTR_TYPE_POINTER;
		read.bytes = POINTER_BYTES;
		break;
	case DW_TAG_array_type:		/* by value in Rust alone */
		read.bytes = array_bytes(type);
		break;
	default:
		if (is_std_string(type, &read.text.is_libcxx))
			read = (struct ftr_type){ .kind = FTR_TYPE_STD_STRING,
						  .bytes = POINTER_BYTES, .text = read.text };
		else if (ftr_dwarf_text(type, &read.text))
			read.kind = FTR_TYPE_TEXT;
	}
	if (read.kind == FTR_TYPE_OPAQUE) {
		read.name = ftr_dwarf_plain_name(types->arena, name);
		ftr_dwarf_members(types, type, &read);
	}
	return read;
}

static bool language_is_known(Dwarf_Die *function, bool *is_rust)
{
	Dwarf_Die unit;

	*is_rust = false;
	if (dwarf_diecu(function, &unit, NULL, NULL) == NULL)
		return false;
	switch (dwarf_srclang(&unit)) {
	case DW_LANG_Rust:
		*is_rust = true;
		return true;
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus:
		return true;
	default:
		return false;
	}
}

static const struct ftr_enum_type truth = {
	.id = UINT64_MAX, .name = "bool", .nr = 2, .values = { { "false", 0 }, { "true", 1 } },
};

static const char *producer_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;

	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL)
		return NULL;
	return dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attr));
}

/* Before clang 18 each half of an __int128 went where a long would have on x86-64. */
static bool is_in_halves(const struct ftr_dwarf_types *types, Dwarf_Die *type)
{
	static const char before[] = "clang version ";
	const char *producer = producer_of(type);

	if (!types->callconv->has_x87 || dwarf_tag(type) != DW_TAG_base_type || !is_int128(type))
		return false;
	producer = producer == NULL ? NULL : strstr(producer, before);
	return producer != NULL &&
	       strtoul(producer + sizeof(before) - 1, NULL, 10) < CLANG_WITH_WHOLE_INT128;
}

static bool leaves_read(const struct ftr_dwarf_types *types, Dwarf_Die *type, bool is_retval,
			enum ftr_rust_call call, struct ftr_leaves *leaves)
{
	unsigned word = types->callconv->word_bytes;
	struct ftr_leaves of_c = { 0 };
	bool is_known = ftr_dwarf_leaves(type, word, &of_c);

	*leaves = of_c;
	if (call != FTR_RUST_CALL_C) {
		*leaves = (struct ftr_leaves){ .word_bytes = word };
		if (word != POINTER_BYTES || !ftr_dwarf_rust_leaves(type, is_retval, leaves))
			return false;
		return call == FTR_RUST_CALL_OWN ||
		       (is_known &&
			ftr_callconv_is_same(types->callconv, leaves, &of_c, is_retval));
	}
	if (!is_known)
		return false;
	if (is_in_halves(types, type)) {
		leaves->is_apart = true;
		leaves->nr = 2;
		leaves->v[0] = (struct ftr_leaf){ FTR_LEAF_INTEGER, 0, word };
		leaves->v[1] = (struct ftr_leaf){ FTR_LEAF_INTEGER, word, word };
	}
	return true;
}

/* One value: what it is, and what the convention sees of it.  False: incomplete. */
static bool value_read(struct ftr_dwarf_types *types, Dwarf_Die *die, enum ftr_rust_call call,
		       struct ftr_parameter *param, struct ftr_leaves *leaves)
{
	unsigned word = types->callconv->word_bytes;
	const char *alias = NULL;
	Dwarf_Die type;

	if (!ftr_dwarf_type(die, &type, &alias))
		return false;
	types->left = types->depth;
	types->nesting = types->visited = 0;
	param->type = ftr_dwarf_type_read(types, &type, alias);
	if (param->type.kind == FTR_TYPE_BOOL) {	/* old readers know no other words */
		param->type.kind = FTR_TYPE_ENUM;
		param->type.values = &truth;
	}
	if (param->type.kind != FTR_TYPE_STD_STRING)
		return leaves_read(types, &type, dwarf_tag(die) == DW_TAG_subprogram, call, leaves);
	*leaves = (struct ftr_leaves){ .bytes = word, .align = word, .nr = 1 };
	leaves->v[0] = (struct ftr_leaf){ FTR_LEAF_INTEGER, 0, word };
	return true;
}

/* A std::string by value: the convention sees an object, and we its address. */
static bool is_object(Dwarf_Die *die)
{
	Dwarf_Die type;
	bool is_libcxx;

	return ftr_dwarf_type(die, &type, NULL) && is_std_string(&type, &is_libcxx);
}

/* Of what is in no place that is known nothing is told but its size. */
static void places_take(struct ftr_parameter *param, const struct ftr_places *places)
{
	if (places->nr == 1 && places->v[0].kind == FTR_PLACE_NOWHERE)
		param->type = (struct ftr_type){
			.kind = FTR_TYPE_OPAQUE, .bytes = param->type.bytes,
			.name = param->type.name != NULL ? param->type.name : "",
		};
	param->is_pointed = places->is_pointed;
	param->place_nr = places->nr;
	memcpy(param->places, places->v, sizeof(param->places));
}

static void room_pass(const struct ftr_callconv *callconv, struct ftr_callconv_state *state)
{
	if (callconv->integer_nr > 0)
		state->integers++;
	else
		state->stack_bytes += callconv->word_bytes;
}

static bool is_by_llvm(Dwarf_Die *function)
{
	const char *producer = producer_of(function);

	return producer != NULL &&
	       (strstr(producer, "clang") != NULL || strstr(producer, "LLVM") != NULL);
}

/* @is_own: LLVM need not call it as others do, and makes what is quickest. */
static bool retval_read(struct ftr_dwarf_types *types, Dwarf_Die *function,
			enum ftr_rust_call call, bool is_own, struct ftr_callconv_state *state,
			struct ftr_parameter *retval)
{
	struct ftr_places places = { 0 };
	struct ftr_leaves leaves;
	bool is_room;

	if (ftr_dwarf_is_void(function))
		return true;
	if (!value_read(types, function, call, retval, &leaves)) {
		retval->type.kind = FTR_TYPE_NONE;
		return false;	/* it may take a register of the arguments */
	}
	ftr_callconv_retval(types->callconv, state, &leaves, &places);
	is_room = places.is_pointed || is_object(function);	/* the caller's */
	if (is_room && (call != FTR_RUST_CALL_C || is_own || types->callconv->passes_addresses))
		places.v[0].kind = FTR_PLACE_RESULT;	/* its address need not come back */
	places_take(retval, &places);
	if (is_object(function))
		room_pass(types->callconv, state);
	return true;
}

static int param_first(Dwarf_Die *function, Dwarf_Die *child)
{
	int ret = dwarf_child(function, child);

	while (ret == 0 && dwarf_tag(child) != DW_TAG_formal_parameter)
		ret = dwarf_siblingof(child, child);
	return ret;
}

/* An instance without parameters of its own has those of what it is one of. */
static int params_begin(Dwarf_Die *function, Dwarf_Die *child)
{
	static const unsigned origins[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attr;
	Dwarf_Die origin;
	int ret = param_first(function, child);

	for (size_t i = 0; ret != 0 && i < sizeof(origins) / sizeof(origins[0]); i++) {
		if (dwarf_attr(function, origins[i], &attr) != NULL &&
		    dwarf_formref_die(&attr, &origin) != NULL)
			ret = param_first(&origin, child);
	}
	return ret;
}

/* "this" and its like. */
static bool is_hidden(Dwarf_Die *param)
{
	return ftr_dwarf_is_flag(param, DW_AT_artificial);
}

/* What constructors have in their declaration alone. */
static bool is_passed(Dwarf_Die *param)
{
	const char *name = dwarf_diename(param);

	return name == NULL || strcmp(name, "__in_chrg") != 0;
}

static int params_told(Dwarf_Die *function)
{
	Dwarf_Die child;
	int nr = 0, ret = params_begin(function, &child);

	for (; ret == 0; ret = dwarf_siblingof(&child, &child))
		nr += dwarf_tag(&child) == DW_TAG_formal_parameter && !is_hidden(&child);
	return nr;
}

/*
 * Of functions that their own file calls alone LLVM leaves the value out, or what is known of it
 * before: what is in its register then is anything.  Memory is written by the function itself.
 */
static bool is_retval_doubtful(Dwarf_Die *function, const struct ftr_parameter *retval)
{
	return retval->places[0].kind != FTR_PLACE_RESULT && ftr_dwarf_is_optimized(function);
}

/* To be shown in its place, so that those behind it keep theirs. */
static const struct ftr_enum_type optimized = {
	.id = UINT64_MAX - 1, .name = "optimized", .nr = 1, .values = { { "optimized_out", 0 } },
};

static const struct ftr_enum_type unknown = {
	.id = UINT64_MAX - 2, .name = "unknown", .nr = 1, .values = { { "?", 0 } },
};

static void word_put(struct ftr_parameter *param, const struct ftr_enum_type *word)
{
	*param = (struct ftr_parameter){
		.type = { .kind = FTR_TYPE_ENUM, .bytes = sizeof(uint32_t), .values = word },
		.place_nr = 1,
		.places = { { FTR_PLACE_NOWHERE, 0, sizeof(uint32_t) } },
	};
}

/* The place of a std::string has its address. */
static bool is_there(const struct ftr_dwarf_types *types, Dwarf_Die *function, Dwarf_Die *param,
		     const struct ftr_places *places)
{
	struct ftr_places asked = *places;

	asked.is_pointed |= is_object(param);
	return ftr_dwarf_is_at(types->callconv, function, param, &asked);
}

/* Behind it there is padding alone. */
static uint32_t leaves_end(const struct ftr_leaves *leaves)
{
	uint32_t end = leaves->nr == 0 || leaves->is_memory ? leaves->bytes : 0;

	for (uint32_t i = 0; i < leaves->nr; i++) {
		const struct ftr_leaf *leaf = &leaves->v[i];

		end = leaf->offset + leaf->bytes > end ? leaf->offset + leaf->bytes : end;
	}
	return end;
}

/* @is_told_alone: no convention says where it is, but debug info of optimised code may. */
static bool param_place(const struct ftr_dwarf_types *types, Dwarf_Die *function, Dwarf_Die *param,
			const struct ftr_leaves *leaves, bool is_told_alone,
			struct ftr_callconv_state *state, struct ftr_places *places)
{
	struct ftr_callconv_state before = *state;
	enum ftr_dwarf_place told = FTR_DWARF_PLACE_UNTOLD;

	*places = (struct ftr_places){ 0 };
	ftr_callconv_argument(types->callconv, state, leaves, places);
	if (types->callconv->has_variants || is_told_alone)
		told = ftr_dwarf_place(types->callconv, function, param, leaves_end(leaves),
				       places);
	if (told == FTR_DWARF_PLACE_REGISTERS)
		*state = before;
	return is_told_alone ? told == FTR_DWARF_PLACE_REGISTERS : told != FTR_DWARF_PLACE_UNKNOWN;
}

const struct ftr_signature *ftr_dwarf_signature(struct ftr_dwarf_types *types, Dwarf_Die *function)
{
	struct ftr_parameter params[PARAMS_MAX] = { 0 };
	struct ftr_signature read = { 0 }, *signature;
	struct ftr_callconv_state state = { 0 };
	struct ftr_places places;
	struct ftr_leaves leaves;
	bool is_llvm = is_by_llvm(function);
	bool is_doubtful = is_llvm && !ftr_dwarf_is_flag(function, DW_AT_external);
	bool is_changed = is_doubtful && ftr_dwarf_is_optimized(function);
	bool has_changed = ftr_dwarf_is_changed(function), is_rust, is_told_alone, is_known;
	enum ftr_rust_call call = FTR_RUST_CALL_C;
	Dwarf_Die child;
	int ret;

	if (!language_is_known(function, &is_rust))
		return NULL;
	if (is_rust)
		call = ftr_dwarf_rust_call(function);
	is_told_alone = !retval_read(types, function, call, is_doubtful, &state, &read.retval) ||
			has_changed ||
			(is_llvm && ftr_dwarf_has_lost_params(function, params_told(function)));
	if (has_changed || (is_doubtful && is_retval_doubtful(function, &read.retval)))
		read.retval = (struct ftr_parameter){ 0 };
	ret = params_begin(function, &child);
	for (; ret == 0 && read.nr < PARAMS_MAX; ret = dwarf_siblingof(&child, &child)) {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter || !is_passed(&child))
			continue;
		is_known = value_read(types, &child, call, &params[read.nr], &leaves);
		if (is_llvm && !(is_known && params[read.nr].type.bytes == 0) &&
		    ftr_dwarf_is_optimized_out(function, &child)) {
			if (is_known)
				ftr_callconv_argument(types->callconv, &state, &leaves, &places);
			is_told_alone |= is_doubtful || !is_known;
			word_put(&params[read.nr++], &optimized);
			continue;
		}
		if (is_hidden(&child))		/* a constructor's is no object yet */
			params[read.nr].type.kind = FTR_TYPE_POINTER;
		is_known = is_known && param_place(types, function, &child, &leaves, is_told_alone,
						   &state, &places);
		if (is_known)
			places_take(&params[read.nr], &places);
		if (!is_known || (is_changed && !is_there(types, function, &child, &places))) {
			word_put(&params[read.nr], &unknown);
			is_told_alone = true;	/* those behind it are where that was not */
		}
		read.nr++;
	}
	signature = ftr_arena_alloc(types->arena, sizeof(read) + read.nr * sizeof(params[0]));
	if (signature == NULL)
		return NULL;
	*signature = read;
	memcpy(signature->params, params, read.nr * sizeof(params[0]));
	return signature;
}
