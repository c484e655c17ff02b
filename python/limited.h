/* SPDX-License-Identifier: MIT */
/* Python's stable interface, and no more of it than 3.8 has. */
#ifndef FTR_PYTHON_LIMITED_H
#define FTR_PYTHON_LIMITED_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03080000
#endif
#include <Python.h>

#endif /* FTR_PYTHON_LIMITED_H */
