/* SPDX-License-Identifier: MIT */
/* Calls into libraries that are linked, and that are loaded. */
#include <dlfcn.h>
#include <stdio.h>

int library_work(int n);

static int use(const char *path)
{
	void *plugin = dlopen(path, RTLD_LAZY);
	int (*work)(int) = plugin ? (int (*)(int))dlsym(plugin, "plugin_work") : NULL;
	int n = work ? work(1) : -1;

	if (plugin)
		dlclose(plugin);
	return n;
}

int main(int argc, char **argv)
{
	printf("%d\n", library_work(1));
	for (int i = 0; i < 3; i++)
		printf("%d\n", use(argv[1]));
	return 0;
}
