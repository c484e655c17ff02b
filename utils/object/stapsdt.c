/* SPDX-License-Identifier: MIT */
/* See stapsdt.h. */
#include "utils/object/stapsdt.h"

#include <stdlib.h>
#include <string.h>

#include "utils/base/bytes.h"

#define SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define OWNER "stapsdt"
#define NOTE_TYPE 3
#define WORDS 3				/* pc, base, semaphore; then the texts */
#define WORD_BYTES 8

/* How far the file was moved after its notes were written (prelink). */
static uint64_t moved_by(const struct ftr_elf_file *file, uint64_t base)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_NULL, BASE_SECTION, &shdr);

	return scn == NULL || base == 0 ? 0 : shdr.sh_addr - base;
}

/* The text at *at, which ends before @end; NULL: it does not. */
static const char *text_take(const uint8_t **at, const uint8_t *end)
{
	const char *text = (const char *)*at;
	const uint8_t *nul = *at < end ? memchr(*at, 0, (size_t)(end - *at)) : NULL;

	if (nul == NULL)
		return NULL;
	*at = nul + 1;
	return text;
}

static bool note_read(const struct ftr_elf_file *file, const uint8_t *desc, size_t bytes,
		      struct ftr_sdt_note *note)
{
	const uint8_t *end = desc + bytes, *at = desc + WORDS * WORD_BYTES;
	uint64_t moved;

	if (bytes < WORDS * WORD_BYTES)
		return false;
	moved = moved_by(file, ftr_get_u64(desc + WORD_BYTES, false));
	note->pc = ftr_get_u64(desc, false) + moved;
	note->semaphore = ftr_get_u64(desc + 2 * WORD_BYTES, false);
	if (note->semaphore != 0)
		note->semaphore += moved;
	note->provider = text_take(&at, end);
	note->name = text_take(&at, end);
	note->args = text_take(&at, end);
	return note->provider != NULL && note->name != NULL && note->args != NULL;
}

static int by_pc(const void *left, const void *right)
{
	const struct ftr_sdt_note *a = left, *b = right;

	return a->pc < b->pc ? -1 : a->pc > b->pc;
}

static int data_read(struct ftr_sdt_notes *notes, const struct ftr_elf_file *file, Elf_Data *data)
{
	size_t at = 0, name, desc;
	GElf_Nhdr head;
	int ret = 0;

	while (ret == 0 && (at = gelf_getnote(data, at, &head, &name, &desc)) > 0) {
		const uint8_t *bytes = data->d_buf;
		struct ftr_sdt_note note;

		if (head.n_type == NOTE_TYPE && head.n_namesz == sizeof(OWNER) &&
		    memcmp(bytes + name, OWNER, sizeof(OWNER)) == 0 &&
		    note_read(file, bytes + desc, head.n_descsz, &note))
			ret = ftr_vec_push(&notes->v, note);
	}
	return ret;
}

int ftr_sdt_notes_load(struct ftr_sdt_notes *notes, const struct ftr_elf_file *file)
{
	GElf_Shdr shdr;
	Elf_Scn *scn = ftr_elf_section_find(file, SHT_NOTE, SECTION, &shdr);
	Elf_Data *data = scn == NULL ? NULL : ftr_elf_section_data(scn, &shdr);
	int ret;

	if (data == NULL || file->ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->ehdr.e_ident[EI_DATA] != ELFDATA2LSB)
		return 0;
	ret = data_read(notes, file, data);
	if (notes->v.nr > 0)
		qsort(notes->v.v, notes->v.nr, sizeof(notes->v.v[0]), by_pc);
	return ret;
}

void ftr_sdt_notes_fini(struct ftr_sdt_notes *notes)
{
	ftr_vec_fini(&notes->v);
}
