/* SPDX-License-Identifier: MIT */
/* Events of a trace, one after the other. */
#ifndef FTR_PYTHON_EVENTS_H
#define FTR_PYTHON_EVENTS_H

#include "python/limited.h"

/* Make the types; 0 or -1 with an exception. */
int events_init(PyObject *module);

/* A new iterator over what the choice lets through of the trace at @path. */
PyObject *events_new(const char *path, PyObject *args, PyObject *kwargs, PyObject *error);

#endif /* FTR_PYTHON_EVENTS_H */
