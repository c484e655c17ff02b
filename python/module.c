/* SPDX-License-Identifier: MIT */
/* import ftr: traces as iterators and as columns (doc/python.md). */
#include "python/limited.h"

#include <stdlib.h>
#include <string.h>

#include "python/calls.h"
#include "python/events.h"
#include "python/reading.h"

#define CHOICE "tids=None, depth=0, min_ns=0, from_ns=0, to_ns=0, libcalls=True"

struct trace {
	PyObject_HEAD
	char *path;			/* (owned) */
	struct ftr_diag diag;
	struct ftr_trace *trace;	/* (owned) not read: see reading.h */
};

/* Of the interpreter: the module can be imported once. */
static PyTypeObject *trace_type, *task_type;
static PyObject *error_type;

static PyStructSequence_Field task_fields[] = {
	{ "tid", "the thread's id" }, { "pid", "the process's id" }, { "name", "its name" },
	{ "start", "ns, or 0 where that is not known" }, { NULL, NULL },
};

static PyStructSequence_Desc task_desc = {
	.name = "ftr.Task", .doc = "A task of a trace", .fields = task_fields, .n_in_sequence = 4,
};

static PyObject *task_new(const struct ftr_task *from)
{
	PyObject *task = PyStructSequence_New(task_type);

	if (task == NULL)
		return NULL;
	PyStructSequence_SetItem(task, 0, PyLong_FromLong(from->tid));
	PyStructSequence_SetItem(task, 1, PyLong_FromLong(from->pid));
	PyStructSequence_SetItem(task, 2, PyUnicode_DecodeUTF8(from->name,
							       (Py_ssize_t)strlen(from->name),
							       "surrogateescape"));
	PyStructSequence_SetItem(task, 3, PyLong_FromUnsignedLongLong(from->start_ns));
	if (!PyErr_Occurred())
		return task;
	Py_DECREF(task);
	return NULL;
}

static PyObject *trace_tasks(PyObject *self, void *closure)
{
	const struct ftr_trace *trace = ((struct trace *)self)->trace;
	PyObject *list = PyList_New((Py_ssize_t)trace->tasks.nr), *task;

	for (size_t i = 0; list != NULL && i < trace->tasks.nr; i++) {
		task = task_new(trace->tasks.v[i]);
		if (task == NULL || PyList_SetItem(list, (Py_ssize_t)i, task) < 0) {
			Py_DECREF(list);
			return NULL;
		}
	}
	return list;
}

static PyObject *trace_path(PyObject *self, void *closure)
{
	return PyUnicode_DecodeFSDefault(((struct trace *)self)->path);
}

static PyObject *trace_format(PyObject *self, void *closure)
{
	return PyUnicode_FromString(((struct trace *)self)->trace->format);
}

static PyObject *trace_events(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return events_new(((struct trace *)self)->path, args, kwargs, error_type);
}

static PyObject *trace_calls(PyObject *self, PyObject *args, PyObject *kwargs)
{
	return calls_columns(((struct trace *)self)->path, args, kwargs, error_type);
}

static void trace_free(PyObject *object)
{
	struct trace *self = (struct trace *)object;
	PyTypeObject *type = Py_TYPE(object);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	if (self->trace != NULL)
		ftr_trace_free(self->trace);
	free(self->path);
	release(object);
	Py_DECREF(type);
}

static PyGetSetDef trace_attributes[] = {
	{ "path", trace_path, NULL, "where it is", NULL },
	{ "format", trace_format, NULL, "the format it is in", NULL },
	{ "tasks", trace_tasks, NULL, "its tasks", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef trace_methods[] = {
	{ "events", (PyCFunction)(void (*)(void))trace_events, METH_VARARGS | METH_KEYWORDS,
	  "events(*, " CHOICE ")\n\nAn iterator over the events, in the order of time." },
	{ "calls", (PyCFunction)(void (*)(void))trace_calls, METH_VARARGS | METH_KEYWORDS,
	  "calls(*, " CHOICE ")\n\nThe calls as columns, in the order of their ends." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot trace_slots[] = {
	{ Py_tp_doc, (void *)"A trace; ftr.open() makes it" },
	{ Py_tp_getset, trace_attributes },
	{ Py_tp_methods, trace_methods },
	{ Py_tp_dealloc, trace_free },
	{ 0, NULL },
};

static PyType_Spec trace_spec = {
	.name = "ftr.Trace", .basicsize = sizeof(struct trace), .flags = Py_TPFLAGS_DEFAULT,
	.slots = trace_slots,
};

static PyObject *trace_open(PyObject *module, PyObject *path)
{
	allocfunc alloc = (allocfunc)PyType_GetSlot(trace_type, Py_tp_alloc);
	struct trace *self;
	PyObject *bytes;

	if (!PyUnicode_FSConverter(path, &bytes))
		return NULL;
	self = (struct trace *)alloc(trace_type, 0);
	if (self != NULL) {
		self->path = strdup(PyBytes_AsString(bytes));
		if (self->path == NULL)
			PyErr_NoMemory();
		else
			self->trace = reading_trace(self->path, &self->diag, error_type);
	}
	Py_DECREF(bytes);
	if (self == NULL || self->trace != NULL)
		return (PyObject *)self;
	Py_DECREF(self);
	return NULL;
}

static PyMethodDef functions[] = {
	{ "open", trace_open, METH_O, "open(path)\n\nThe trace at a path, in any format that ftr "
				      "reads." },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef module_def = {
	PyModuleDef_HEAD_INIT, .m_name = "ftr", .m_doc = "Traces of functions, recorded by ftr",
	.m_size = -1, .m_methods = functions,
};

/* The module keeps a reference of its own. */
static int add(PyObject *module, const char *name, PyObject *object)
{
	if (object == NULL)
		return -1;
	Py_INCREF(object);
	return PyModule_AddObject(module, name, object);
}

/* Python looks it up by its name. */
__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit_ftr(void);

PyMODINIT_FUNC PyInit_ftr(void)
{
	PyObject *module = PyModule_Create(&module_def);

	if (module == NULL)
		return NULL;
	error_type = PyErr_NewException("ftr.Error", PyExc_OSError, NULL);
	trace_type = (PyTypeObject *)PyType_FromSpec(&trace_spec);
	task_type = PyStructSequence_NewType(&task_desc);
	if (add(module, "Error", error_type) == 0 &&
	    add(module, "Trace", (PyObject *)trace_type) == 0 &&
	    add(module, "Task", (PyObject *)task_type) == 0 &&
	    PyModule_AddStringConstant(module, "__version__", FTR_VERSION) == 0 &&
	    events_init(module) == 0)
		return module;
	Py_DECREF(module);
	return NULL;
}
