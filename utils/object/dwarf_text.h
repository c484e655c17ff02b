/* SPDX-License-Identifier: MIT */
/* Types that are texts, from DWARF: objects with a pointer to characters and their number. */
#ifndef FTR_OBJECT_DWARF_TEXT_H
#define FTR_OBJECT_DWARF_TEXT_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "utils/object/signature.h"

/*
 * Is @type one of them: std::string_view of libstdc++ and libc++, Rust's &str and String?  Where
 * its parts are to *text.
 */
bool ftr_dwarf_text(Dwarf_Die *type, struct ftr_text_parts *text);

#endif /* FTR_OBJECT_DWARF_TEXT_H */
