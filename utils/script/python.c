/* SPDX-License-Identifier: MIT */
/*
 * Scripts in Python, run by an embedded interpreter.  libpython is loaded when it is first needed,
 * and only its stable interface is used, so that any version of it from 3.8 on will do.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x03080000
#include <Python.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/istream.h"
#include "utils/base/optional_library.h"
#include "utils/base/strbuf.h"
#include "utils/base/text.h"
#include "utils/script/script.h"

#define NAME_MAX_BYTES	 64
#define VERSION_FIRST	 8	/* 3.8 */
#define VERSION_LAST	 20
#define FRAMES_MAX	 100000	/* of a traceback */
#define MODULE		 "__ftr_script__"	/* until its name is known */

#define PYTHON_CALLS(X) \
	X(PyBool_FromLong) X(PyBytes_AsString) X(PyCallable_Check) X(PyDict_New) \
	X(PyDict_SetItem) X(PyErr_Clear) X(PyErr_Fetch) X(PyErr_NormalizeException) \
	X(PyFloat_FromDouble) X(PyImport_ExecCodeModuleEx) X(PyList_Insert) X(PyList_New) \
	X(PyLong_AsLong) X(PyLong_FromLong) X(PyLong_FromLongLong) \
	X(PyLong_FromUnsignedLongLong) X(PyObject_CallFunctionObjArgs) \
	X(PyObject_GetAttrString) X(PyObject_Str) X(PySequence_GetItem) X(PySequence_Size) \
	X(PySys_GetObject) X(PySys_SetObject) X(PyTuple_New) X(PyTuple_SetItem) \
	X(PyUnicode_AsUTF8String) X(PyUnicode_DecodeFSDefault) X(PyUnicode_DecodeUTF8) \
	X(PyUnicode_InternFromString) X(Py_BuildValue) X(Py_CompileString) X(Py_DecRef) \
	X(Py_FinalizeEx) X(Py_IncRef) X(Py_InitializeEx)

struct calls {
#define MEMBER(name) __typeof__(&name) name;
	PYTHON_CALLS(MEMBER)
#undef MEMBER
};

/* The keys of contexts, made once. */
enum key { TID, DEPTH, TIMESTAMP, DURATION, ADDRESS, NAME, ARGS, RETVAL, KEYS };

static const char *const key_names[KEYS] = {
	[TID] = "tid", [DEPTH] = "depth", [TIMESTAMP] = "timestamp", [DURATION] = "duration",
	[ADDRESS] = "address", [NAME] = "name", [ARGS] = "args", [RETVAL] = "retval",
};

struct python_script {
	struct ftr_script base;		/* first: the engine's functions receive a pointer to it */
	struct calls py;
	bool is_running;		/* the interpreter */
	PyObject *module;		/* (owned, nullable) */
	PyObject *functions[FTR_SCRIPT_CALLBACKS];	/* (owned, nullable) */
	PyObject *keys[KEYS];		/* (owned) */
};

/* ---- the library ---- */

#define ROW(name) { #name, offsetof(struct calls, name) },
static const struct ftr_optional_row library_rows[] = { PYTHON_CALLS(ROW) };

/* That of the build, else the newest. */
static int library_load(struct calls *py, struct ftr_err *err)
{
	char name[NAME_MAX_BYTES];
	struct ftr_optional_library library = {
		.user	   = "a script in Python",
		.name	   = FTR_LIBPYTHON,
		.package   = "libpython3-dev",
		.is_global = true,	/* modules in C are not linked with it */
		.rows	   = library_rows,
		.row_nr	   = sizeof(library_rows) / sizeof(library_rows[0]),
	};
	int ret = ftr_optional_library_load(&library, py, err);

	library.name = name;
	for (unsigned minor = VERSION_LAST; ret < 0 && minor >= VERSION_FIRST; minor--) {
		snprintf(name, sizeof(name), "libpython3.%u.so.1.0", minor);
		ret = ftr_optional_library_load(&library, py, NULL);
	}
	return ret;
}

/* ---- failures ---- */

/* NULL is fine, as for all of what follows: the failure is the first one's. */
static void drop(const struct python_script *self, PyObject *object)
{
	self->py.Py_DecRef(object);
}

static PyObject *attribute(const struct python_script *self, PyObject *object, const char *name)
{
	PyObject *value = object != NULL ? self->py.PyObject_GetAttrString(object, name) : NULL;

	self->py.PyErr_Clear();
	return value;
}

/* Append str(@object). */
static void put_text(const struct python_script *self, PyObject *object, struct ftr_strbuf *sb)
{
	PyObject *text = object != NULL ? self->py.PyObject_Str(object) : NULL;
	PyObject *bytes = text != NULL ? self->py.PyUnicode_AsUTF8String(text) : NULL;

	if (bytes != NULL)
		ftr_strbuf_puts(sb, self->py.PyBytes_AsString(bytes));
	self->py.PyErr_Clear();
	drop(self, bytes);
	drop(self, text);
}

static long number_of(const struct python_script *self, PyObject *object, const char *name)
{
	PyObject *value = attribute(self, object, name);
	long number = value != NULL ? self->py.PyLong_AsLong(value) : 0;

	self->py.PyErr_Clear();
	drop(self, value);
	return number;
}

/* Is the frame of this traceback in the script itself? */
static bool is_of_script(const struct python_script *self, PyObject *traceback)
{
	PyObject *frame = attribute(self, traceback, "tb_frame");
	PyObject *code = attribute(self, frame, "f_code");
	PyObject *path = attribute(self, code, "co_filename");
	struct ftr_strbuf text;
	bool is_it;

	ftr_strbuf_init(&text);
	put_text(self, path, &text);
	is_it = strcmp(ftr_strbuf_str(&text), self->base.path) == 0;
	ftr_strbuf_fini(&text);
	drop(self, path);
	drop(self, code);
	drop(self, frame);
	return is_it;
}

/* The innermost line of the script itself that led to it; 0 = none. */
static long line_of(const struct python_script *self, PyObject *traceback)
{
	PyObject *next;
	long line = 0;

	self->py.Py_IncRef(traceback);
	for (int i = 0; traceback != NULL && i < FRAMES_MAX; i++) {
		if (is_of_script(self, traceback))
			line = number_of(self, traceback, "tb_lineno");
		next = attribute(self, traceback, "tb_next");
		drop(self, traceback);
		traceback = next;
	}
	drop(self, traceback);
	return line;
}

/* "sys.exit()" and "sys.exit(0)" are no failures. */
static bool is_quiet_exit(const struct python_script *self, const char *type, PyObject *value)
{
	struct ftr_strbuf code;
	bool is_quiet;

	if (strcmp(type, "SystemExit") != 0)
		return false;
	ftr_strbuf_init(&code);
	put_text(self, value, &code);
	is_quiet = code.len == 0 || strcmp(ftr_strbuf_str(&code), "0") == 0 ||
		   strcmp(ftr_strbuf_str(&code), "None") == 0;
	ftr_strbuf_fini(&code);
	return is_quiet;
}

/* A syntax error has no frame, but says where it is. */
static void describe(const struct python_script *self, const char *type, PyObject *value,
		     long line, struct ftr_err *err)
{
	PyObject *message = line == 0 ? attribute(self, value, "msg") : NULL;
	struct ftr_strbuf text;

	if (line == 0)
		line = number_of(self, value, "lineno");
	ftr_strbuf_init(&text);
	ftr_strbuf_puts(&text, self->base.path);
	if (line > 0)
		ftr_strbuf_printf(&text, ":%ld", line);
	ftr_strbuf_printf(&text, ": %s: ", type);
	put_text(self, message != NULL ? message : value, &text);
	ftr_err_set(err, EIO, "%.*s", (int)strcspn(ftr_strbuf_str(&text), "\n"),
		    ftr_strbuf_str(&text));
	ftr_strbuf_fini(&text);
	drop(self, message);
}

/* What was raised.  -EIO or -ECANCELED. */
static int failure(const struct python_script *self, struct ftr_err *err)
{
	PyObject *type, *value, *traceback, *name;
	struct ftr_strbuf type_name;
	int ret = -ECANCELED;

	self->py.PyErr_Fetch(&type, &value, &traceback);
	self->py.PyErr_NormalizeException(&type, &value, &traceback);
	ftr_strbuf_init(&type_name);
	name = attribute(self, type, "__name__");
	put_text(self, name, &type_name);
	if (!is_quiet_exit(self, ftr_strbuf_str(&type_name), value)) {
		describe(self, ftr_strbuf_str(&type_name), value, line_of(self, traceback), err);
		ret = -EIO;
	}
	ftr_strbuf_fini(&type_name);
	drop(self, name);
	drop(self, type);
	drop(self, value);
	drop(self, traceback);
	return ret;
}

/* ---- loading ---- */

/* Modules beside the script are found first. */
static int set_path(struct python_script *self)
{
	const char *path = self->base.path, *slash = strrchr(path, '/');
	struct ftr_slice dir = slash == NULL ? ftr_slice_make(".", 1) :
			       slash == path ? ftr_slice_make("/", 1) :
					       ftr_slice_make(path, (size_t)(slash - path));
	PyObject *list = self->py.PySys_GetObject("path");	/* borrowed */
	PyObject *text = self->py.PyUnicode_DecodeUTF8(dir.s, (Py_ssize_t)dir.len,
						       "surrogateescape");
	int ret = list == NULL || text == NULL ? -1 : self->py.PyList_Insert(list, 0, text);

	drop(self, text);
	return ret;
}

static int set_argv(struct python_script *self)
{
	PyObject *list = self->py.PyList_New(0), *word;
	int ret = list == NULL ? -1 : 0;

	for (int i = -1; ret == 0 && i < self->base.arg_nr; i++) {
		word = self->py.PyUnicode_DecodeFSDefault(i < 0 ? self->base.path :
								  self->base.args[i]);
		ret = word == NULL ? -1 : self->py.PyList_Insert(list, i + 1, word);
		drop(self, word);
	}
	if (ret == 0)
		ret = self->py.PySys_SetObject("argv", list);
	drop(self, list);
	return ret;
}

/* "dir/count.py" is the module "count", as it is for uftrace. */
static void module_name(const char *path, struct ftr_strbuf *name)
{
	const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;

	ftr_strbuf_put(name, base, strcspn(base, "."));
	if (name->len == 0)
		ftr_strbuf_puts(name, MODULE);
}

static int module_run(struct python_script *self, const char *source)
{
	const char *path = self->base.path;
	PyObject *code = self->py.Py_CompileString(source, path, Py_file_input);
	struct ftr_strbuf name;

	ftr_strbuf_init(&name);
	module_name(path, &name);
	if (code != NULL)
		self->module = self->py.PyImport_ExecCodeModuleEx(ftr_strbuf_str(&name), code,
								  path);
	drop(self, code);
	ftr_strbuf_fini(&name);
	return self->module != NULL ? 0 : -1;
}

static int module_load(struct python_script *self, struct ftr_err *err)
{
	struct ftr_istream in;
	char *source;
	int ret = ftr_istream_open(&in, AT_FDCWD, self->base.path, err);

	if (ret < 0)
		return ret;
	source = strndup((const char *)in.data, in.size);
	ftr_istream_close(&in);
	if (source == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", self->base.path);
	ret = module_run(self, source) < 0 ? failure(self, err) : 0;
	free(source);
	return ret;
}

static int funcs_read(struct python_script *self, struct ftr_err *err)
{
	PyObject *list = attribute(self, self->module, "UFTRACE_FUNCS"), *item;
	Py_ssize_t nr = list != NULL ? self->py.PySequence_Size(list) : 0;
	struct ftr_strbuf text;
	int ret = 0;

	ftr_strbuf_init(&text);
	for (Py_ssize_t i = 0; ret == 0 && i < nr; i++) {
		item = self->py.PySequence_GetItem(list, i);
		ftr_strbuf_clear(&text);
		put_text(self, item, &text);
		ret = ftr_script_add_func(&self->base, ftr_strbuf_str(&text), text.len);
		drop(self, item);
	}
	ftr_strbuf_fini(&text);
	drop(self, list);
	if (nr < 0) {
		self->py.PyErr_Clear();
		return ftr_err_set(err, EINVAL, "%s: UFTRACE_FUNCS is no list", self->base.path);
	}
	return ret < 0 ? ftr_err_set(err, -ret, "%s: out of memory", self->base.path) : 0;
}

static int names_find(struct python_script *self)
{
	for (unsigned i = 0; i < FTR_SCRIPT_CALLBACKS; i++) {
		self->functions[i] = attribute(self, self->module, ftr_script_callback_names[i]);
		if (self->functions[i] != NULL && self->py.PyCallable_Check(self->functions[i]))
			self->base.callbacks |= FTR_BIT(i);
	}
	for (unsigned i = 0; i < KEYS; i++) {
		self->keys[i] = self->py.PyUnicode_InternFromString(key_names[i]);
		if (self->keys[i] == NULL)
			return -1;
	}
	return 0;
}

static int python_open(struct ftr_script *script, struct ftr_err *err)
{
	struct python_script *self = (struct python_script *)script;
	int ret = library_load(&self->py, err);

	if (ret < 0)
		return ret;
	self->py.Py_InitializeEx(0);	/* signals stay ours */
	self->is_running = true;
	if (set_path(self) < 0 || set_argv(self) < 0)
		return failure(self, err);
	ret = module_load(self, err);
	if (ret == 0 && names_find(self) < 0)
		ret = failure(self, err);
	return ret < 0 ? ret : funcs_read(self, err);
}

/* ---- calls ---- */

/* Whether a key of @context was set to @value (owned, here: NULL is a failure). */
static bool set(struct python_script *self, PyObject *context, enum key key, PyObject *value)
{
	bool is_set = value != NULL &&
		      self->py.PyDict_SetItem(context, self->keys[key], value) == 0;

	drop(self, value);
	return is_set;
}

static PyObject *text_of(const struct python_script *self, const char *s, size_t len)
{
	return self->py.PyUnicode_DecodeUTF8(s, (Py_ssize_t)len, "surrogateescape");
}

static PyObject *value_of(const struct python_script *self, const struct ftr_script_value *value)
{
	switch (value->kind) {
	case FTR_SCRIPT_SIGNED:
		return self->py.PyLong_FromLongLong(value->i);
	case FTR_SCRIPT_UNSIGNED:
		return self->py.PyLong_FromUnsignedLongLong(value->u);
	case FTR_SCRIPT_FLOAT:
		return self->py.PyFloat_FromDouble(value->f);
	case FTR_SCRIPT_TEXT:
		return text_of(self, value->text.s, value->text.len);
	case FTR_SCRIPT_NOTHING:
		break;
	}
	return self->py.Py_BuildValue("");	/* None */
}

static PyObject *tuple_of(const struct python_script *self, const struct ftr_script_value *values,
			  size_t nr)
{
	PyObject *tuple = self->py.PyTuple_New((Py_ssize_t)nr), *value;

	for (size_t i = 0; tuple != NULL && i < nr; i++) {
		value = value_of(self, &values[i]);
		if (value == NULL || self->py.PyTuple_SetItem(tuple, (Py_ssize_t)i, value) < 0) {
			drop(self, tuple);
			return NULL;
		}
	}
	return tuple;
}

static bool set_values(struct python_script *self, PyObject *to, enum ftr_script_callback callback,
		       const struct ftr_script_context *context)
{
	if (context->value_nr == 0)
		return true;
	if (callback == FTR_SCRIPT_ENTRY)
		return set(self, to, ARGS, tuple_of(self, context->values, context->value_nr));
	return set(self, to, callback == FTR_SCRIPT_EXIT ? RETVAL : ARGS,
		   value_of(self, &context->values[0]));
}

static bool fill(struct python_script *self, PyObject *to, enum ftr_script_callback callback,
		 const struct ftr_script_context *context)
{
	const struct calls *py = &self->py;

	return set(self, to, TID, py->PyLong_FromLong(context->tid)) &&
	       set(self, to, DEPTH, py->PyLong_FromUnsignedLongLong(context->depth)) &&
	       set(self, to, TIMESTAMP, py->PyLong_FromUnsignedLongLong(context->time_ns)) &&
	       set(self, to, ADDRESS, py->PyLong_FromUnsignedLongLong(context->addr)) &&
	       set(self, to, NAME, text_of(self, context->name, context->name_len)) &&
	       (callback != FTR_SCRIPT_EXIT ||
		set(self, to, DURATION, py->PyLong_FromUnsignedLongLong(context->duration_ns))) &&
	       set_values(self, to, callback, context);
}

/* @argument (nullable) is dropped. */
static int run(struct python_script *self, enum ftr_script_callback callback, PyObject *argument,
	       struct ftr_err *err)
{
	PyObject *result = self->py.PyObject_CallFunctionObjArgs(self->functions[callback],
								 argument, NULL);
	int ret = result == NULL ? failure(self, err) : 0;

	drop(self, result);
	drop(self, argument);
	return ret;
}

static int python_call(struct ftr_script *script, enum ftr_script_callback callback,
		       const struct ftr_script_context *context, struct ftr_err *err)
{
	struct python_script *self = (struct python_script *)script;
	PyObject *argument = self->py.PyDict_New();

	if (argument != NULL && fill(self, argument, callback, context))
		return run(self, callback, argument, err);
	drop(self, argument);
	return failure(self, err);
}

static PyObject *words_of(const struct python_script *self, const struct ftr_script_start *start)
{
	PyObject *tuple = self->py.PyTuple_New(start->arg_nr), *word;

	for (int i = 0; tuple != NULL && i < start->arg_nr; i++) {
		word = self->py.PyUnicode_DecodeFSDefault(start->args[i]);
		if (word == NULL || self->py.PyTuple_SetItem(tuple, i, word) < 0) {
			drop(self, tuple);
			return NULL;
		}
	}
	return tuple;
}

static int python_begin(struct ftr_script *script, const struct ftr_script_start *start,
			struct ftr_err *err)
{
	struct python_script *self = (struct python_script *)script;
	PyObject *words = words_of(self, start), *argument = NULL;

	if (words != NULL)
		argument = self->py.Py_BuildValue("{sNsssN}", "record",
						  self->py.PyBool_FromLong(start->is_record),
						  "version", start->version, "cmds", words);
	return argument == NULL ? failure(self, err) :
				  run(self, FTR_SCRIPT_BEGIN, argument, err);
}

/* What the script has printed is written when its sys.stdout is flushed. */
static int flush(struct python_script *self, struct ftr_err *err)
{
	PyObject *out = self->py.PySys_GetObject("stdout");	/* borrowed */
	PyObject *method = attribute(self, out, "flush");
	PyObject *result = method != NULL ?
				   self->py.PyObject_CallFunctionObjArgs(method, NULL) : NULL;
	int ret = method != NULL && result == NULL ? failure(self, err) : 0;

	drop(self, result);
	drop(self, method);
	return ret;
}

static int python_end(struct ftr_script *script, struct ftr_err *err)
{
	struct python_script *self = (struct python_script *)script;
	int ret = 0;

	if (ftr_script_has(script, FTR_SCRIPT_END))
		ret = run(self, FTR_SCRIPT_END, NULL, err);
	return ret < 0 ? ret : flush(self, err);
}

static void python_close(struct ftr_script *script)
{
	struct python_script *self = (struct python_script *)script;

	if (!self->is_running)
		return;
	for (unsigned i = 0; i < FTR_SCRIPT_CALLBACKS; i++)
		drop(self, self->functions[i]);
	for (unsigned i = 0; i < KEYS; i++)
		drop(self, self->keys[i]);
	drop(self, self->module);
	self->py.Py_FinalizeEx();	/* runs what the script gave to atexit, and flushes */
}

const struct ftr_script_engine ftr_script_engine_python = {
	.name	     = "python",
	.suffix	     = ".py",
	.is_embedded = true,
	.size	     = sizeof(struct python_script),
	.open	     = python_open,
	.begin	     = python_begin,
	.call	     = python_call,
	.end	     = python_end,
	.close	     = python_close,
};
