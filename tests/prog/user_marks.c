/* SPDX-License-Identifier: MIT */
/*
 * What a program says of itself by ftr.h: also in C++, in a library that it links (-DPART=1), and
 * in one that dlopen brings in (-DPART=2, whose path is the argument).  It prints how many bytes a
 * long text has.
 */
#ifdef __cplusplus
#include <cstdio>
#else
#include <stdio.h>
#endif
#include <dlfcn.h>
#include <pthread.h>

#include <ftr.h>

#ifndef PART
#define PART 0
#endif

#ifdef __cplusplus
#define C_LINKAGE extern "C"
#else
#define C_LINKAGE
#endif

#if PART
C_LINKAGE void say(void);
C_LINKAGE void say(void)
{
	ftr_mark(PART == 1 ? "of a library" : "of a plug-in");
	ftr_counter("of both", PART);
}
#else
C_LINKAGE __attribute__((weak)) void say(void);

static struct ftr_span across;

static void *other(void *arg)
{
	ftr_span_end("across", across);
	return arg;
}

__attribute__((noinline)) static void work(int i)
{
	struct ftr_span span = ftr_span_begin("round");

	ftr_counter("queue", i * 0.5);
	ftr_span_end("round", span);
}

int main(int argc, char **argv)
{
	char long_text[300];
	pthread_t thread;
	void *plugin;
	int i;

	if (dlerror() != NULL)
		printf("an error of dlsym is left\n");
	ftr_chart("queue", FTR_CHART_STEP, 3);
	ftr_mark("begin");
	for (i = 0; i < 5; i++)
		work(i);
	ftr_message("a message: \"done\"\n");
	across = ftr_span_begin("across");
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	for (i = 0; i < (int)sizeof(long_text) - 1; i++)
		long_text[i] = 'x';
	long_text[i] = '\0';
	ftr_mark(long_text);
	ftr_mark("");
	if (say != NULL)
		say();
	plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (plugin != NULL)
		((void (*)(void))dlsym(plugin, "say"))();
	printf("%d\n", i);
	return 0;
}
#endif
