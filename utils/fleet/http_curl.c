/* SPDX-License-Identifier: MIT */
/*
 * Statements by libcurl.  It is loaded when it is first needed: linked, it and the 30 libraries
 * that it needs would make every start of ftr slower.
 */
#include "utils/fleet/http.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "utils/base/optional_library.h"
#include "utils/base/text.h"

#define CONNECT_SECONDS 10L
#define STALLED_SECONDS 60L	/* without a byte a second */
#define HTTP_OK		200L
#define HTTP_SERVER	500L	/* and above: the server's own failures */
#define ANSWER_TEXT_MAX 200	/* of the server's words in a message */

#define CURL_CALLS(X) \
	X(easy_init) X(easy_cleanup) X(easy_reset) X(easy_setopt) X(easy_perform) X(easy_getinfo) \
	X(easy_escape) X(free) X(slist_append) X(slist_free_all) X(global_init)

struct calls {
#define MEMBER(name) __typeof__(&curl_##name) name;
	CURL_CALLS(MEMBER)
#undef MEMBER
};

#define ROW(name) { "curl_" #name, offsetof(struct calls, name) },
static const struct ftr_optional_row library_rows[] = { CURL_CALLS(ROW) };

static const struct ftr_optional_library library = {
	.user	 = "a database",
	.name	 = "libcurl.so.4",
	.package = "libcurl4",
	.rows	 = library_rows,
	.row_nr	 = sizeof(library_rows) / sizeof(library_rows[0]),
};

struct ftr_http {
	const struct ftr_http_server *server;
	struct calls curl;
	CURL *easy;
	struct ftr_strbuf answer;
	char text[CURL_ERROR_SIZE];
};

/* Failures of the server that pass: too much at once, time-outs, another server not there. */
static const unsigned passing_codes[] = {
	3, 32, 159, 164, 202, 203, 209, 210, 236, 241, 242, 252, 279, 319, 425, 439,
};

struct ftr_http *ftr_http_new(const struct ftr_http_server *server, struct ftr_err *err)
{
	struct ftr_http *http = calloc(1, sizeof(*http));

	if (http == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	http->server = server;
	ftr_strbuf_init(&http->answer);
	if (ftr_optional_library_load(&library, &http->curl, err) == 0) {
		http->curl.global_init(CURL_GLOBAL_DEFAULT);
		http->easy = http->curl.easy_init();
		if (http->easy != NULL)
			return http;
		ftr_err_set(err, ENOMEM, "out of memory");
	}
	ftr_http_free(http);
	return NULL;
}

void ftr_http_free(struct ftr_http *http)
{
	if (http == NULL)
		return;
	if (http->easy != NULL)
		http->curl.easy_cleanup(http->easy);
	/* Stays loaded: OpenSSL does not survive being unloaded. */
	ftr_strbuf_fini(&http->answer);
	free(http);
}

static size_t keep_answer(char *bytes, size_t size, size_t nr, void *arg)
{
	struct ftr_strbuf *answer = arg;

	ftr_strbuf_put(answer, bytes, size * nr);
	return answer->failed ? 0 : size * nr;
}

/* "Code: 60, e.displayText() = DB::Exception: Table t doesn't exist., ..." */
static unsigned code_of(const char *answer)
{
	return strncmp(answer, "Code: ", 6) == 0 ? (unsigned)strtoul(answer + 6, NULL, 10) : 0;
}

static bool is_passing(const char *answer)
{
	unsigned code = code_of(answer);

	for (size_t i = 0; i < sizeof(passing_codes) / sizeof(passing_codes[0]); i++) {
		if (passing_codes[i] == code)
			return true;
	}
	return code == 0;	/* a proxy's words */
}

/* The sentence in the server's answer, without what surrounds it. */
static struct ftr_slice sentence(const struct ftr_strbuf *answer)
{
	static const char *const ends[] = { "\n", ", e.what()", ". Log:" };
	const char *s = ftr_strbuf_str(answer), *text = strstr(s, "Exception: ");
	size_t len = ANSWER_TEXT_MAX;

	s = text == NULL ? s : text + strlen("Exception: ");
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		text = strstr(s, ends[i]);
		if (text != NULL && (size_t)(text - s) < len)
			len = (size_t)(text - s);
	}
	return ftr_slice_make(s, strnlen(s, len));
}

static enum ftr_http_outcome judge_answer(struct ftr_http *http, const struct ftr_strbuf *answer,
					  struct ftr_err *err)
{
	struct ftr_slice said = sentence(answer);
	long status = 0;

	http->curl.easy_getinfo(http->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status == HTTP_OK)
		return FTR_HTTP_DONE;
	ftr_err_set(err, EIO, "%s: the server answered %ld%s%.*s", http->server->origin, status,
		    said.len > 0 ? ": " : "", (int)said.len, said.s);
	return status >= HTTP_SERVER && is_passing(ftr_strbuf_str(answer)) ? FTR_HTTP_FAILED :
									     FTR_HTTP_REFUSED;
}

static enum ftr_http_outcome judge(struct ftr_http *http, CURLcode code,
				   const struct ftr_strbuf *answer, struct ftr_err *err)
{
	switch (code) {
	case CURLE_OK:
		return judge_answer(http, answer, err);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		ftr_err_set(err, EACCES,
			    "%s: %s; name the file of certificates to trust in CURL_CA_BUNDLE",
			    http->server->origin, http->text);
		return FTR_HTTP_REFUSED;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_OUT_OF_MEMORY:
		ftr_err_set(err, EINVAL, "%s: %s", http->server->origin, http->text);
		return FTR_HTTP_REFUSED;
	default:
		ftr_err_set(err, EIO, "%s: %s", http->server->origin, http->text);
		return FTR_HTTP_FAILED;
	}
}

/* Rows follow the statement in the body; alone it is the body. */
static char *url_of(struct ftr_http *http, const char *sql, const struct ftr_http_body *body)
{
	struct ftr_strbuf url;
	char *escaped;

	ftr_strbuf_init(&url);
	ftr_strbuf_puts(&url, http->server->origin);
	ftr_strbuf_puts(&url, "?wait_end_of_query=1&insert_distributed_sync=1");
	if (body != NULL) {
		escaped = http->curl.easy_escape(http->easy, sql, 0);
		ftr_strbuf_puts(&url, "&query=");
		ftr_strbuf_puts(&url, escaped != NULL ? escaped : "");
		url.failed |= escaped == NULL;
		http->curl.free(escaped);
	}
	return ftr_strbuf_take(&url);
}

static void set_options(struct ftr_http *http, const char *url, const char *bytes, size_t len,
			struct ftr_strbuf *answer)
{
	struct calls *curl = &http->curl;

	curl->easy_reset(http->easy);
	http->text[0] = '\0';
	curl->easy_setopt(http->easy, CURLOPT_NOSIGNAL, 1L);
	/* On one that was in use before, libcurl would send rows again by itself. */
	curl->easy_setopt(http->easy, CURLOPT_FRESH_CONNECT, 1L);
	curl->easy_setopt(http->easy, CURLOPT_FORBID_REUSE, 1L);
	curl->easy_setopt(http->easy, CURLOPT_ERRORBUFFER, http->text);
	curl->easy_setopt(http->easy, CURLOPT_URL, url);
	curl->easy_setopt(http->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len);
	curl->easy_setopt(http->easy, CURLOPT_POSTFIELDS, bytes);
	curl->easy_setopt(http->easy, CURLOPT_WRITEFUNCTION, keep_answer);
	curl->easy_setopt(http->easy, CURLOPT_WRITEDATA, answer);
	curl->easy_setopt(http->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	curl->easy_setopt(http->easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl->easy_setopt(http->easy, CURLOPT_LOW_SPEED_TIME, STALLED_SECONDS);
	if (getenv("CURL_CA_BUNDLE") != NULL)
		curl->easy_setopt(http->easy, CURLOPT_CAINFO, getenv("CURL_CA_BUNDLE"));
	if (http->server->login != NULL)
		curl->easy_setopt(http->easy, CURLOPT_USERPWD, http->server->login);
}

enum ftr_http_outcome ftr_http_send(struct ftr_http *http, const char *sql,
				    const struct ftr_http_body *body, struct ftr_strbuf *answer,
				    struct ftr_err *err)
{
	struct ftr_strbuf *to = answer != NULL ? answer : &http->answer;
	struct curl_slist *headers = http->curl.slist_append(NULL, "Expect:");
	char *url = url_of(http, sql, body);
	enum ftr_http_outcome outcome;
	CURLcode code;

	if (url == NULL || headers == NULL) {
		ftr_err_set(err, ENOMEM, "out of memory");
		free(url);
		http->curl.slist_free_all(headers);
		return FTR_HTTP_REFUSED;
	}
	if (body != NULL && body->is_gzip)
		headers = http->curl.slist_append(headers, "Content-Encoding: gzip");
	ftr_strbuf_clear(to);
	set_options(http, url, body != NULL ? body->bytes : sql,
		    body != NULL ? body->len : strlen(sql), to);
	http->curl.easy_setopt(http->easy, CURLOPT_HTTPHEADER, headers);
	code = http->curl.easy_perform(http->easy);
	outcome = judge(http, code, to, err);
	http->curl.slist_free_all(headers);
	free(url);
	return outcome;
}
