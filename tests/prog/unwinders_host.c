/* SPDX-License-Identifier: MIT */
/* Opens and closes a library that throws. */
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int ret = 0;

	for (int i = 0; i < 3; i++) {
		void *plugin = dlopen("./libstorm.so", RTLD_NOW | RTLD_LOCAL);
		int (*run)(int, char **) = NULL;

		if (plugin != NULL)
			run = (int (*)(int, char **))dlsym(plugin, "_Z3runiPPc");
		if (run == NULL)
			return fprintf(stderr, "%s\n", dlerror()), 2;
		ret += run(argc, argv);
		dlclose(plugin);
	}
	printf("%s\n", dlerror() != NULL ? "an error" : "none");
	return ret;
}
