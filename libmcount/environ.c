/* SPDX-License-Identifier: MIT */
/* See environ.h.  Nothing here allocates: exec is allowed in signal handlers and after vfork. */
#include "libmcount/environ.h"

#include <dlfcn.h>
#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "libmcount/channel.h"
#include "libmcount/readable.h"
#include "libmcount/scratch.h"
#include "utils/base/rt/sys.h"
#include "utils/proto/environ.h"

#define PAIR 2		/* entries here are as large as one of the auxiliary vector */

static char pad[] = FTR_ENVIRON_PAD;

/* In an environment: an index, or the number of entries. */
struct look {
	size_t nr;
	size_t at[FTR_OURS_NR];
};

static const char *const names[FTR_OURS_NR] = {
	[FTR_OURS_PRELOAD] = FTR_ENVIRON_PRELOAD,
	[FTR_OURS_ASAN] = FTR_ENVIRON_ASAN,
	[FTR_OURS_CHANNEL] = FTR_ENVIRON_CHANNEL,
};

static bool starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_list(unsigned i)
{
	return i != FTR_OURS_CHANNEL;
}

static struct look look_at(ftr_strings envp)
{
	struct look look = { 0 };
	size_t i, j;

	while (envp != NULL && envp[look.nr] != NULL)
		look.nr++;
	for (j = 0; j < FTR_OURS_NR; j++)
		look.at[j] = look.nr;
	for (i = 0; i < look.nr; i++) {
		for (j = 0; j < FTR_OURS_NR; j++) {
			if (starts_with(envp[i], names[j]))
				look.at[j] = i;
		}
	}
	return look;
}

/* Find the component of a colon-separated list that is the @len bytes of @ours; NULL = none. */
static char *component_find(char *list, const char *ours, size_t len)
{
	for (; (list = strstr(list, ours)) != NULL; list += len) {
		if (list[-1] != '=' && list[-1] != ':')
			continue;
		if (list[len] == '\0' || list[len] == ':')
			break;
	}
	return list;
}

#define PLATFORM "$PLATFORM"	/* the dynamic linker's machine, for it to fill in */
/* Room for a list of ours with other names in it: each path grows by two bytes at most. */
#define PLATFORM_GROWTH(bytes) ((bytes) + (bytes) / 4)

/*
 * Bytes of "/$PLATFORM/", or of what stands there for programs of this machine, that @text begins
 * with before the name of a library; 0: of something else.
 */
static size_t platform_bytes(const char *text)
{
	static const char *const marks[] = { "/" PLATFORM "/", "/" FTR_ARCH_PLATFORM "/" };
	const char *rest;
	size_t i;

	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (!starts_with(text, marks[i]))
			continue;
		rest = text + strlen(marks[i]);
		while (*rest != '\0' && *rest != ':' && *rest != '/')
			rest++;
		if (*rest != '/')
			return strlen(marks[i]);
	}
	return 0;
}

/* Is the @len bytes of @text, with that in it or without, the path @name? */
static bool is_named(const char *text, size_t len, const char *name)
{
	const char *at = strstr(text, PLATFORM);
	size_t name_len = strlen(name), before = (size_t)(at - text), after;

	if (at == NULL || before + strlen(PLATFORM) > len)
		return len == name_len && strncmp(text, name, len) == 0;
	after = len - before - strlen(PLATFORM);
	return before + after < name_len && strncmp(text, name, before) == 0 &&
	       strncmp(at + strlen(PLATFORM), name + name_len - after, after) == 0;
}

/* Find the component that is the path @name; its bytes to *len.  NULL = none. */
static char *path_find(char *list, const char *name, size_t *len)
{
	for (;; list += *len + 1) {
		for (*len = 0; list[*len] != ':' && list[*len] != '\0'; )
			(*len)++;
		if (is_named(list, *len, name))
			return list;
		if (list[*len] == '\0')
			return NULL;
	}
}

/* Our value of variable @i, without its name. */
static const char *ours_of(unsigned i)
{
	Dl_info self;

	if (i == FTR_OURS_ASAN)
		return FTR_ENVIRON_ASAN_OURS;
	return dladdr(&ftr_state, &self) != 0 ? self.dli_fname : "";
}

/*
 * The bytes of our entries in the list of variable @i, from @found on: DIR/libmcount.so, followed
 * by the libraries of probes, DIR/libmcount-NAME.so.
 */
static size_t ours_bytes(unsigned i, const char *found, size_t len)
{
	size_t stem = len - strlen(".so");

	if (i != FTR_OURS_PRELOAD)
		return len;
	while (found[len] == ':' && strncmp(found + len + 1, found, stem) == 0 &&
	       found[len + 1 + stem] == '-') {
		do
			len++;
		while (found[len] != ':' && found[len] != '\0');
	}
	return len;
}

static size_t append(char *to, size_t at, const char *text, size_t len)
{
	memcpy(to + at, text, len);
	to[at + len] = '\0';
	return at + len;
}

/*
 * @entry without @ours; NULL when the user had set nothing.  (An empty list of the user's reads
 * "OURS:".)  The result is in our own memory: AddressSanitizer reads the kernel's copy, which
 * /proc/self/environ shows.
 */
static char *entry_without(const char *entry, const char *ours, size_t ours_len, char *mem)
{
	const char *rest = ours + ours_len;
	size_t before = (size_t)(ours - entry), at;

	if (*rest == ':')
		rest++;
	else if (ours[-1] == ':')
		before--;
	else
		return NULL;
	at = append(mem, 0, entry, before);
	append(mem, at, rest, strlen(rest));
	return mem;
}

/* For what is kept of a variable, and what the program is to see of it. */
static size_t room_bytes(const char *entry)
{
	return 2 * (strlen(entry) + 1);
}

/*
 * Keep our part of variable @i in @kept (room_bytes); returns what the program is to see of @entry,
 * NULL = nothing.
 */
static char *variable_take(unsigned i, char *entry, char *kept)
{
	size_t len = strlen(entry), ours_len;
	const char *ours;
	char *found;

	if (!is_list(i)) {
		append(kept, 0, entry, len);
		ftr_state.ours[i] = kept;
		return NULL;
	}
	ours = ours_of(i);
	ours_len = strlen(ours);
	if (i == FTR_OURS_PRELOAD)
		found = path_find(entry + strlen(names[i]), ours, &ours_len);
	else
		found = component_find(entry + strlen(names[i]), ours, ours_len);
	if (found == NULL)
		return entry;
	ours_len = ours_bytes(i, found, ours_len);
	append(kept, append(kept, 0, names[i], strlen(names[i])), found, ours_len);
	ftr_state.ours[i] = kept;
	return entry_without(entry, found, ours_len, kept + len + 1);
}

/*
 * Close the gap that @removed entries left.  libc has kept the address of the auxiliary vector, so
 * the room between the moved NULL and that is filled with entries that are ignored.
 */
static void environ_end(char **end, size_t removed)
{
	uintptr_t *filler = (uintptr_t *)end;

	if (removed % PAIR != 0) {
		*end = pad;
		filler++;
		removed--;
	}
	*filler++ = 0;
	for (; removed > 0; removed -= PAIR) {
		*filler++ = AT_IGNORE;
		*filler++ = 0;
	}
}

static void variables_take(char **envp, const struct look *look)
{
	size_t bytes = 0, room;
	unsigned i;
	long mem;
	char *to;

	for (i = 0; i < FTR_OURS_NR; i++)
		bytes += look->at[i] < look->nr ? room_bytes(envp[look->at[i]]) : 0;
	if (bytes == 0)
		return;
	mem = ftr_sys_map(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return;
	to = (char *)mem;
	for (i = 0; i < FTR_OURS_NR; i++) {
		if (look->at[i] == look->nr)
			continue;
		room = room_bytes(envp[look->at[i]]);
		envp[look->at[i]] = variable_take(i, envp[look->at[i]], to);
		to += room;
	}
}

void ftr_environ_start(char **envp)
{
	struct look look = look_at(envp);
	size_t i, kept = 0;

	variables_take(envp, &look);
	for (i = 0; i < look.nr; i++) {
		if (envp[i] != NULL && !starts_with(envp[i], FTR_ENVIRON_PAD))
			envp[kept++] = envp[i];
	}
	if (kept < look.nr)
		environ_end(&envp[kept], look.nr - kept);
}

#define LATE_BYTES 8192u
#define LATE_SPARE FTR_ENVIRON_BLOCKED_BYTES	/* for ftr_environ_block */

/* Returns where the next one begins; NULL: there is no room. */
static char *late_put(unsigned i, char *to, const char *end, const char *value)
{
	size_t name_len = strlen(names[i]), len = strlen(value);

	if (name_len + len + 1 + LATE_SPARE > (size_t)(end - to))
		return NULL;
	ftr_state.ours[i] = to;
	append(to, append(to, 0, names[i], name_len), value, len);
	return to + name_len + len + 1 + LATE_SPARE;
}

void ftr_environ_start_late(void)
{
	const char *runtime = ours_of(FTR_OURS_PRELOAD);
	long mem;
	char *at = NULL;

	if (runtime[0] != '/' || strchr(runtime, ':') != NULL || strchr(runtime, ' ') != NULL)
		return;
	mem = ftr_sys_map(0, LATE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftr_sys_map_failed(mem))
		return;
	at = late_put(FTR_OURS_PRELOAD, (char *)mem, (char *)mem + LATE_BYTES, runtime);
	if (at != NULL)
		at = late_put(FTR_OURS_ASAN, at, (char *)mem + LATE_BYTES, FTR_ENVIRON_ASAN_OURS);
	if (at != NULL)
		at = late_put(FTR_OURS_CHANNEL, at, (char *)mem + LATE_BYTES, ftr_state.address);
	if (at == NULL) {
		memset(ftr_state.ours, 0, sizeof(ftr_state.ours));
		ftr_sys2(SYS_munmap, mem, LATE_BYTES);
	}
}

void ftr_environ_end_late(void)
{
	char *mem = ftr_state.ours[FTR_OURS_PRELOAD];

	if (mem != NULL)
		ftr_sys2(SYS_munmap, mem, LATE_BYTES);
}

/* In place: variable_take and late_put left room for it. */
void ftr_environ_block(uint32_t blocked)
{
	char *channel = ftr_state.ours[FTR_OURS_CHANNEL];
	size_t len = channel != NULL ? strlen(channel) : 0;

	if (len < FTR_ENVIRON_BLOCKED_BYTES)
		return;
	if (channel[len - FTR_ENVIRON_BLOCKED_BYTES] != FTR_ENVIRON_BLOCKED) {
		memset(channel + len, FTR_ENVIRON_BLOCKED, FTR_ENVIRON_BLOCKED_BYTES);
		len += FTR_ENVIRON_BLOCKED_BYTES;
	}
	channel[len - 2] |= (char)(blocked & FTR_ENVIRON_BLOCKED_MASK);
	channel[len - 1] |= (char)(blocked >> FTR_ENVIRON_BLOCKED_BITS & FTR_ENVIRON_BLOCKED_MASK);
}

size_t ftr_environ_told(const char *channel, size_t len, uint32_t *blocked)
{
	*blocked = 0;
	if (len <= FTR_ENVIRON_BLOCKED_BYTES ||
	    channel[len - FTR_ENVIRON_BLOCKED_BYTES] != FTR_ENVIRON_BLOCKED)
		return len;
	*blocked = (uint32_t)channel[len - 1] & FTR_ENVIRON_BLOCKED_MASK;
	*blocked <<= FTR_ENVIRON_BLOCKED_BITS;
	*blocked |= (uint32_t)channel[len - 2] & FTR_ENVIRON_BLOCKED_MASK;
	*blocked &= FTR_SECCOMP_TOLD;
	return len - FTR_ENVIRON_BLOCKED_BYTES;
}

/* May new images not connect to the recorder?  They would only warn, or be killed. */
static bool is_alone(void)
{
	return ftr_is_silent() || (ftr_state.control != NULL && ftr_recorder_is_gone());
}

/*
 * What the dynamic linker is to find in the place of $PLATFORM, to have the library of the machine
 * that the new image is for, of which the recorder says @loads.  NULL: it fills that in, which
 * takes a system call that no filter kills for.
 */
static const char *platform_of(uint64_t loads)
{
	const char *ours = ftr_state.ours[FTR_OURS_PRELOAD];

	if (ours != NULL && strstr(ours, PLATFORM) != NULL &&
	    !ftr_is_blocked(FTR_SECCOMP_PLATFORM))
		return NULL;
	if ((loads & FTR_CHANNEL_BESIDE) != 0)
		return FTR_ARCH_PLATFORM_BESIDE;
	return (loads & FTR_CHANNEL_HOST) != 0 ? FTR_ARCH_PLATFORM_HOST : FTR_ARCH_PLATFORM;
}

/* A copy of ours: what is started may still read it when ours are gone.  Returns its length. */
static size_t ours_copy(unsigned i, const char *platform, char *buf)
{
	const char *from = ftr_state.ours[i];
	size_t at = 0, bytes;

	if (i != FTR_OURS_PRELOAD || platform == NULL)
		return append(buf, 0, from, strlen(from));
	for (; *from != '\0'; from += bytes) {
		bytes = platform_bytes(from);
		if (bytes == 0) {
			at = append(buf, at, from, bytes = 1);
			continue;
		}
		at = append(buf, at, "/", 1);
		at = append(buf, at, platform, strlen(platform));
		at = append(buf, at, "/", 1);
	}
	return at;
}

bool ftr_environ_has_runtime(void)
{
	const char *ours = ftr_state.ours[FTR_OURS_PRELOAD];
	char *list = NULL, *path;
	long fd;

	if (ours != NULL)
		list = ftr_scratch_take(PLATFORM_GROWTH(strlen(ours)) + 1);
	if (list == NULL)
		return false;
	ours_copy(FTR_OURS_PRELOAD, FTR_ARCH_PLATFORM, list);
	path = list + strlen(names[FTR_OURS_PRELOAD]);
	if (strchr(path, ':') != NULL)
		*strchr(path, ':') = '\0';
	fd = ftr_sys_open_own(path);
	if (fd >= 0)
		ftr_sys_close_own(fd);
	ftr_scratch_put(list);
	return fd >= 0;
}

/* Our part comes first: before what it interposes, or prepares for. */
static char *list_merge(unsigned i, const char *platform, char *theirs, char *buf)
{
	const char *value = theirs + strlen(names[i]);
	size_t at = ours_copy(i, platform, buf), name_len = strlen(names[i]);

	if (component_find(theirs + name_len, buf + name_len, at - name_len) != NULL)
		return theirs;
	at = append(buf, at, ":", 1);
	append(buf, at, value, strlen(value));
	return buf;
}

/* Room for ours, and what it is merged with, in bytes. */
static size_t merged_bytes(ftr_strings envp, const struct look *look, unsigned i)
{
	size_t bytes = ftr_state.ours[i] != NULL ?
		PLATFORM_GROWTH(strlen(ftr_state.ours[i])) + 1 : 0;

	if (is_list(i) && bytes != 0 && look->at[i] < look->nr)
		bytes += strlen(envp[look->at[i]]) + 1;
	return bytes;
}

/*
 * @buf has room for what is merged.  ftr under ftr: another recorder's channel is for the programs
 * that it starts itself.
 */
static void merge(ftr_strings envp, const struct look *look, const char *platform, char **out,
		  char *buf)
{
	size_t nr = look->nr, at;
	unsigned i;

	if (nr > 0)
		memcpy(out, envp, nr * sizeof(*out));
	for (i = 0; i < FTR_OURS_NR; i++) {
		if (ftr_state.ours[i] == NULL)
			continue;
		at = look->at[i];
		if (at < look->nr && is_list(i)) {
			out[at] = list_merge(i, platform, envp[at], buf);
		} else if (at == look->nr || envp[at][strlen(names[i])] == '\0') {
			ours_copy(i, platform, buf);
			out[at == look->nr ? nr++ : at] = buf;
		}
		buf += merged_bytes(envp, look, i);
	}
	if ((nr - look->nr) % PAIR != 0)
		out[nr++] = pad;
	out[nr] = NULL;
}

ftr_strings ftr_environ_new(ftr_strings envp, uint64_t loads)
{
	struct look look;
	size_t strings, bytes;
	char **merged;
	unsigned i;

	if (ftr_state.ours[FTR_OURS_CHANNEL] == NULL || is_alone())
		return envp;
	if (envp != NULL && !ftr_are_readable(envp))
		return envp;		/* exec will fail */
	look = look_at(envp);
	strings = bytes = (look.nr + FTR_OURS_NR + 2) * sizeof(char *);	/* with pad and NULL */
	for (i = 0; i < FTR_OURS_NR; i++)
		bytes += merged_bytes(envp, &look, i);
	merged = ftr_scratch_take(bytes);
	if (merged == NULL) {
		ftr_channel_warn("has no memory for the environment of a program that it starts, "
				 "which runs untraced; raise ulimit -v or -d");
		return envp;
	}
	merge(envp, &look, platform_of(loads), merged, (char *)merged + strings);
	return merged;
}

void ftr_environ_free(ftr_strings merged, ftr_strings envp)
{
	if (merged != envp)
		ftr_scratch_put((void *)merged);
}
