/* SPDX-License-Identifier: MIT */
/* Opens a library by its caller's search path; -DLIBRARY: a library that does. */
#include <dlfcn.h>
#include <stdio.h>

__attribute__((noinline)) static void open_one(const char *name)
{
	void *plug = dlopen(name, RTLD_NOW);
	int (*run)(void) = plug != NULL ? (int (*)(void))dlsym(plug, "run") : NULL;

	printf("%s: %d\n", name, run != NULL ? run() : -1);
	if (plug != NULL)
		dlclose(plug);
}
#ifdef LIBRARY
void open_all(void)
#else
int main(void)
#endif
{
	open_one("libplug.so");
	open_one("./sub/libplug.so");
	open_one("$ORIGIN/sub/libplug.so");
	open_one("./nowhere.so");
#ifndef LIBRARY
	return 0;
#endif
}
