/* SPDX-License-Identifier: MIT */
/* Both forms of a delete. */
#include <new>
#define SEEN(p) __asm__ volatile("" : : "r"(p) : "memory")
int main() { int *p = new int; SEEN(p); delete p; p = new int; SEEN(p); ::operator delete(p); return 0; }
