/* SPDX-License-Identifier: MIT */
/* See reading.h. */
#include "python/reading.h"

#include <errno.h>
#include <sys/stat.h>

#include "utils/format/format.h"
#include "utils/trace/pump.h"

/* Where warnings are errors, the exception waits until the call returns. */
static void warn(void *arg, const char *text)
{
	if (!PyErr_Occurred())
		PyErr_WarnEx(PyExc_RuntimeWarning, text, 1);
}

struct ftr_trace *reading_trace(const char *path, struct ftr_diag *diag, PyObject *error)
{
	struct ftr_err err = { 0 };
	struct ftr_trace *trace;
	struct stat st;

	*diag = (struct ftr_diag){ .warn = warn };
	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		PyErr_Format(error, "%s: neither a directory nor a file: it could be read only "
			     "once", path);
		return NULL;
	}
	if (ftr_trace_open(&trace, path, diag, &err) < 0) {
		PyErr_SetString(error, err.text);
		return NULL;
	}
	if (PyErr_Occurred()) {
		ftr_trace_free(trace);
		return NULL;
	}
	return trace;
}

/* Any sequence of numbers. */
static int tids_parse(struct reading *reading, PyObject *list)
{
	Py_ssize_t nr = PySequence_Size(list);

	for (Py_ssize_t i = 0; i < nr; i++) {
		PyObject *item = PySequence_GetItem(list, i);
		long tid = item != NULL ? PyLong_AsLong(item) : -1;

		Py_XDECREF(item);
		if (PyErr_Occurred())
			return -1;
		if (ftr_vec_push(&reading->tids, (int32_t)tid) < 0) {
			PyErr_NoMemory();
			return -1;
		}
	}
	return nr < 0 ? -1 : 0;
}

static int choice_parse(struct reading *reading, PyObject *args, PyObject *kwargs)
{
	static char *names[] = { "tids", "depth", "min_ns", "from_ns", "to_ns", "libcalls", NULL };
	struct ftr_pipeline_options *options = &reading->options;
	unsigned long long least = 0, from = 0, to = 0;
	PyObject *tids = Py_None;
	unsigned depth = 0;
	int libcalls = 1;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OIKKKp", names, &tids, &depth, &least,
					 &from, &to, &libcalls))
		return -1;
	if (tids != Py_None && tids_parse(reading, tids) < 0)
		return -1;
	options->tids = reading->tids.v;
	options->tid_nr = reading->tids.nr;
	options->depth_max = depth;
	options->threshold_ns = least;
	options->from_ns = from;
	options->to_ns = to;
	options->no_libcall = !libcalls;
	return 0;
}

int reading_open(struct reading *reading, const char *path, PyObject *args, PyObject *kwargs,
		 PyObject *error)
{
	struct ftr_pipeline_options *options = &reading->options;
	struct ftr_err err = { 0 };

	*reading = (struct reading){ .trace = NULL };
	if (choice_parse(reading, args, kwargs) < 0)
		goto failed;
	reading->trace = reading_trace(path, &reading->diag, error);
	if (reading->trace == NULL)
		goto failed;
	options->kernel_full = options->event_full = true;
	if ((reading->trace->summary == NULL || ftr_pump_refuse_sums(reading->trace, &err) == 0) &&
	    ftr_trace_pipeline(reading->trace, options, &reading->source, &err) == 0)
		return 0;
	PyErr_SetString(error, err.text);
failed:
	reading_close(reading);
	return -1;
}

void reading_close(struct reading *reading)
{
	ftr_source_free(reading->source);
	if (reading->trace != NULL)
		ftr_trace_free(reading->trace);
	ftr_vec_fini(&reading->tids);
	*reading = (struct reading){ .trace = NULL };
}

Py_ssize_t reading_next(struct reading *reading, struct ftr_event **evs, PyObject *error)
{
	struct ftr_err err = { 0 };
	Py_ssize_t nr;

	if (PyErr_CheckSignals() < 0)
		return -1;
	nr = ftr_source_next(reading->source, evs, &err);
	if (nr < 0)
		PyErr_SetString(error, err.text);
	return nr < 0 || PyErr_Occurred() ? -1 : nr;
}
