/* SPDX-License-Identifier: MIT */
/* A library is loaded, then another one that lies over half of its place, then the first again. */
#include <dlfcn.h>

static void use(const char *path, const char *name)
{
	void *library = dlopen(path, RTLD_NOW);
	int (*run)(int) = (int (*)(int))dlsym(library, name);

	run(1);
	dlclose(library);
}

int main(void)
{
	use("./libupper.so", "upper_run");
	use("./liblower.so", "lower_run");
	use("./libupper.so", "upper_run");
	use("./liblower.so", "lower_run");
	return 0;
}
