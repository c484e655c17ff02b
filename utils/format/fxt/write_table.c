/* SPDX-License-Identifier: MIT */
/*
 * FXT writer: the string table and the thread table, re-assigned where they were not used for
 * longest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/text.h"
#include "utils/format/fxt/write.h"
#include "utils/trace/trace.h"

int fxt_strings_init(struct fxt_writer *w)
{
	struct fxt_strings *strings = &w->strings;

	ftr_strpool_init(&strings->pool);
	strings->ids = calloc(FXT_STRING_MAX + 1, sizeof(*strings->ids));
	strings->used = calloc(FXT_STRING_MAX + 1, sizeof(*strings->used));
	strings->next = 1;
	return strings->ids == NULL || strings->used == NULL ? fxt_no_memory(w) : 0;
}

void fxt_strings_fini(struct fxt_writer *w)
{
	ftr_strpool_fini(&w->strings.pool);
	ftr_vec_fini(&w->strings.texts);
	free(w->strings.ids);
	free(w->strings.used);
}

static size_t utf8_run(const char *s, size_t len)
{
	size_t pos = 0;

	while (pos < len) {
		size_t bytes = (unsigned char)s[pos] < 0x80 ? 1 : ftr_utf8_char(s + pos, len - pos);

		if (bytes == 0)
			break;
		pos += bytes;
	}
	return pos;
}

/* Longest beginning of a UTF-8 text that fits into @max bytes. */
static size_t utf8_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}

const char *fxt_text_clean(struct fxt_writer *w, const char *s, size_t len, size_t max,
			   uint32_t *bytes)
{
	size_t run = utf8_run(s, len);

	if (run < len) {
		w->text_cut_nr++;
		ftr_strbuf_clear(&w->text);
		while (run < len && w->text.len <= max) {
			ftr_strbuf_put(&w->text, s, run);
			ftr_strbuf_puts(&w->text, "\xef\xbf\xbd");
			s += run + 1;
			len -= run + 1;
			run = utf8_run(s, len);
		}
		ftr_strbuf_put(&w->text, s, run);
		s = ftr_strbuf_str(&w->text);
		len = w->text.len;
	} else if (len > max) {
		w->text_cut_nr++;
	}
	*bytes = (uint32_t)utf8_cut(s, len, max);
	return s;
}

int fxt_string_id(struct fxt_writer *w, const char *s, size_t len, uint32_t *id)
{
	const struct ftr_str *str;
	uint32_t bytes;

	s = fxt_text_clean(w, s, len, FXT_TEXT_MAX, &bytes);
	*id = FXT_ID_NONE;
	if (bytes == 0)
		return 0;
	str = ftr_strpool_get(&w->strings.pool, s, bytes);
	if (str == NULL)
		return fxt_no_memory(w);
	if (str->id == w->strings.texts.nr &&
	    ftr_vec_push(&w->strings.texts, ((struct fxt_string){ str, 0 })) < 0)
		return fxt_no_memory(w);
	*id = str->id;
	return 0;
}

static int compare_victims(const void *a, const void *b)
{
	const struct fxt_victim *x = a, *y = b;

	return x->used < y->used ? -1 : x->used > y->used;
}

/* Move @victim into a max-heap's root position @pos of @nr. */
static void heap_sift(struct fxt_victim *heap, size_t nr, size_t pos)
{
	struct fxt_victim victim = heap[pos];

	for (;;) {
		size_t child = 2 * pos + 1;

		if (child >= nr)
			break;
		if (child + 1 < nr && heap[child + 1].used > heap[child].used)
			child++;
		if (heap[child].used <= victim.used)
			break;
		heap[pos] = heap[child];
		pos = child;
	}
	heap[pos] = victim;
}

/* The FXT_VICTIMS slots that were not used for longest, in that order. */
static void victims_choose(struct fxt_strings *strings)
{
	struct fxt_victim *heap = strings->victims;

	for (uint32_t slot = 1; slot <= FXT_STRING_MAX; slot++) {
		struct fxt_victim victim = { strings->used[slot], (uint16_t)slot };

		if (slot <= FXT_VICTIMS) {
			heap[slot - 1] = victim;
			for (size_t i = FXT_VICTIMS / 2; slot == FXT_VICTIMS && i-- > 0;)
				heap_sift(heap, FXT_VICTIMS, i);
		} else if (victim.used < heap[0].used) {
			heap[0] = victim;
			heap_sift(heap, FXT_VICTIMS, 0);
		}
	}
	qsort(heap, FXT_VICTIMS, sizeof(*heap), compare_victims);
	strings->victim_pos = 0;
	strings->victim_nr = FXT_VICTIMS;
}

static uint16_t slot_take(struct fxt_strings *strings)
{
	if (strings->next <= FXT_STRING_MAX)
		return (uint16_t)strings->next++;
	for (;;) {
		struct fxt_victim victim;

		if (strings->victim_pos == strings->victim_nr)
			victims_choose(strings);
		victim = strings->victims[strings->victim_pos++];
		if (strings->used[victim.slot] != victim.used)
			continue;	/* used since it was chosen */
		strings->texts.v[strings->ids[victim.slot]].slot = 0;
		return victim.slot;
	}
}

uint64_t *fxt_put_text(uint64_t *p, const char *s, uint32_t len)
{
	uint32_t words = fxt_text_words(len);

	if (words == 0)
		return p;
	p[words - 1] = 0;
	memcpy(p, s, len);
	return p + words;
}

uint16_t fxt_string_register(struct fxt_writer *w, uint32_t id)
{
	const struct ftr_str *str = w->strings.texts.v[id].str;
	uint16_t slot = slot_take(&w->strings);
	uint32_t words = 1 + fxt_text_words(str->len);
	uint64_t *p = fxt_window_put(&w->window, words);

	w->strings.ids[slot] = id;
	w->strings.texts.v[id].slot = slot;
	p[0] = fxt_header(FXT_STRING, words) | fxt_string_index_bits(slot) |
	       fxt_string_len_bits(str->len);
	fxt_put_text(p + 1, str->s, str->len);
	return slot;
}

uint8_t fxt_thread_register(struct fxt_writer *w, const struct ftr_task *task)
{
	uint32_t slot = w->thread_next;
	uint64_t *p = fxt_window_put(&w->window, 3);

	if (slot <= FXT_THREAD_MAX) {
		w->thread_next++;
	} else {
		slot = 1;
		for (uint32_t i = 2; i <= FXT_THREAD_MAX; i++) {
			if (w->thread_used[i] < w->thread_used[slot])
				slot = i;
		}
		w->tasks.v[w->thread_tasks[slot]].slot = 0;
	}
	w->thread_tasks[slot] = task->id;
	w->tasks.v[task->id].slot = (uint8_t)slot;
	p[0] = fxt_header(FXT_THREAD, 3) | fxt_thread_index_bits(slot);
	p[1] = (uint32_t)task->pid;
	p[2] = (uint32_t)task->tid;
	return (uint8_t)slot;
}

static void put_koid(uint64_t *p, uint16_t key_ref, int32_t koid)
{
	p[0] = fxt_arg_type_bits(FXT_ARG_KOID) | fxt_arg_words_bits(2) |
	       fxt_arg_name_ref_bits(key_ref);
	p[1] = (uint32_t)koid;
}

/*
 * A kernel object and its name; a thread says which process it belongs to, and which thread made
 * it.
 */
static int put_object(struct fxt_writer *w, unsigned type, const struct ftr_task *task,
		      const char *name)
{
	bool is_thread = type == FXT_OBJECT_THREAD;
	bool is_made = is_thread && task->maker != NULL;
	uint16_t name_ref, process_ref = 0, maker_ref = 0;
	uint32_t name_id, process_id, maker_id, words = 2 + 2 * is_thread + 2 * is_made;
	uint64_t *p;

	if (fxt_string_id(w, name, strlen(name), &name_id) < 0 ||
	    fxt_string_id(w, "process", 7, &process_id) < 0 ||
	    fxt_string_id(w, FXT_KEY_MAKER, strlen(FXT_KEY_MAKER), &maker_id) < 0)
		return -ENOMEM;
	name_ref = fxt_string_ref(w, name_id);
	if (is_thread)
		process_ref = fxt_string_ref(w, process_id);
	if (is_made)
		maker_ref = fxt_string_ref(w, maker_id);
	p = fxt_window_put(&w->window, words);
	p[0] = fxt_header(FXT_KERNEL_OBJECT, words) | fxt_kernel_type_bits(type) |
	       fxt_kernel_name_ref_bits(name_ref) | fxt_kernel_arg_nr_bits(is_thread + is_made);
	p[1] = (uint32_t)(is_thread ? task->tid : task->pid);
	if (is_thread)
		put_koid(p + 2, process_ref, task->pid);
	if (is_made)
		put_koid(p + 4, maker_ref, task->maker->tid);
	return 0;
}

int fxt_write_object(struct fxt_writer *w, const struct ftr_task *task, uint64_t pointer,
		     uint32_t name_id, bool is_instance)
{
	uint64_t thread, name_ref, key_ref = 0;
	uint32_t key_id, words = 2 + is_instance;
	uint64_t *p;

	if (fxt_string_id(w, FXT_KEY_THIS, strlen(FXT_KEY_THIS), &key_id) < 0)
		return -ENOMEM;
	name_ref = fxt_string_ref(w, name_id);
	if (is_instance)
		key_ref = fxt_string_ref(w, key_id);
	thread = fxt_thread_ref(w, task);
	p = fxt_window_put(&w->window, words);
	p[0] = fxt_header(FXT_USER_OBJECT, words) | fxt_user_thread_ref_bits(thread) |
	       fxt_user_name_ref_bits(name_ref) | fxt_user_arg_nr_bits(is_instance);
	p[1] = pointer;
	if (is_instance)
		p[2] = fxt_arg_type_bits(FXT_ARG_BOOL) | fxt_arg_words_bits(1) |
		       fxt_arg_name_ref_bits(key_ref) | fxt_arg_value_bits(true);
	return 0;
}

/* A process is called as its main thread, or as the program of its first image. */
static const char *process_name(const struct ftr_trace *trace, const struct ftr_task *task)
{
	const struct ftr_task *main_task = ftr_trace_task_find(trace, task->pid);
	const char *name;

	if (main_task != NULL && main_task->pid == task->pid && main_task->name[0] != '\0')
		return main_task->name;
	if (task->session_nr == 0 || task->sessions[0]->exename == NULL ||
	    task->sessions[0]->exename[0] == '\0')
		return task->name;
	name = strrchr(task->sessions[0]->exename, '/');
	return name == NULL ? task->sessions[0]->exename : name + 1;
}

/* A thread without a name is read with that of its process: so it is written like that, too. */
static int name_task(struct fxt_writer *w, const struct ftr_task *task)
{
	uint64_t pid = (uint32_t)task->pid;
	const char *process = ftr_hashmap_find(&w->processes, pid);

	if (process == NULL) {
		process = process_name(w->trace, task);
		if (put_object(w, FXT_OBJECT_PROCESS, task, process) < 0)
			return -ENOMEM;
		if (ftr_hashmap_set(&w->processes, pid, (void *)(uintptr_t)process) < 0)
			return fxt_no_memory(w);
	}
	return put_object(w, FXT_OBJECT_THREAD, task, task->name[0] != '\0' ? task->name : process);
}

struct fxt_task *fxt_task_add(struct fxt_writer *w, const struct ftr_task *task)
{
	if (ftr_vec_reach(&w->tasks, task->id) < 0) {
		fxt_no_memory(w);
		return NULL;
	}
	if (name_task(w, task) < 0)
		return NULL;
	w->tasks.v[task->id].is_named = true;
	if (!ftr_task_is_main(task) && w->tasks.v[task->id].flow_id == 0)
		w->tasks.v[task->id].flow_id = FXT_FLOW_THREAD;
	return &w->tasks.v[task->id];
}
