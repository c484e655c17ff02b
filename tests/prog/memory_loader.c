/* SPDX-License-Identifier: MIT */
/* Loads a library, calls it, and unloads it. */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen("./libplugin.so", RTLD_NOW | RTLD_LOCAL);
		int (*run)(int) = (int (*)(int))dlsym(plugin, "run");
		printf("%d\n", run(20));
		dlclose(plugin);
	}
	return 0;
}
