/* SPDX-License-Identifier: MIT */
/* Opens libraries one after the other, some in namespaces of their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

static struct link_map *last;
static int moved;

static int use(const char *path, int in_namespace)
{
	void *plugin = in_namespace ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW) :
				      dlopen(path, RTLD_LAZY);
	int (*run)(int) = plugin ? (int (*)(int))dlsym(plugin, "run") : NULL;
	struct link_map *map = NULL;
	int n = -1;

	if (run == NULL)
		puts(dlerror());
	else
		n = run(1);
	if (plugin && dlinfo(plugin, RTLD_DI_LINKMAP, &map) == 0 && !in_namespace) {
		static unsigned long base;

		moved += base != 0 && base != map->l_addr;
		base = map->l_addr;
	}
	if (plugin)
		dlclose(plugin);
	return n;
}

int main(int argc, char **argv)
{
	for (int i = 0; i < 4; i++)
		printf("%d\n", use(i % 2 ? "./libtwo.so" : "./libone.so", argc > 1));
	printf("moved %d times\n", moved);
	return 0;
}
