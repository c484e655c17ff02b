/* SPDX-License-Identifier: MIT */
/* Which functions a module has, and what leads to their first bytes. */
#include "utils/patch/functions.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/bits.h"
#include "utils/base/bytes.h"
#include "utils/object/code_range.h"
#include "utils/object/landing_pads.h"
#include "utils/patch/move.h"

#define GRANULE 16u
#define IMAGE_BYTES_MAX FTR_MIB(1024)
#define COLD ".cold"

static bool is_inside(const struct ftr_code *code, uint64_t addr)
{
	return addr - code->addr < code->size;
}

static const struct ftr_code *section_of(const struct ftr_functions *functions, uint64_t addr)
{
	for (size_t i = 0; i < functions->code.nr; i++) {
		if (is_inside(&functions->code.v[i], addr))
			return &functions->code.v[i];
	}
	return NULL;
}

struct ftr_function *ftr_function_before(const struct ftr_functions *functions, uint64_t addr)
{
	size_t granule = (addr - functions->low) / GRANULE, i;

	if (addr < functions->low || granule >= functions->starts.nr)
		return NULL;
	i = functions->starts.v[granule];
	while (i < functions->all.nr && functions->all.v[i].addr <= addr)
		i++;
	return i > 0 ? &functions->all.v[i - 1] : NULL;
}

struct ftr_function *ftr_function_around(const struct ftr_functions *functions, uint64_t addr)
{
	struct ftr_function *function = ftr_function_before(functions, addr);

	return function != NULL && addr - function->addr < function->bytes ? function : NULL;
}

struct ftr_code ftr_function_code(const struct ftr_function *function)
{
	uint64_t at = function->addr - function->section->addr;

	return (struct ftr_code){
		.bytes = function->section->bytes + at, .size = function->bytes,
		.addr = function->addr,
	};
}

/*
 * Parts lie elsewhere when the compiler takes them for unlikely.  Without a name they are known by
 * how they are reached: compilers jump to other functions too, but hardly on a condition.
 */
bool ftr_function_may_be_part(const struct ftr_function *function)
{
	if (!function->is_entry)
		return true;
	if (function->symbol != NULL)
		return strstr(function->symbol->name, COLD) != NULL;
	return function->is_branched_to ||
	       (function->is_jumped_to && !function->is_called && !function->is_taken);
}

/* What a lead says about the code that it leads to. */
struct news {
	struct ftr_functions *functions;
	struct ftr_function *to;
	const struct ftr_function *from; /* (nullable) */
	uint8_t kind;			/* enum ftr_lead_kind */
	int ret;
};

static uint32_t index_of(const struct ftr_functions *functions, const struct ftr_function *one)
{
	return (uint32_t)(one - functions->all.v);
}

static void jump_add(struct news *news)
{
	struct ftr_function_jump jump = { index_of(news->functions, news->from),
					  index_of(news->functions, news->to) };

	if (ftr_vec_push(&news->functions->jumps, jump) < 0)
		news->ret = -ENOMEM;
}

static void start_reached(struct news *news)
{
	struct ftr_function *to = news->to;
	if (news->kind == FTR_LEAD_CALL) {
		to->is_called = true;
	} else if (news->kind == FTR_LEAD_ADDRESS) {
		to->is_taken = true;
	} else if (news->from == to) {
		to->is_loop = true;
	} else {
		to->is_jumped_to |= news->kind == FTR_LEAD_JUMP;
		to->is_branched_to |= news->kind == FTR_LEAD_BRANCH;
		if (news->from != NULL)
			jump_add(news);
	}
}

static void place_reached(struct news *news, uint64_t distance)
{
	struct ftr_function *to = news->to;

	if (distance >= to->bytes) {
		to->behind |= FTR_BIT64(distance - to->bytes);
		return;
	}
	if (!to->is_entry && news->from != NULL && news->from != to)
		to->parent = index_of(news->functions, news->from) + 1;
	if (distance == 0 || distance == to->landing)
		start_reached(news);
	else if (distance < to->landing)
		to->into = UINT8_MAX;
	else if (distance - to->landing < FTR_FUNCTION_INTO_MAX)
		to->into |= (uint8_t)FTR_BIT(distance - to->landing);
}

/* The first place that ends behind @addr; NULL = there is none. */
static struct ftr_code_place *place_at(const struct ftr_functions *functions, uint64_t addr)
{
	size_t low = 0, high = functions->place_nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->places[middle].addr + FTR_PLACE_BYTES <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < functions->place_nr ? &functions->places[low] : NULL;
}

static bool is_in_place(const struct ftr_functions *functions, uint64_t addr)
{
	const struct ftr_code_place *place = place_at(functions, addr);

	return place != NULL && place->addr <= addr;
}

/* Places may overlap. */
static void places_mark(const struct ftr_functions *functions, uint64_t addr)
{
	struct ftr_code_place *place = place_at(functions, addr);
	const struct ftr_code_place *end = functions->places + functions->place_nr;

	for (; place != NULL && place < end && place->addr <= addr; place++)
		place->into |= FTR_BIT(addr - place->addr);
}

/* Does it matter?  What is short needs to be decoded then. */
static bool is_close(const struct ftr_function *to, uint64_t distance)
{
	return distance < (uint64_t)to->landing + FTR_FUNCTION_INTO_MAX ||
	       distance - to->bytes < FTR_FUNCTION_BEHIND_MAX;
}

/* What of @code is decoded to know the instruction at @addr: its function, or what is before. */
static struct ftr_code code_before(const struct ftr_functions *functions,
				   const struct ftr_code *code, uint64_t addr)
{
	const struct ftr_function *before = ftr_function_before(functions, addr);
	struct ftr_code own = *code;
	uint64_t start;

	if (before == NULL || before->section != code)
		return own;
	if (addr - before->addr < before->bytes)
		return ftr_function_code(before);
	start = before->addr + before->bytes;
	own.bytes += start - code->addr;
	own.size -= start - code->addr;
	own.addr = start;
	return own;
}

static bool is_real(const struct ftr_functions *functions, const struct ftr_code *code,
		    const struct ftr_lead *lead)
{
	uint64_t addr = code->addr + lead->at;
	struct ftr_code own;

	if (!lead->is_short)
		return true;
	own = code_before(functions, code, addr);
	return ftr_move_has_short_branch(&own, addr - own.addr);
}

/* Else it is a number that looks like an address by chance, or one of data. */
static bool may_be_code(const struct ftr_functions *functions, uint64_t addr)
{
	return addr % functions->arch->plain->insn_align == 0;
}

/*
 * A table of distances, from itself to where its function goes on?  That it ends is seen by
 * what does not lead into the function.
 */
static void table_read(struct news *news, uint64_t table)
{
	const struct ftr_code *data = NULL;
	uint64_t at;

	for (size_t i = 0; i < news->functions->data.nr && data == NULL; i++) {
		if (is_inside(&news->functions->data.v[i], table))
			data = &news->functions->data.v[i];
	}
	if (data == NULL || news->from == NULL)
		return;
	for (at = table - data->addr; at + sizeof(uint32_t) <= data->size; at += sizeof(uint32_t)) {
		int32_t entry = (int32_t)ftr_get_u32(data->bytes + at, false);
		uint64_t to = table + (uint64_t)(int64_t)entry;

		if (to - news->from->addr >= news->from->bytes || !may_be_code(news->functions, to))
			break;
		places_mark(news->functions, to);
		news->to = ftr_function_around(news->functions, to);
		news->kind = FTR_LEAD_JUMP;
		place_reached(news, to - news->to->addr);
	}
}

static void lead_take(void *arg, const struct ftr_code *code, const struct ftr_lead *lead)
{
	struct news *news = arg;
	struct ftr_functions *functions = news->functions;
	uint64_t distance;
	bool matters;

	news->kind = lead->kind;
	news->to = may_be_code(functions, lead->to) ? ftr_function_before(functions, lead->to) :
						      NULL;
	if (news->to == NULL || !is_inside(news->to->section, lead->to)) {
		news->from = ftr_function_around(functions, code->addr + lead->at);
		if (lead->kind == FTR_LEAD_ADDRESS)
			table_read(news, lead->to);
		return;
	}
	distance = lead->to - news->to->addr;
	matters = is_close(news->to, distance) ||
		  (!news->to->is_entry && distance < news->to->bytes);
	if ((!matters && !is_in_place(functions, lead->to)) || !is_real(functions, code, lead))
		return;
	places_mark(functions, lead->to);
	if (!matters)
		return;
	news->from = ftr_function_around(functions, code->addr + lead->at);
	place_reached(news, distance);
}

static void address_take(struct news *news, uint64_t addr)
{
	if (!may_be_code(news->functions, addr))
		return;
	places_mark(news->functions, addr);
	news->to = ftr_function_before(news->functions, addr);
	news->from = NULL;
	news->kind = FTR_LEAD_ADDRESS;
	if (news->to != NULL && is_inside(news->to->section, addr) &&
	    addr - news->to->addr < news->to->bytes)
		place_reached(news, addr - news->to->addr);
}

/* Addresses that lie in data: of functions, and of tables of places in them. */
static void data_read(struct news *news)
{
	for (size_t i = 0; i < news->functions->data.nr; i++) {
		const struct ftr_code *data = &news->functions->data.v[i];
		uint64_t at = -data->addr % sizeof(uint64_t);

		for (; at + sizeof(uint64_t) <= data->size; at += sizeof(uint64_t))
			address_take(news, ftr_get_u64(data->bytes + at, false));
	}
}

/* ... and those that the loader puts there. */
static void relocations_read(struct news *news)
{
	const struct ftr_elf_file *file = news->functions->file;
	uint32_t relative = news->functions->arch->patch->reloc_relative;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	GElf_Rela rela;

	while ((scn = elf_nextscn(file->elf, scn)) != NULL) {
		Elf_Data *relas;

		if (gelf_getshdr(scn, &shdr) == NULL || shdr.sh_type != SHT_RELA ||
		    (shdr.sh_flags & SHF_ALLOC) == 0)
			continue;
		relas = ftr_elf_section_data(scn, &shdr);
		for (int i = 0; relas != NULL && gelf_getrela(relas, i, &rela) != NULL; i++) {
			if (GELF_R_TYPE(rela.r_info) == relative)
				address_take(news, (uint64_t)rela.r_addend);
		}
	}
}

/* A part that leads to the start of the function that it is of makes that a loop. */
static void loops_find(struct ftr_functions *functions)
{
	const struct ftr_function_jump *jump = functions->jumps.v;
	const struct ftr_function_jump *end = jump + functions->jumps.nr;

	for (; jump < end; jump++) {		/* nameless parts look like functions */
		struct ftr_function *to = &functions->all.v[jump->to];

		if (to->parent == 0 && ftr_function_may_be_part(to))
			to->parent = jump->from + 1;
	}
	for (jump = functions->jumps.v; jump < end; jump++) {
		const struct ftr_function *from = &functions->all.v[jump->from];

		if (ftr_function_may_be_part(from) && from->parent == jump->to + 1)
			functions->all.v[jump->to].is_loop = true;
	}
}

static int leads_find(struct ftr_functions *functions)
{
	struct news news = { .functions = functions };

	for (size_t i = 0; i < functions->code.nr; i++)
		functions->arch->plain->leads(&functions->code.v[i], functions->low,
					      functions->high, lead_take, &news);
	data_read(&news);
	relocations_read(&news);
	loops_find(functions);
	return news.ret;
}

/* Does it hold addresses, or tables of distances, that code uses? */
static bool is_data(const struct ftr_elf_file *file, const GElf_Shdr *shdr)
{
	static const char *const others[] = { ".eh_frame", ".eh_frame_hdr", ".gcc_except_table",
					      ".interp" };

	if (shdr->sh_type == SHT_INIT_ARRAY || shdr->sh_type == SHT_FINI_ARRAY ||
	    shdr->sh_type == SHT_PREINIT_ARRAY)
		return true;
	if (shdr->sh_type != SHT_PROGBITS)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (strcmp(ftr_elf_section_name(file, shdr), others[i]) == 0)
			return false;
	}
	return true;
}

static int sections_find(struct ftr_functions *functions)
{
	const struct ftr_elf_file *file = functions->file;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int ret = 0;

	while (ret == 0 && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		struct ftr_code code;
		Elf_Data *data;

		if (gelf_getshdr(scn, &shdr) == NULL || (shdr.sh_flags & SHF_ALLOC) == 0 ||
		    shdr.sh_type == SHT_NOBITS)
			continue;
		data = ftr_elf_section_data(scn, &shdr);
		if (data == NULL)
			continue;
		code = (struct ftr_code){ .bytes = data->d_buf, .size = data->d_size,
					  .addr = shdr.sh_addr };
		if ((shdr.sh_flags & SHF_EXECINSTR) != 0)
			ret = ftr_vec_push(&functions->code, code);
		else if (is_data(file, &shdr))
			ret = ftr_vec_push(&functions->data, code);
	}
	return ret;
}

static void image_find(struct ftr_functions *functions)
{
	const struct ftr_elf_file *file = functions->file;
	GElf_Phdr phdr;
	size_t nr = 0;

	functions->low = file->base;
	functions->high = file->base;
	if (elf_getphdrnum(file->elf, &nr) < 0)
		return;
	for (size_t i = 0; i < nr && gelf_getphdr(file->elf, (int)i, &phdr) != NULL; i++) {
		if (phdr.p_type == PT_LOAD && phdr.p_vaddr + phdr.p_memsz > functions->high)
			functions->high = phdr.p_vaddr + phdr.p_memsz;
	}
	if (functions->high - functions->low > IMAGE_BYTES_MAX)
		functions->high = functions->low;
}

static int function_add(struct ftr_functions *functions, const struct ftr_symtab *symbols,
			const struct ftr_code_range *range, uint64_t limit)
{
	const struct ftr_symbol *symbol = ftr_symtab_find(symbols, range->addr - functions->low);
	struct ftr_function function = {
		.section = section_of(functions, range->addr),
		.addr = range->addr,
		/* Where a program begins there is no return address. */
		.is_entry = range->is_entry && range->addr != functions->file->ehdr.e_entry,
	};
	uint64_t end = range->addr + range->bytes;

	if (function.section == NULL)
		return 0;
	if (end > limit) {			/* code that two share */
		end = limit;
		function.is_entry = false;
	}
	if (end > function.section->addr + function.section->size)
		end = function.section->addr + function.section->size;
	function.bytes = (uint32_t)(end - range->addr);
	if (symbol != NULL && symbol->addr == range->addr - functions->low)
		function.symbol = symbol;
	function.landing = (uint8_t)functions->arch->patch->landing_bytes(
		function.section->bytes + (range->addr - function.section->addr), function.bytes);
	return ftr_vec_push(&functions->all, function);
}

static void pad_take(void *arg, uint64_t addr)
{
	places_mark(arg, addr);
}

static int functions_add(struct ftr_functions *functions, const struct ftr_symtab *symbols)
{
	struct ftr_code_ranges ranges = { 0 };
	int ret = ftr_code_ranges_load(&ranges, functions->file);

	for (size_t i = 0; ret == 0 && i < ranges.ranges.nr; i++) {
		const struct ftr_code_range *range = &ranges.ranges.v[i];

		ret = function_add(functions, symbols, range,
				   i + 1 < ranges.ranges.nr ? range[1].addr : UINT64_MAX);
		if (functions->place_nr > 0)
			ftr_landing_pads(functions->file, range, pad_take, functions);
	}
	ftr_code_ranges_fini(&ranges);
	return ret;
}

static int starts_index(struct ftr_functions *functions)
{
	size_t granules = (functions->high - functions->low) / GRANULE + 1, i = 0, granule;

	if (ftr_vec_reserve(&functions->starts, granules) < 0)
		return -ENOMEM;
	for (granule = 0; granule < granules; granule++) {
		while (i < functions->all.nr &&
		       functions->all.v[i].addr < functions->low + granule * GRANULE)
			i++;
		functions->starts.v[granule] = (uint32_t)i;
	}
	functions->starts.nr = granules;
	return 0;
}

/* Symbols of functions where no information begins, such as assembly without any. */
static void frameless_count(struct ftr_functions *functions, const struct ftr_symtab *symbols)
{
	for (size_t i = 0; i < symbols->nr; i++) {
		const struct ftr_symbol *symbol = &symbols->symbols[i];
		uint64_t addr = symbol->addr + functions->low;
		const struct ftr_function *function = ftr_function_before(functions, addr);

		if (strchr("tTwi", symbol->type) != NULL && section_of(functions, addr) != NULL &&
		    (function == NULL || function->addr != addr))
			functions->without_frames++;
	}
}

int ftr_functions_load(struct ftr_functions *functions, const struct ftr_elf_file *file,
		       const struct ftr_symtab *symbols)
{
	int ret;

	*functions = (struct ftr_functions){
		.file = file,
		.places = functions->places,
		.place_nr = functions->place_nr,
		.arch = ftr_arch_find(file->ehdr.e_machine, file->ehdr.e_ident[EI_CLASS]),
	};
	if (functions->arch == NULL || functions->arch->plain == NULL ||
	    functions->arch->patch == NULL)
		return 0;
	image_find(functions);
	ret = sections_find(functions);
	if (ret == 0)
		ret = functions_add(functions, symbols);
	if (ret == 0)
		ret = starts_index(functions);
	if (ret < 0)
		return ret;
	frameless_count(functions, symbols);
	return leads_find(functions);
}

void ftr_functions_fini(struct ftr_functions *functions)
{
	ftr_vec_fini(&functions->code);
	ftr_vec_fini(&functions->data);
	ftr_vec_fini(&functions->all);
	ftr_vec_fini(&functions->starts);
	ftr_vec_fini(&functions->jumps);
}
