/* SPDX-License-Identifier: MIT */
/*
 * libmcount-file.so: streams (stdio).  What the program reads from and writes to them is recorded,
 * with the descriptor below; that their buffers are filled and emptied by other calls of libc's own
 * is not.  Wide characters and scanf are left alone.
 *
 * Compiled with vector registers: printf's arguments may be in them.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include "libmcount/interpose_ours.h"

#define FOR_EACH(x) \
	x(fopen) x(fopen64) x(freopen) x(freopen64) x(fclose) x(fread) x(fread_unlocked) \
	x(__fread_chk) x(__fread_unlocked_chk) x(fwrite) x(fwrite_unlocked) x(fgets) \
	x(fgets_unlocked) x(__fgets_chk) x(__fgets_unlocked_chk) x(getline) x(getdelim) \
	x(__getdelim) x(fgetc) x(getc) x(_IO_getc) x(fgetc_unlocked) x(getc_unlocked) x(getchar) \
	x(getchar_unlocked) x(fputs) x(fputs_unlocked) x(puts) x(fputc) x(putc) x(_IO_putc) \
	x(fputc_unlocked) x(putc_unlocked) x(putchar) x(putchar_unlocked) x(fflush) \
	x(fflush_unlocked) x(fseek) x(fseeko) x(fseeko64) x(vfprintf) x(__vfprintf_chk) \
	x(vdprintf) x(__vdprintf_chk)

FTR_CALL_TABLE(FOR_EACH)

#define KIND(kind) FTR_RECORD_EVENT_FILE_##kind

/* Below 0: none, of a stream in memory. */
static uint64_t fd_of(FILE *stream)
{
	int errno_before = errno, fd = stream != NULL ? fileno(stream) : -1;

	errno = errno_before;
	return (uint64_t)(int64_t)fd;
}

/* What was moved; nothing is an error only where the stream says so. */
static int64_t moved(FILE *stream, size_t bytes)
{
	return bytes == 0 && ferror_unlocked(stream) ? -(int64_t)errno : (int64_t)bytes;
}

static size_t line_bytes(const char *line)
{
	size_t bytes = 0;

	while (line[bytes] != '\0')
		bytes++;
	return bytes;
}

/* @call on @stream, which says as @result how much it moved. */
#define DO_MOVE(kind, type, stream, bytes, call, result) \
	FTR_CALL_WHEN_LEFT(); \
	FILE *stream_ = stream; \
	struct ftr_call_open before_ = ftr_call_begin_with(KIND(kind), fd_of(stream_), bytes, \
							   FTR_CALL_SLOT()); \
	type ret_ = call; \
	ftr_call_end(result, before_)

#define MOVE(...) \
	DO_MOVE(__VA_ARGS__); \
	return ret_

/* ---- opening ---- */

/* The flags of a mode as fopen takes it. */
static uint64_t mode_flags(const char *mode, const uintptr_t *slot)
{
	char text[3] = "";
	bool is_updated;

	if (!ftr_interposed_copy(text, mode, 2, slot))
		return 0;
	is_updated = text[0] != '\0' && text[1] == '+';
	if (text[0] == 'w')
		return (is_updated ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
	if (text[0] == 'a')
		return (is_updated ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
	return is_updated ? O_RDWR : O_RDONLY;
}

#define OPENS(name, params, ...) \
	OURS(FILE *, name, params) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		struct ftr_call_open before = ftr_call_begin_texts( \
			KIND(OPEN), (uint64_t)AT_FDCWD, mode_flags(mode, FTR_CALL_SLOT()), \
			FTR_CALL_SLOT(), &path, 1); \
		FILE *stream = REAL(name)(__VA_ARGS__); \
\
		ftr_call_end(stream != NULL ? (int64_t)fd_of(stream) : ftr_call_result(-1), \
			     before); \
		return stream; \
	}
OPENS(fopen, (const char *path, const char *mode), path, mode)
OPENS(fopen64, (const char *path, const char *mode), path, mode)
OPENS(freopen, (const char *path, const char *mode, FILE *old), path, mode, old)
OPENS(freopen64, (const char *path, const char *mode, FILE *old), path, mode, old)

#define ON_STREAM(kind, name) \
	OURS(int, name, (FILE *stream)) \
	{ \
		FTR_CALL_WHEN_LEFT(); \
		struct ftr_call_open before = ftr_call_begin(KIND(kind), fd_of(stream), \
							     FTR_CALL_SLOT()); \
		int ret = REAL(name)(stream); \
\
		ftr_call_end(ftr_call_result(ret), before); \
		return ret; \
	}
ON_STREAM(CLOSE, fclose)
ON_STREAM(FLUSH, fflush)
ON_STREAM(FLUSH, fflush_unlocked)

#define SEEKS(type, name) \
	OURS(int, name, (FILE *stream, type to, int whence)) \
	{ \
		MOVE(SEEK, int, stream, (uint64_t)(int64_t)to, REAL(name)(stream_, to, whence), \
		     ftr_call_result(ret_)); \
	}
SEEKS(long, fseek)
SEEKS(off_t, fseeko)
SEEKS(off64_t, fseeko64)

/* ---- blocks and lines ---- */

#define BLOCKS(kind, name, params, ...) \
	OURS(size_t, name, params) \
	{ \
		MOVE(kind, size_t, stream, bytes * nr, REAL(name)(__VA_ARGS__), \
		     moved(stream_, bytes * ret_)); \
	}
BLOCKS(READ, fread, (void *to, size_t bytes, size_t nr, FILE *stream), to, bytes, nr, stream_)
BLOCKS(READ, fread_unlocked, (void *to, size_t bytes, size_t nr, FILE *stream), to, bytes, nr,
       stream_)
BLOCKS(READ, __fread_chk, (void *to, size_t room, size_t bytes, size_t nr, FILE *stream), to, room,
       bytes, nr, stream_)
BLOCKS(READ, __fread_unlocked_chk, (void *to, size_t room, size_t bytes, size_t nr, FILE *stream),
       to, room, bytes, nr, stream_)
BLOCKS(WRITE, fwrite, (const void *from, size_t bytes, size_t nr, FILE *stream), from, bytes, nr,
       stream_)
BLOCKS(WRITE, fwrite_unlocked, (const void *from, size_t bytes, size_t nr, FILE *stream), from,
       bytes, nr, stream_)

#define LINES(name, params, ...) \
	OURS(char *, name, params) \
	{ \
		MOVE(READ, char *, stream, (uint64_t)room, REAL(name)(__VA_ARGS__), \
		     moved(stream_, ret_ != NULL ? line_bytes(ret_) : 0)); \
	}
LINES(fgets, (char *to, int room, FILE *stream), to, room, stream_)
LINES(fgets_unlocked, (char *to, int room, FILE *stream), to, room, stream_)
LINES(__fgets_chk, (char *to, size_t size, int room, FILE *stream), to, size, room, stream_)
LINES(__fgets_unlocked_chk, (char *to, size_t size, int room, FILE *stream), to, size, room,
      stream_)

#define GIVES_LINE(name, params, ...) \
	OURS(ssize_t, name, params) \
	{ \
		MOVE(READ, ssize_t, stream, 0, REAL(name)(__VA_ARGS__), \
		     moved(stream_, ret_ >= 0 ? (size_t)ret_ : 0)); \
	}
GIVES_LINE(getline, (char **line, size_t *room, FILE *stream), line, room, stream_)
GIVES_LINE(getdelim, (char **line, size_t *room, int end, FILE *stream), line, room, end, stream_)
GIVES_LINE(__getdelim, (char **line, size_t *room, int end, FILE *stream), line, room, end,
	   stream_)

#define PUTS_LINE(name, stream, params, more, ...) \
	OURS(int, name, params) \
	{ \
		size_t bytes = line_bytes(line) + (more); \
\
		MOVE(WRITE, int, stream, bytes, REAL(name)(__VA_ARGS__), \
		     ret_ >= 0 ? (int64_t)bytes : -(int64_t)errno); \
	}
PUTS_LINE(fputs, stream, (const char *line, FILE *stream), 0, line, stream_)
PUTS_LINE(fputs_unlocked, stream, (const char *line, FILE *stream), 0, line, stream_)
PUTS_LINE(puts, stdout, (const char *line), 1, line)

/* ---- characters ---- */

#define GETS_CHARACTER(name, stream, params, ...) \
	OURS(int, name, params) \
	{ \
		MOVE(READ, int, stream, 1, REAL(name)(__VA_ARGS__), moved(stream_, ret_ != EOF)); \
	}
GETS_CHARACTER(fgetc, stream, (FILE *stream), stream_)
GETS_CHARACTER(getc, stream, (FILE *stream), stream_)
GETS_CHARACTER(_IO_getc, stream, (FILE *stream), stream_)
GETS_CHARACTER(fgetc_unlocked, stream, (FILE *stream), stream_)
GETS_CHARACTER(getc_unlocked, stream, (FILE *stream), stream_)
GETS_CHARACTER(getchar, stdin, (void))
GETS_CHARACTER(getchar_unlocked, stdin, (void))

#define PUTS_CHARACTER(name, stream, params, ...) \
	OURS(int, name, params) \
	{ \
		MOVE(WRITE, int, stream, 1, REAL(name)(__VA_ARGS__), \
		     ret_ != EOF ? 1 : -(int64_t)errno); \
	}
PUTS_CHARACTER(fputc, stream, (int c, FILE *stream), c, stream_)
PUTS_CHARACTER(putc, stream, (int c, FILE *stream), c, stream_)
PUTS_CHARACTER(_IO_putc, stream, (int c, FILE *stream), c, stream_)
PUTS_CHARACTER(fputc_unlocked, stream, (int c, FILE *stream), c, stream_)
PUTS_CHARACTER(putc_unlocked, stream, (int c, FILE *stream), c, stream_)
PUTS_CHARACTER(putchar, stdout, (int c), c)
PUTS_CHARACTER(putchar_unlocked, stdout, (int c), c)

/* ---- printf ---- */

/* How much it will be is not known before. */
#define DO_PRINT(stream, call) \
	DO_MOVE(WRITE, int, stream, 0, call, ftr_call_result(ret_))

#define PRINT(stream, call) \
	DO_PRINT(stream, call); \
	return ret_

OURS(int, vfprintf, (FILE *stream, const char *format, va_list list))
{
	PRINT(stream, REAL(vfprintf)(stream_, format, list));
}

OURS(int, __vfprintf_chk, (FILE *stream, int flag, const char *format, va_list list))
{
	PRINT(stream, REAL(__vfprintf_chk)(stream_, flag, format, list));
}

OURS(int, vprintf, (const char *format, va_list list))
{
	PRINT(stdout, REAL(vfprintf)(stream_, format, list));
}

OURS(int, __vprintf_chk, (int flag, const char *format, va_list list))
{
	PRINT(stdout, REAL(__vfprintf_chk)(stream_, flag, format, list));
}

#define PRINTS(name, stream, params, last, call) \
	OURS(int, name, params) \
	{ \
		va_list list; \
\
		va_start(list, last); \
		DO_PRINT(stream, call); \
		va_end(list); \
		return ret_; \
	}
PRINTS(printf, stdout, (const char *format, ...), format, REAL(vfprintf)(stream_, format, list))
PRINTS(fprintf, stream, (FILE *stream, const char *format, ...), format,
       REAL(vfprintf)(stream_, format, list))
PRINTS(__printf_chk, stdout, (int flag, const char *format, ...), format,
       REAL(__vfprintf_chk)(stream_, flag, format, list))
PRINTS(__fprintf_chk, stream, (FILE *stream, int flag, const char *format, ...), format,
       REAL(__vfprintf_chk)(stream_, flag, format, list))

/* To a descriptor. */
#define DO_PRINT_FD(fd, call) \
	FTR_CALL_WHEN_LEFT(); \
	struct ftr_call_open before_ = ftr_call_begin_with( \
		KIND(WRITE), (uint64_t)(int64_t)(fd), 0, FTR_CALL_SLOT()); \
	int ret_ = call; \
	ftr_call_end(ftr_call_result(ret_), before_)

OURS(int, vdprintf, (int fd, const char *format, va_list list))
{
	DO_PRINT_FD(fd, REAL(vdprintf)(fd, format, list));
	return ret_;
}

OURS(int, __vdprintf_chk, (int fd, int flag, const char *format, va_list list))
{
	DO_PRINT_FD(fd, REAL(__vdprintf_chk)(fd, flag, format, list));
	return ret_;
}

OURS(int, dprintf, (int fd, const char *format, ...))
{
	va_list list;

	va_start(list, format);
	DO_PRINT_FD(fd, REAL(vdprintf)(fd, format, list));
	va_end(list);
	return ret_;
}

OURS(int, __dprintf_chk, (int fd, int flag, const char *format, ...))
{
	va_list list;

	va_start(list, format);
	DO_PRINT_FD(fd, REAL(__vdprintf_chk)(fd, flag, format, list));
	va_end(list);
	return ret_;
}
