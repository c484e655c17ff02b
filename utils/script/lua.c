/* SPDX-License-Identifier: MIT */
/*
 * Scripts in Lua, run by LuaJIT.  It is loaded when it is first needed, as all that few use.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "utils/base/optional_library.h"
#include "utils/base/strbuf.h"
#include "utils/script/script.h"

#define CONTEXT_KEYS 7

#define LUA_CALLS(X) \
	X(lua_close) X(lua_concat) X(lua_createtable) X(lua_getfield) \
	X(lua_pcall) X(lua_pushboolean) X(lua_pushlstring) \
	X(lua_pushnil) X(lua_pushnumber) X(lua_pushstring) X(lua_rawgeti) X(lua_rawseti) \
	X(lua_setfield) X(lua_settop) X(lua_tolstring) X(lua_type) \
	X(luaL_loadfile) X(luaL_newstate) X(luaL_openlibs)

struct calls {
#define MEMBER(name) __typeof__(&name) name;
	LUA_CALLS(MEMBER)
#undef MEMBER
};

#define ROW(name) { #name, offsetof(struct calls, name) },
static const struct ftr_optional_row library_rows[] = { LUA_CALLS(ROW) };

static const struct ftr_optional_library library = {
	.user	 = "a script in Lua",
	.name	 = "libluajit-5.1.so.2",
	.package = "libluajit-5.1-2",
	.rows	 = library_rows,
	.row_nr	 = sizeof(library_rows) / sizeof(library_rows[0]),
};

struct lua_script {
	struct ftr_script base;		/* first: the engine's functions receive a pointer to it */
	struct calls lua;
	lua_State *state;
};

static void pop(struct lua_script *self, int nr)
{
	self->lua.lua_settop(self->state, -nr - 1);
}

/* Take the error off the stack.  Lua has put FILE:LINE before its own and those of error(). */
static int failure(struct lua_script *self, struct ftr_err *err)
{
	const char *path = self->base.path;
	const char *text = self->lua.lua_tolstring(self->state, -1, NULL);

	if (text == NULL)
		text = "an error that is no text";
	if (strncmp(text, path, strlen(path)) == 0)
		ftr_err_set(err, EIO, "%.*s", (int)strcspn(text, "\n"), text);
	else
		ftr_err_set(err, EIO, "%s: %.*s", path, (int)strcspn(text, "\n"), text);
	pop(self, 1);
	return -EIO;
}

/* The script finds its words in arg, as under luajit itself. */
static void set_arg(struct lua_script *self)
{
	const struct calls *lua = &self->lua;
	lua_State *state = self->state;

	lua->lua_createtable(state, self->base.arg_nr, 1);
	lua->lua_pushstring(state, self->base.path);
	lua->lua_rawseti(state, -2, 0);
	for (int i = 0; i < self->base.arg_nr; i++) {
		lua->lua_pushstring(state, self->base.args[i]);
		lua->lua_rawseti(state, -2, i + 1);
	}
	lua->lua_setfield(state, LUA_GLOBALSINDEX, "arg");
}

/* Modules beside the script are found first. */
static void set_path(struct lua_script *self)
{
	const char *path = self->base.path, *slash = strrchr(path, '/');
	const struct calls *lua = &self->lua;
	lua_State *state = self->state;

	lua->lua_getfield(state, LUA_GLOBALSINDEX, "package");
	lua->lua_pushlstring(state, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
	lua->lua_pushstring(state, "?.lua;");
	lua->lua_getfield(state, -3, "path");
	lua->lua_concat(state, 3);
	lua->lua_setfield(state, -2, "path");
	pop(self, 1);
}

static int find_callbacks(struct lua_script *self)
{
	const struct calls *lua = &self->lua;
	size_t len;

	for (unsigned i = 0; i < FTR_SCRIPT_CALLBACKS; i++) {
		lua->lua_getfield(self->state, LUA_GLOBALSINDEX, ftr_script_callback_names[i]);
		if (lua->lua_type(self->state, -1) == LUA_TFUNCTION)
			self->base.callbacks |= FTR_BIT(i);
		pop(self, 1);
	}
	lua->lua_getfield(self->state, LUA_GLOBALSINDEX, "UFTRACE_FUNCS");
	if (lua->lua_type(self->state, -1) != LUA_TTABLE) {
		pop(self, 1);
		return 0;
	}
	for (int i = 1;; i++) {
		const char *text;
		int ret;

		lua->lua_rawgeti(self->state, -1, i);
		text = lua->lua_tolstring(self->state, -1, &len);
		ret = text != NULL ? ftr_script_add_func(&self->base, text, len) : 0;
		pop(self, 1);
		if (ret < 0)
			return ret;
		if (text == NULL)
			break;
	}
	pop(self, 1);
	return 0;
}

static int lua_script_open(struct ftr_script *script, struct ftr_err *err)
{
	struct lua_script *self = (struct lua_script *)script;
	int ret = ftr_optional_library_load(&library, &self->lua, err);

	if (ret < 0)
		return ret;
	self->state = self->lua.luaL_newstate();
	if (self->state == NULL)
		return ftr_err_set(err, ENOMEM, "%s: out of memory", script->path);
	self->lua.luaL_openlibs(self->state);
	set_arg(self);
	set_path(self);
	if (self->lua.luaL_loadfile(self->state, script->path) != 0 ||
	    self->lua.lua_pcall(self->state, 0, 0, 0) != 0)
		return failure(self, err);
	ret = find_callbacks(self);
	return ret < 0 ? ftr_err_set(err, -ret, "%s: out of memory", script->path) : 0;
}

/* Call the function below its @arg_nr arguments. */
static int run(struct lua_script *self, int arg_nr, struct ftr_err *err)
{
	return self->lua.lua_pcall(self->state, arg_nr, 0, 0) == 0 ? 0 : failure(self, err);
}

static void push_function(struct lua_script *self, enum ftr_script_callback callback)
{
	self->lua.lua_getfield(self->state, LUA_GLOBALSINDEX,
			       ftr_script_callback_names[callback]);
}

/* Numbers are doubles: whole ones are exact up to 2^53. */
static void set_number(struct lua_script *self, const char *key, double value)
{
	self->lua.lua_pushnumber(self->state, value);
	self->lua.lua_setfield(self->state, -2, key);
}

static void push_value(struct lua_script *self, const struct ftr_script_value *value)
{
	const struct calls *lua = &self->lua;

	switch (value->kind) {
	case FTR_SCRIPT_SIGNED:
		lua->lua_pushnumber(self->state, (double)value->i);
		break;
	case FTR_SCRIPT_UNSIGNED:
		lua->lua_pushnumber(self->state, (double)value->u);
		break;
	case FTR_SCRIPT_FLOAT:
		lua->lua_pushnumber(self->state, value->f);
		break;
	case FTR_SCRIPT_TEXT:
		lua->lua_pushlstring(self->state, value->text.s, value->text.len);
		break;
	case FTR_SCRIPT_NOTHING:
		lua->lua_pushnil(self->state);
		break;
	}
}

static void push_list(struct lua_script *self, const struct ftr_script_context *context)
{
	self->lua.lua_createtable(self->state, (int)context->value_nr, 0);
	for (size_t i = 0; i < context->value_nr; i++) {
		push_value(self, &context->values[i]);
		self->lua.lua_rawseti(self->state, -2, (int)i + 1);
	}
}

static void set_values(struct lua_script *self, enum ftr_script_callback callback,
		       const struct ftr_script_context *context)
{
	if (context->value_nr == 0)
		return;
	if (callback == FTR_SCRIPT_ENTRY)
		push_list(self, context);
	else
		push_value(self, &context->values[0]);
	self->lua.lua_setfield(self->state, -2,
			       callback == FTR_SCRIPT_EXIT ? "retval" : "args");
}

static int lua_script_call(struct ftr_script *script, enum ftr_script_callback callback,
			   const struct ftr_script_context *context, struct ftr_err *err)
{
	struct lua_script *self = (struct lua_script *)script;

	push_function(self, callback);
	self->lua.lua_createtable(self->state, 0, CONTEXT_KEYS);
	set_number(self, "tid", context->tid);
	set_number(self, "depth", context->depth);
	set_number(self, "timestamp", (double)context->time_ns);
	set_number(self, "address", (double)context->addr);
	self->lua.lua_pushlstring(self->state, context->name, context->name_len);
	self->lua.lua_setfield(self->state, -2, "name");
	if (callback == FTR_SCRIPT_EXIT)
		set_number(self, "duration", (double)context->duration_ns);
	set_values(self, callback, context);
	return run(self, 1, err);
}

static int lua_script_begin(struct ftr_script *script, const struct ftr_script_start *start,
			    struct ftr_err *err)
{
	struct lua_script *self = (struct lua_script *)script;
	const struct calls *lua = &self->lua;

	push_function(self, FTR_SCRIPT_BEGIN);
	lua->lua_createtable(self->state, 0, CONTEXT_KEYS);
	lua->lua_pushboolean(self->state, start->is_record);
	lua->lua_setfield(self->state, -2, "record");
	lua->lua_pushstring(self->state, start->version);
	lua->lua_setfield(self->state, -2, "version");
	lua->lua_createtable(self->state, start->arg_nr, 0);
	for (int i = 0; i < start->arg_nr; i++) {
		lua->lua_pushstring(self->state, start->args[i]);
		lua->lua_rawseti(self->state, -2, i + 1);
	}
	lua->lua_setfield(self->state, -2, "cmds");
	return run(self, 1, err);
}

static int lua_script_end(struct ftr_script *script, struct ftr_err *err)
{
	struct lua_script *self = (struct lua_script *)script;

	if (!ftr_script_has(script, FTR_SCRIPT_END))
		return 0;
	push_function(self, FTR_SCRIPT_END);
	return run(self, 0, err);
}

static void lua_script_close(struct ftr_script *script)
{
	struct lua_script *self = (struct lua_script *)script;

	if (self->state != NULL)
		self->lua.lua_close(self->state);
}

const struct ftr_script_engine ftr_script_engine_lua = {
	.name	     = "lua",
	.suffix	     = ".lua",
	.is_embedded = true,
	.size	     = sizeof(struct lua_script),
	.open	     = lua_script_open,
	.begin	     = lua_script_begin,
	.call	     = lua_script_call,
	.end	     = lua_script_end,
	.close	     = lua_script_close,
};
