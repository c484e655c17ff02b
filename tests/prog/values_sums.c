/* SPDX-License-Identifier: MIT */
/* Calls of one function with texts and numbers. */
#include <stdlib.h>
__attribute__((noinline)) int take(const char *s, int n)
{ __asm__ volatile("" : : "r"(s) : "memory"); return n > 1 ? take(s, n - 1) : 7; }
int main(void) { take("one", 3); take("two", 1); take("one", 1); return take(NULL, 2) != 7; }
