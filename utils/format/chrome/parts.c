/* SPDX-License-Identifier: MIT */
/* See parts.h. */
#include "utils/format/chrome/parts.h"

#include <errno.h>

#include "utils/trace/event.h"
#include "utils/trace/func.h"
#include "utils/trace/task.h"

int chrome_parts_init(struct chrome_parts *parts)
{
	*parts = (struct chrome_parts){ .tasks.nr = 0 };
	ftr_arena_init(&parts->arena);
	ftr_strbuf_init(&parts->text);
	return ftr_ostream_to_memory(&parts->json) < 0 ? -ENOMEM : 0;
}

void chrome_parts_fini(struct chrome_parts *parts)
{
	ftr_ostream_close(&parts->json, NULL);
	ftr_strbuf_fini(&parts->text);
	ftr_arena_fini(&parts->arena);
	ftr_vec_fini(&parts->tasks);
	ftr_vec_fini(&parts->funcs);
}

/* Keep what stands in parts->json as a part, and empty it. */
static int part_take(struct chrome_parts *parts, struct chrome_part *part)
{
	part->len = parts->json.len;
	ftr_ostream_pad(&parts->json, '\0', CHROME_PART_CHUNK);
	part->s = ftr_arena_strndup(&parts->arena, parts->json.buf, parts->json.len);
	parts->json.len = 0;
	return part->s == NULL || parts->json.code != 0 ? -ENOMEM : 0;
}

int chrome_parts_add_task(struct chrome_parts *parts, const struct ftr_task *task)
{
	static const char phases[] = { [FTR_EVENT_ENTRY] = 'B', [FTR_EVENT_EXIT] = 'E' };
	struct chrome_task *added;
	int ret = 0;

	if (ftr_vec_reach(&parts->tasks, task->id) < 0)
		return -ENOMEM;
	added = &parts->tasks.v[task->id];
	for (unsigned i = 0; ret == 0 && i < sizeof(phases); i++) {
		ftr_ostream_printf(&parts->json, ",\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"name\":",
				   phases[i], task->pid, task->tid);
		ret = part_take(parts, &added->call[i]);
	}
	if (ret < 0)
		return ret;
	ftr_ostream_printf(&parts->json, ",\"pid\":%d,\"tid\":%d,\"name\":", task->pid, task->tid);
	return part_take(parts, &added->other);
}

int chrome_parts_add_func(struct chrome_parts *parts, const struct ftr_func *func)
{
	struct chrome_func *added;
	int ret;

	if (ftr_vec_reach(&parts->funcs, func->id) < 0)
		return -ENOMEM;
	added = &parts->funcs.v[func->id];
	ftr_ostream_json_string(&parts->json, func->name, func->name_len);
	ftr_ostream_putc(&parts->json, '}');
	ret = part_take(parts, &added->name);
	if (ret < 0 || func->src_file == NULL)
		return ret;
	ftr_strbuf_clear(&parts->text);
	ftr_strbuf_printf(&parts->text, "%s:%u", func->src_file, func->src_line);
	ftr_ostream_puts(&parts->json, "\"srcline\":");
	ftr_ostream_json_string(&parts->json, ftr_strbuf_str(&parts->text), parts->text.len);
	return part_take(parts, &added->srcline);
}
