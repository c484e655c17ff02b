/* SPDX-License-Identifier: MIT */
/* record --merge: what trace-cmd recorded meanwhile is kept in the data directory. */
#include "cmds/record_merge.h"

#include "cmds/message.h"
#include "utils/base/istream.h"
#include "utils/base/ostream.h"
#include "utils/base/strbuf.h"
#include "utils/format/uftrace/uftrace.h"

#include <fcntl.h>

static int file_copy(const char *from, const char *to, struct ftr_err *err)
{
	struct ftr_istream in;
	struct ftr_ostream out;
	int ret = ftr_istream_open_file(&in, AT_FDCWD, from, err);

	if (ret < 0)
		return ret;
	ret = ftr_ostream_open(&out, to, err);
	if (ret == 0) {
		ftr_ostream_write(&out, in.data, in.size);
		ret = ftr_ostream_close(&out, err);
	}
	ftr_istream_close(&in);
	return ret;
}

void ftr_record_merge(const char *path, const char *dir)
{
	struct ftr_err err = { 0 };
	struct ftr_strbuf to;

	ftr_strbuf_init(&to);
	ftr_strbuf_printf(&to, "%s/" FTR_UFTRACE_MERGED_FILE, dir);
	if (file_copy(path, ftr_strbuf_str(&to), &err) < 0)
		ftr_warn("--merge: %s; once trace-cmd has written it: cp %s %s", err.text, path,
			 ftr_strbuf_str(&to));
	ftr_strbuf_fini(&to);
}
