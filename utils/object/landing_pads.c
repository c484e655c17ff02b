/* SPDX-License-Identifier: MIT */
/* See landing_pads.h; the layout is that of the C++ ABI for Itanium, "LSDA". */
#include "utils/object/landing_pads.h"

#include <dwarf.h>

#include "utils/object/eh_cursor.h"

/* The section with the tables. */
struct tables {
	const uint8_t *bytes;
	uint64_t addr;
};

static bool tables_open(const struct ftr_elf_file *file, const struct ftr_code_range *range,
			struct tables *tables, struct ftr_eh_cursor *in)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_PROGBITS, ".gcc_except_table", &shdr);
	Elf_Data *data = scn == NULL ? NULL : ftr_elf_section_data(scn, &shdr);

	if (data == NULL || range->pads - shdr.sh_addr >= data->d_size)
		return false;
	tables->bytes = data->d_buf;
	tables->addr = shdr.sh_addr;
	*in = (struct ftr_eh_cursor){
		.at = tables->bytes + (range->pads - shdr.sh_addr),
		.end = tables->bytes + data->d_size,
	};
	return true;
}

static uint64_t number(const struct tables *tables, struct ftr_eh_cursor *in, uint8_t encoding)
{
	if ((encoding & 0x0f) == DW_EH_PE_uleb128)
		return ftr_eh_take_uleb(in);
	return ftr_eh_take_encoded(in, encoding,
				   tables->addr + (uint64_t)(in->at - tables->bytes));
}

void ftr_landing_pads(const struct ftr_elf_file *file, const struct ftr_code_range *range,
		      ftr_landing_pad_fn *each, void *arg)
{
	struct ftr_eh_cursor in;
	struct tables tables;
	const uint8_t *end;
	uint64_t start, bytes, pad;
	uint8_t encoding;

	if (range->pads == 0 || !tables_open(file, range, &tables, &in))
		return;
	encoding = (uint8_t)ftr_eh_take(&in, 1);
	start = encoding == DW_EH_PE_omit ? range->addr : number(&tables, &in, encoding);
	if (ftr_eh_take(&in, 1) != DW_EH_PE_omit)	/* where types are */
		ftr_eh_take_uleb(&in);
	encoding = (uint8_t)ftr_eh_take(&in, 1);
	bytes = ftr_eh_take_uleb(&in);
	if (in.failed || bytes > (uint64_t)(in.end - in.at))
		return;
	end = in.at + bytes;
	while (in.at < end && !in.failed) {
		number(&tables, &in, encoding);		/* the call: its place and length */
		number(&tables, &in, encoding);
		pad = number(&tables, &in, encoding);
		ftr_eh_take_uleb(&in);			/* the action */
		if (pad != 0 && !in.failed)
			each(arg, start + pad);
	}
}
