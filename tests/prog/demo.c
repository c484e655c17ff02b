/* SPDX-License-Identifier: MIT */
/* The program ./quickstart records: a small word count, a few levels of calls deep. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))		/* names without .constprop */
#endif
#define WORD_NR 16

struct word {
	char text[16];
	unsigned nr;
};

struct table {
	struct word words[WORD_NR];
	unsigned nr;
};

static const char poem[] = "the fox and the hound and the fox";

static NOINLINE struct word *table_find(struct table *table, const char *text)
{
	for (unsigned i = 0; i < table->nr; i++)
		if (strcmp(table->words[i].text, text) == 0)
			return &table->words[i];
	return NULL;
}

static NOINLINE struct word *table_add(struct table *table, const char *text)
{
	struct word *word = &table->words[table->nr++];

	snprintf(word->text, sizeof(word->text), "%s", text);
	return word;
}

static NOINLINE void count_word(struct table *table, const char *text)
{
	struct word *word = table_find(table, text);

	if (word == NULL && table->nr < WORD_NR)
		word = table_add(table, text);
	if (word != NULL)
		word->nr++;
}

static NOINLINE const char *next_word(const char *p, char *text, size_t size)
{
	size_t len = 0;

	while (*p != '\0' && !isalpha((unsigned char)*p))
		p++;
	while (isalpha((unsigned char)*p) && len + 1 < size)
		text[len++] = *p++;
	text[len] = '\0';
	return len > 0 ? p : NULL;
}

static NOINLINE void count_words(struct table *table, const char *p)
{
	char text[16];

	while ((p = next_word(p, text, sizeof(text))) != NULL)
		count_word(table, text);
}

static NOINLINE void print_table(const struct table *table)
{
	for (unsigned i = 0; i < table->nr; i++)
		printf("%3u %s\n", table->words[i].nr, table->words[i].text);
}

int main(void)
{
	static struct table table;

	count_words(&table, poem);
	print_table(&table);
	return 0;
}
