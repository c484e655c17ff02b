/* SPDX-License-Identifier: MIT */
/* _mcount of the library that records nothing. */
#include "arch/aarch64/saved.h"

	.text
FUNCTION _mcount
	ret
END _mcount

	NOTES
