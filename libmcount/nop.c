/* SPDX-License-Identifier: MIT */
/* libmcount-nop.so: what instrumented code calls, doing nothing (record --nop). */
#define EXPORT __attribute__((visibility("default")))

EXPORT void __cyg_profile_func_enter(void *func, void *call_site);
EXPORT void __cyg_profile_func_exit(void *func, void *call_site);
EXPORT void __monstartup(unsigned long low, unsigned long high);
EXPORT void _mcleanup(void);
EXPORT void mcleanup(void);

void __cyg_profile_func_enter(void *func, void *call_site)
{
}

void __cyg_profile_func_exit(void *func, void *call_site)
{
}

void __monstartup(unsigned long low, unsigned long high)
{
}

void _mcleanup(void)
{
}

void mcleanup(void)
{
}
