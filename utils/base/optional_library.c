/* SPDX-License-Identifier: MIT */
#include "utils/base/optional_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "utils/base/err.h"

int ftr_optional_library_load(const struct ftr_optional_library *library, void *table,
			      struct ftr_err *err)
{
	void *handle = dlopen(library->name, RTLD_NOW | (library->is_global ? RTLD_GLOBAL : 0));

	if (handle == NULL)
		return ftr_err_set(err, ENOENT, "%s needs %s: %s; install it (apt-get install %s)",
				   library->user, library->name, dlerror(), library->package);
	for (size_t i = 0; i < library->row_nr; i++) {
		void *address = dlsym(handle, library->rows[i].name);

		if (address == NULL)
			return ftr_err_set(err, ENOENT, "%s: %s has no %s; install another one "
					   "(apt-get install %s)", library->user, library->name,
					   library->rows[i].name, library->package);
		memcpy((char *)table + library->rows[i].offset, &address, sizeof(address));
	}
	return 0;
}
