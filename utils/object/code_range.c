/* SPDX-License-Identifier: MIT */
/* Functions' places, from .eh_frame (its entries are taken apart by libdw). */
#include "utils/object/code_range.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "utils/base/bits.h"
#include "utils/object/eh_cursor.h"

#define OPCODE_HIGH 0xc0	/* of the operations that have an operand in the lower bits */

/* How the addresses of a CIE's entries are written. */
struct cie {
	Dwarf_Off offset;
	uint8_t encoding, pads_encoding; /* DW_EH_PE_* */
	bool has_pads;			/* entries tell where their landing pads are */
	bool is_known;
	bool is_signal;
	Dwarf_CIE cie;
};

/* The augmentation tells, behind what else it tells. */
static void cie_read(struct cie *cie)
{
	const uint8_t *data = cie->cie.augmentation_data;
	struct ftr_eh_cursor in = { data, data, data == NULL };
	const char *letter = cie->cie.augmentation;

	cie->encoding = DW_EH_PE_absptr;
	cie->is_known = *letter == '\0' || *letter == 'z';
	if (data != NULL)
		in.end += cie->cie.augmentation_data_size;
	for (letter += *letter == 'z'; *letter != '\0' && cie->is_known; letter++) {
		if (*letter == 'R')
			cie->encoding = (uint8_t)ftr_eh_take(&in, 1);
		else if (*letter == 'L')
			cie->has_pads = (cie->pads_encoding = (uint8_t)ftr_eh_take(&in, 1)) !=
					DW_EH_PE_omit;
		else if (*letter == 'P')
			ftr_eh_skip(&in, ftr_eh_encoded_bytes((uint8_t)ftr_eh_take(&in, 1)));
		else if (*letter == 'S')
			cie->is_signal = true;
		else if (*letter != 'B')
			cie->is_known = false;
	}
	cie->is_known &= *cie->cie.augmentation == '\0' || !in.failed;
}

/* What the information says before its function's first instruction. */
struct rules {
	uint64_t cfa_register, cfa_offset;
	uint64_t return_register;
	uint64_t return_offset;		/* below the CFA, in units of the CIE's factor */
	bool return_is_saved;
	bool saves_more;		/* or something that is not looked at */
};

static void rule_save(struct rules *rules, uint64_t reg, uint64_t offset)
{
	if (reg == rules->return_register) {
		rules->return_offset = offset;
		rules->return_is_saved = true;
	} else {
		rules->saves_more = true;
	}
}

/* Does the operation say more about the same place? */
static bool rule_take(struct ftr_eh_cursor *in, struct rules *rules)
{
	uint8_t op = (uint8_t)ftr_eh_take(in, 1), low = op & (uint8_t)~OPCODE_HIGH;

	switch (op & OPCODE_HIGH) {
	case DW_CFA_advance_loc:
		return false;
	case DW_CFA_offset:
		rule_save(rules, low, ftr_eh_take_uleb(in));
		return true;
	default:
		break;
	}
	switch (op) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc: case DW_CFA_advance_loc1: case DW_CFA_advance_loc2:
	case DW_CFA_advance_loc4:
		return false;
	case DW_CFA_def_cfa:
		rules->cfa_register = ftr_eh_take_uleb(in);
		rules->cfa_offset = ftr_eh_take_uleb(in);
		return true;
	case DW_CFA_def_cfa_register:
		rules->cfa_register = ftr_eh_take_uleb(in);
		return true;
	case DW_CFA_def_cfa_offset:
		rules->cfa_offset = ftr_eh_take_uleb(in);
		return true;
	case DW_CFA_GNU_args_size:
		ftr_eh_take_uleb(in);
		return true;
	default:
		rules->saves_more = true;
		return false;
	}
}

static void rules_take(struct rules *rules, const uint8_t *from, const uint8_t *end)
{
	struct ftr_eh_cursor in = { from, end, false };

	while (in.at < in.end && !in.failed && rule_take(&in, rules))
		;
	rules->saves_more |= in.failed;
}

/* Skip the operands of an operation, or find that it says that nothing is returned to. */
static bool denies_return(struct ftr_eh_cursor *in, uint8_t op, const struct cie *cie)
{
	switch (op) {
	case DW_CFA_undefined:
		return ftr_eh_take_uleb(in) == cie->cie.return_address_register;
	case DW_CFA_nop: case DW_CFA_remember_state: case DW_CFA_restore_state:
	case DW_CFA_GNU_window_save:
		return false;
	case DW_CFA_set_loc:
		ftr_eh_skip(in, ftr_eh_encoded_bytes(cie->encoding));
		return false;
	case DW_CFA_advance_loc1: case DW_CFA_advance_loc2: case DW_CFA_advance_loc4:
		ftr_eh_skip(in, FTR_BIT64(op - DW_CFA_advance_loc1));
		return false;
	case DW_CFA_restore_extended: case DW_CFA_same_value: case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset: case DW_CFA_def_cfa_offset_sf: case DW_CFA_GNU_args_size:
		ftr_eh_take_uleb(in);
		return false;
	case DW_CFA_offset_extended: case DW_CFA_register: case DW_CFA_def_cfa:
	case DW_CFA_offset_extended_sf: case DW_CFA_def_cfa_sf: case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf: case DW_CFA_GNU_negative_offset_extended:
		ftr_eh_take_uleb(in);
		ftr_eh_take_uleb(in);
		return false;
	case DW_CFA_expression: case DW_CFA_val_expression:
		ftr_eh_take_uleb(in);
		ftr_eh_skip(in, ftr_eh_take_uleb(in));
		return false;
	case DW_CFA_def_cfa_expression:
		ftr_eh_skip(in, ftr_eh_take_uleb(in));
		return false;
	default:
		in->failed = true;
		return false;
	}
}

/*
 * Does it have no return address, at any of its instructions?  A program's start has none: those of
 * some C libraries say so behind the endbr64 only.
 */
static bool never_returns(const struct cie *cie, const uint8_t *from, const uint8_t *end)
{
	struct ftr_eh_cursor in = { from, end, false };

	while (in.at < in.end && !in.failed) {
		uint8_t op = (uint8_t)ftr_eh_take(&in, 1);

		if ((op & OPCODE_HIGH) == DW_CFA_offset)
			ftr_eh_take_uleb(&in);
		else if ((op & OPCODE_HIGH) == 0 && denies_return(&in, op, cie))
			return true;
	}
	return false;
}

static bool is_as_called(const struct rules *rules, const struct ftr_arch_entry *entry,
			 int64_t factor)
{
	return rules->cfa_register == entry->cfa_register &&
	       rules->cfa_offset == entry->cfa_offset &&
	       rules->return_is_saved == entry->return_is_saved &&
	       (!entry->return_is_saved ||
		(int64_t)rules->return_offset * factor == -(int64_t)sizeof(uint64_t));
}

static bool is_entry(const struct cie *cie, const struct ftr_arch_entry *entry, const uint8_t *from,
		     const uint8_t *end)
{
	struct rules rules = { .return_register = entry->return_register };

	rules_take(&rules, cie->cie.initial_instructions, cie->cie.initial_instructions_end);
	rules_take(&rules, from, end);
	return !cie->is_signal && !never_returns(cie, from, end) && !rules.saves_more &&
	       cie->cie.return_address_register == entry->return_register &&
	       is_as_called(&rules, entry, cie->cie.data_alignment_factor);
}

/* The section at work. */
struct frames {
	const struct ftr_elf_file *file;
	const struct ftr_arch_entry *entry;
	GElf_Shdr shdr;
	Elf_Data *data;
	struct cie cie;			/* of the last entry */
	struct ftr_code_ranges *ranges;
};

static bool cie_find(struct frames *frames, Dwarf_Off offset)
{
	struct cie *cie = &frames->cie;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (cie->offset == offset)
		return cie->is_known;
	*cie = (struct cie){ .offset = offset };
	if (dwarf_next_cfi((const unsigned char *)&frames->file->ehdr, frames->data, true, offset,
			   &next, &entry) != 0 || entry.CIE_id != DW_CIE_ID_64)
		return false;
	cie->cie = entry.cie;
	cie_read(cie);
	return cie->is_known;
}

/* The table of its landing pads, whose address is the first of what the entry adds; 0 = none. */
static uint64_t pads_find(const struct frames *frames, struct ftr_eh_cursor in, ptrdiff_t at)
{
	const struct cie *cie = &frames->cie;
	struct ftr_eh_cursor raw = in;

	if (!cie->has_pads || ftr_eh_take_encoded(&raw, cie->pads_encoding & 0x0f, 0) == 0)
		return 0;
	return ftr_eh_take_encoded(&in, cie->pads_encoding,
				   frames->shdr.sh_addr + (uint64_t)at);
}

static int range_add(struct frames *frames, const Dwarf_FDE *fde, Dwarf_Off offset)
{
	const uint8_t *start = frames->data->d_buf;
	struct ftr_eh_cursor in = { fde->start, fde->end, false };
	uint64_t place = frames->shdr.sh_addr + (uint64_t)(fde->start - start);
	struct ftr_code_range range = { .frame = frames->shdr.sh_addr + offset };

	if (!cie_find(frames, fde->CIE_pointer))
		return 0;
	range.addr = ftr_eh_take_encoded(&in, frames->cie.encoding, place);
	range.bytes = ftr_eh_take(&in, ftr_eh_encoded_bytes(frames->cie.encoding));
	range.pads = 0;
	if (frames->cie.cie.augmentation[0] == 'z') {
		uint64_t bytes = ftr_eh_take_uleb(&in);

		range.pads = pads_find(frames, in, in.at - start);
		ftr_eh_skip(&in, bytes);
	}
	if (in.failed || range.bytes == 0)
		return 0;
	range.is_entry = is_entry(&frames->cie, frames->entry, in.at, in.end);
	return ftr_vec_push(&frames->ranges->ranges, range);
}

static int by_address(const void *left, const void *right)
{
	const struct ftr_code_range *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->is_entry - b->is_entry;	/* where two disagree, it is taken for a part */
}

static void sort(struct ftr_code_ranges *all)
{
	size_t i, nr = 0;

	if (all->ranges.nr == 0)
		return;
	qsort(all->ranges.v, all->ranges.nr, sizeof(all->ranges.v[0]), by_address);
	for (i = 0; i < all->ranges.nr; i++) {
		if (nr == 0 || all->ranges.v[i].addr != all->ranges.v[nr - 1].addr)
			all->ranges.v[nr++] = all->ranges.v[i];
	}
	all->ranges.nr = nr;
}

int ftr_code_ranges_load(struct ftr_code_ranges *ranges, const struct ftr_elf_file *file)
{
	const struct ftr_arch *arch = ftr_arch_find(file->ehdr.e_machine,
						    file->ehdr.e_ident[EI_CLASS]);
	struct frames frames = { .file = file, .cie = { .offset = UINT64_MAX }, .ranges = ranges };
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_NULL, ".eh_frame", &frames.shdr);
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;
	int ret = 0;

	if (arch == NULL || arch->entry.return_register == 0 || scn == NULL)
		return 0;
	frames.entry = &arch->entry;
	frames.data = ftr_elf_section_data(scn, &frames.shdr);
	while (ret == 0 && frames.data != NULL) {
		int found = dwarf_next_cfi((const unsigned char *)&file->ehdr, frames.data, true,
					   offset, &next, &entry);

		if (found > 0 || next <= offset || next == (Dwarf_Off)-1)
			break;
		if (found == 0 && entry.CIE_id != DW_CIE_ID_64)
			ret = range_add(&frames, &entry.fde, offset);
		offset = next;
	}
	sort(ranges);
	return ret;
}

void ftr_code_ranges_fini(struct ftr_code_ranges *ranges)
{
	ftr_vec_fini(&ranges->ranges);
}
