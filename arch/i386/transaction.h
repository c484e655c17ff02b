/* SPDX-License-Identifier: MIT */
/* Transactions of the processor: none that programs may count on. */
#ifndef FTR_ARCH_I386_TRANSACTION_H
#define FTR_ARCH_I386_TRANSACTION_H

#include <stdbool.h>

static inline bool ftr_arch_has_transactions(void)
{
	return false;
}

static inline bool ftr_arch_transaction_begin(void)
{
	return false;
}

static inline void ftr_arch_transaction_end(void)
{
}

#endif /* FTR_ARCH_I386_TRANSACTION_H */
