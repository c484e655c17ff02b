/* SPDX-License-Identifier: MIT */
/* See events.h. */
#include "python/events.h"

#include <string.h>

#include "python/reading.h"
#include "utils/script/values.h"
#include "utils/trace/event_kind.h"
#include "utils/trace/event_text.h"

enum field { TYPE, TIME, TID, DEPTH, NAME, ADDRESS, DURATION, ARGS, RETVAL, FINISHED, FIELDS };

static PyStructSequence_Field event_fields[] = {
	[TYPE] = { "type", "entry, exit, event, lost, fork or message" },
	[TIME] = { "time", "time stamp in ns" },
	[TID] = { "tid", "the task" },
	[DEPTH] = { "depth", "open calls of the task below it" },
	[NAME] = { "name", "of the function or event; the text of a message" },
	[ADDRESS] = { "address", "of a call, else None" },
	[DURATION] = { "duration", "ns: of an exit, and of what an event ends, else None" },
	[ARGS] = { "args", "of an entry a tuple, of an event its data as text, where recorded" },
	[RETVAL] = { "retval", "of an exit, where recorded" },
	[FINISHED] = { "finished", "False: an exit of a call that had not returned" },
	[FIELDS] = { NULL, NULL },
};

static PyStructSequence_Desc event_desc = {
	.name = "ftr.Event", .doc = "An event of a trace", .fields = event_fields,
	.n_in_sequence = FIELDS,
};

struct events {
	PyObject_HEAD
	struct reading reading;
	PyObject *error;		/* (borrowed) of the module */
	struct ftr_event *evs;		/* the batch, of which those from at on are left */
	Py_ssize_t nr, at;
	struct ftr_script_values values;
	struct ftr_strbuf name;
	FTR_VEC(PyObject *) names;	/* (owned, nullable) by the function's id */
};

/* Of the interpreter: the module can be imported once. */
static PyTypeObject *event_type, *iterator_type;

static PyObject *none(void)
{
	Py_INCREF(Py_None);
	return Py_None;
}

static PyObject *text_of(const char *s, size_t len)
{
	return PyUnicode_DecodeUTF8(s, (Py_ssize_t)len, "surrogateescape");
}

static PyObject *value_of(const struct ftr_script_value *value)
{
	switch (value->kind) {
	case FTR_SCRIPT_SIGNED:
		return PyLong_FromLongLong(value->i);
	case FTR_SCRIPT_UNSIGNED:
		return PyLong_FromUnsignedLongLong(value->u);
	case FTR_SCRIPT_FLOAT:
		return PyFloat_FromDouble(value->f);
	case FTR_SCRIPT_TEXT:
		return text_of(value->text.s, value->text.len);
	case FTR_SCRIPT_NOTHING:
		break;
	}
	return none();
}

static PyObject *tuple_of(const struct ftr_script_values *values)
{
	PyObject *tuple = PyTuple_New((Py_ssize_t)values->list.nr), *value;

	for (size_t i = 0; tuple != NULL && i < values->list.nr; i++) {
		value = value_of(&values->list.v[i]);
		if (value == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, value) < 0) {
			Py_DECREF(tuple);
			return NULL;
		}
	}
	return tuple;
}

/* The name of a function is made once. */
static PyObject *name_of(struct events *self, const struct ftr_func *func)
{
	PyObject **name;

	if (ftr_vec_reach(&self->names, func->id) < 0)
		return PyErr_NoMemory();
	name = &self->names.v[func->id];
	if (*name == NULL)
		*name = text_of(func->name, func->name_len);
	Py_XINCREF(*name);
	return *name;
}

/* NULL, which is a failure, goes in, too, and is found at the end. */
static void put(PyObject *event, enum field field, PyObject *value)
{
	PyStructSequence_SetItem(event, field, value);
}

static void put_call(struct events *self, PyObject *event, const struct ftr_event *ev)
{
	bool is_entry = ev->type == FTR_EVENT_ENTRY;

	put(event, TYPE, PyUnicode_InternFromString(is_entry ? "entry" : "exit"));
	put(event, NAME, name_of(self, ev->call.func));
	put(event, ADDRESS, PyLong_FromUnsignedLongLong(ev->call.addr));
	if (!is_entry)
		put(event, DURATION,
		    PyLong_FromUnsignedLongLong(ev->time_ns - ev->call.start_ns));
	put(event, FINISHED, PyBool_FromLong(!(ev->flags & FTR_EVENT_UNFINISHED)));
	if (ev->payload == NULL)
		return;
	if (ftr_script_values_decode(&self->values, ev, self->reading.trace) < 0)
		PyErr_NoMemory();
	else if (self->values.list.nr > 0)
		put(event, is_entry ? ARGS : RETVAL,
		    is_entry ? tuple_of(&self->values) : value_of(&self->values.list.v[0]));
}

static void put_point(struct events *self, PyObject *event, const struct ftr_event *ev)
{
	struct ftr_strbuf *data = &self->values.texts;

	put(event, TYPE, PyUnicode_InternFromString("event"));
	ftr_event_title(ev, &self->name);
	put(event, NAME, text_of(ftr_strbuf_str(&self->name), self->name.len));
	ftr_strbuf_clear(data);
	ftr_event_data_text(ev, self->reading.trace, true, data);
	if (data->len > 0)
		put(event, ARGS, text_of(ftr_strbuf_str(data), data->len));
	if (ev->point.start_ns != 0)
		put(event, DURATION,
		    PyLong_FromUnsignedLongLong(ev->time_ns - ev->point.start_ns));
}

static void put_other(PyObject *event, const struct ftr_event *ev)
{
	char lost[FTR_EVENT_LOST_TEXT_MAX];

	if (ev->type == FTR_EVENT_LOST) {
		ftr_event_lost_text(ev, lost);
		put(event, TYPE, PyUnicode_InternFromString("lost"));
		put(event, NAME, text_of(lost, strlen(lost)));
	} else if (ev->type == FTR_EVENT_FORK) {
		put(event, TYPE, PyUnicode_InternFromString("fork"));
		put(event, NAME, text_of(ev->fork.peer->name, strlen(ev->fork.peer->name)));
		put(event, ARGS, PyLong_FromLong(ev->fork.peer->tid));
	} else {
		put(event, TYPE, PyUnicode_InternFromString("message"));
		put(event, NAME, text_of(ev->message.text, strlen(ev->message.text)));
	}
}

static PyObject *event_new(struct events *self, const struct ftr_event *ev)
{
	PyObject *event = PyStructSequence_New(event_type);

	if (event == NULL)
		return NULL;
	put(event, TIME, PyLong_FromUnsignedLongLong(ev->time_ns));
	put(event, TID, PyLong_FromLong(ev->task->tid));
	put(event, DEPTH, PyLong_FromUnsignedLong(ev->depth));
	if (ev->type == FTR_EVENT_ENTRY || ev->type == FTR_EVENT_EXIT)
		put_call(self, event, ev);
	else if (ev->type == FTR_EVENT_POINT)
		put_point(self, event, ev);
	else
		put_other(event, ev);
	for (int i = 0; i < FIELDS; i++)
		if (PyStructSequence_GetItem(event, i) == NULL)
			put(event, (enum field)i, none());
	if (!PyErr_Occurred())
		return event;
	Py_DECREF(event);
	return NULL;
}

static PyObject *events_next(PyObject *object)
{
	struct events *self = (struct events *)object;

	if (self->at == self->nr) {
		self->at = self->nr = 0;
		if (self->reading.source == NULL)
			return NULL;
		self->nr = reading_next(&self->reading, &self->evs, self->error);
		if (self->nr <= 0) {
			self->nr = 0;
			reading_close(&self->reading);
			return NULL;
		}
	}
	return event_new(self, &self->evs[self->at++]);
}

static void events_free(PyObject *object)
{
	struct events *self = (struct events *)object;
	PyTypeObject *type = Py_TYPE(object);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	reading_close(&self->reading);
	ftr_script_values_fini(&self->values);
	ftr_strbuf_fini(&self->name);
	for (size_t i = 0; i < self->names.nr; i++)
		Py_XDECREF(self->names.v[i]);
	ftr_vec_fini(&self->names);
	release(object);
	Py_DECREF(type);
}

PyObject *events_new(const char *path, PyObject *args, PyObject *kwargs, PyObject *error)
{
	allocfunc alloc = (allocfunc)PyType_GetSlot(iterator_type, Py_tp_alloc);
	struct events *self = (struct events *)alloc(iterator_type, 0);

	if (self == NULL)
		return NULL;
	self->error = error;
	ftr_script_values_init(&self->values);
	ftr_strbuf_init(&self->name);
	if (reading_open(&self->reading, path, args, kwargs, error) == 0)
		return (PyObject *)self;
	Py_DECREF(self);
	return NULL;
}

static PyType_Slot iterator_slots[] = {
	{ Py_tp_doc, (void *)"An iterator over the events of a trace" },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, events_next },
	{ Py_tp_dealloc, events_free },
	{ 0, NULL },
};

static PyType_Spec iterator_spec = {
	.name = "ftr.Events", .basicsize = sizeof(struct events), .flags = Py_TPFLAGS_DEFAULT,
	.slots = iterator_slots,
};

int events_init(PyObject *module)
{
	event_type = PyStructSequence_NewType(&event_desc);
	iterator_type = (PyTypeObject *)PyType_FromSpec(&iterator_spec);
	if (event_type == NULL || iterator_type == NULL)
		return -1;
	Py_INCREF(event_type);
	return PyModule_AddObject(module, "Event", (PyObject *)event_type);
}
