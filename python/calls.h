/* SPDX-License-Identifier: MIT */
/* The calls of a trace as columns. */
#ifndef FTR_PYTHON_CALLS_H
#define FTR_PYTHON_CALLS_H

#include "python/limited.h"

/* {name: memoryview}, a row a call in the order of their ends, and "names".  NULL: an exception. */
PyObject *calls_columns(const char *path, PyObject *args, PyObject *kwargs, PyObject *error);

#endif /* FTR_PYTHON_CALLS_H */
