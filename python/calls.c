/* SPDX-License-Identifier: MIT */
/* See calls.h. */
#include "python/calls.h"

#include <string.h>

#include "python/reading.h"
#include "utils/trace/task.h"

#define ROWS_FIRST 4096

enum column { START, DURATION, SELF, ADDRESS, TID, DEPTH, FUNC, FINISHED, INHERITED, COLUMNS };

/* Formats of the struct module, whose sizes are those of the machine. */
static const struct {
	const char *name, *format;
	Py_ssize_t bytes;
} rows[COLUMNS] = {
	[START] = { "start", "Q", sizeof(uint64_t) },
	[DURATION] = { "duration", "Q", sizeof(uint64_t) },
	[SELF] = { "self", "Q", sizeof(uint64_t) },
	[ADDRESS] = { "address", "Q", sizeof(uint64_t) },
	[TID] = { "tid", "i", sizeof(int32_t) },
	[DEPTH] = { "depth", "I", sizeof(uint32_t) },
	[FUNC] = { "func", "I", sizeof(uint32_t) },
	[FINISHED] = { "finished", "?", sizeof(uint8_t) },
	[INHERITED] = { "inherited", "?", sizeof(uint8_t) },
};

struct columns {
	PyObject *arrays[COLUMNS];	/* (owned) bytearrays with room for cap rows */
	Py_ssize_t nr, cap;
};

static int resize(struct columns *columns, Py_ssize_t cap)
{
	for (int i = 0; i < COLUMNS; i++)
		if (PyByteArray_Resize(columns->arrays[i], cap * rows[i].bytes) < 0)
			return -1;
	columns->cap = cap;
	return 0;
}

static int init(struct columns *columns)
{
	for (int i = 0; i < COLUMNS; i++) {
		columns->arrays[i] = PyByteArray_FromStringAndSize(NULL, 0);
		if (columns->arrays[i] == NULL)
			return -1;
	}
	return resize(columns, ROWS_FIRST);
}

static void fini(struct columns *columns)
{
	for (int i = 0; i < COLUMNS; i++)
		Py_XDECREF(columns->arrays[i]);
}

static void put(struct columns *columns, enum column column, const void *value)
{
	Py_ssize_t bytes = rows[column].bytes;

	memcpy(PyByteArray_AsString(columns->arrays[column]) + columns->nr * bytes, value,
	       (size_t)bytes);
}

static int add(struct columns *columns, const struct ftr_event *ev)
{
	uint64_t duration_ns = ev->time_ns - ev->call.start_ns;
	uint64_t self_ns = duration_ns - ev->call.child_ns;
	uint8_t is_finished = !(ev->flags & FTR_EVENT_UNFINISHED);
	uint8_t is_inherited = ftr_task_has_inherited(ev->task, ev->flags);

	if (columns->nr == columns->cap && resize(columns, columns->cap * 2) < 0)
		return -1;
	put(columns, START, &ev->call.start_ns);
	put(columns, DURATION, &duration_ns);
	put(columns, SELF, &self_ns);
	put(columns, ADDRESS, &ev->call.addr);
	put(columns, TID, &ev->task->tid);
	put(columns, DEPTH, &ev->depth);
	put(columns, FUNC, &ev->call.func->id);
	put(columns, FINISHED, &is_finished);
	put(columns, INHERITED, &is_inherited);
	columns->nr++;
	return 0;
}

static int fill(struct columns *columns, struct reading *reading, PyObject *error)
{
	struct ftr_event *evs;
	Py_ssize_t nr;

	while ((nr = reading_next(reading, &evs, error)) > 0) {
		for (Py_ssize_t i = 0; i < nr; i++)
			if (evs[i].type == FTR_EVENT_EXIT && add(columns, &evs[i]) < 0)
				return -1;
	}
	return (int)nr;
}

/* Of the numbers in an array: a view of them.  One of nothing can not be cast, but cut. */
static PyObject *view(struct columns *columns, int column)
{
	PyObject *bytes = PyMemoryView_FromObject(columns->arrays[column]), *numbers, *cut;

	if (bytes == NULL)
		return NULL;
	numbers = PyObject_CallMethod(bytes, "cast", "s", rows[column].format);
	Py_DECREF(bytes);
	if (numbers == NULL || columns->nr > 0)
		return numbers;
	cut = PySequence_GetSlice(numbers, 0, 0);
	Py_DECREF(numbers);
	return cut;
}

static PyObject *names(const struct ftr_trace *trace)
{
	PyObject *list = PyList_New((Py_ssize_t)trace->funcs.nr), *name;

	for (size_t i = 0; list != NULL && i < trace->funcs.nr; i++) {
		name = PyUnicode_DecodeUTF8(trace->funcs.v[i]->name,
					    trace->funcs.v[i]->name_len, "surrogateescape");
		if (name == NULL || PyList_SetItem(list, (Py_ssize_t)i, name) < 0) {
			Py_DECREF(list);
			return NULL;
		}
	}
	return list;
}

/* Takes @value over; NULL is a failure. */
static int set(PyObject *dict, const char *key, PyObject *value)
{
	int ret = value != NULL ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return ret;
}

static PyObject *dict_of(struct columns *columns, const struct ftr_trace *trace)
{
	PyObject *dict = PyDict_New();
	int ret = dict != NULL ? resize(columns, columns->nr > 0 ? columns->nr : 1) : -1;

	for (int i = 0; ret == 0 && i < COLUMNS; i++)
		ret = set(dict, rows[i].name, view(columns, i));
	if (ret == 0)
		ret = set(dict, "names", names(trace));
	if (ret == 0)
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

PyObject *calls_columns(const char *path, PyObject *args, PyObject *kwargs, PyObject *error)
{
	struct columns columns = { .nr = 0 };
	PyObject *dict = NULL;
	struct reading reading;

	if (reading_open(&reading, path, args, kwargs, error) < 0)
		return NULL;
	if (init(&columns) == 0 && fill(&columns, &reading, error) == 0)
		dict = dict_of(&columns, reading.trace);
	fini(&columns);
	reading_close(&reading);
	return dict;
}
