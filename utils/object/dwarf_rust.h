/* SPDX-License-Identifier: MIT */
/* What values of Rust are to its compiler's own calling convention, from DWARF. */
#ifndef FTR_OBJECT_DWARF_RUST_H
#define FTR_OBJECT_DWARF_RUST_H

#include <elfutils/libdw.h>
#include <stdbool.h>

#include "arch/callconv.h"

/* How a function of Rust is called. */
enum ftr_rust_call {
	FTR_RUST_CALL_C,	/* it is extern "C" */
	FTR_RUST_CALL_OWN,
	FTR_RUST_CALL_EITHER,	/* what C knows alone, by a name that C can call */
};

/* Debug info does not say what @function is: its name, its types and where these are do. */
enum ftr_rust_call ftr_dwarf_rust_call(Dwarf_Die *function);

/*
 * Take @type apart, of a machine of 64 bits: up to two scalars, each passed on its own, or a value
 * that is passed by its address.  leaves->word_bytes is set, the rest zero.  @is_retval: it is
 * returned.  False: the compiler may have it one way or another, or it is not known to do so.
 *
 * Debug info does not tell what is repr(C) either, which matters where one float or number of 128
 * bits is all that a struct has: it is taken for none.
 */
bool ftr_dwarf_rust_leaves(Dwarf_Die *type, bool is_retval, struct ftr_leaves *leaves);

#endif /* FTR_OBJECT_DWARF_RUST_H */
