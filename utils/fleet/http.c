/* SPDX-License-Identifier: MIT */
/* Where a database is, and how long a statement is tried again. */
#include "utils/fleet/http.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define ATTEMPTS_MAX	7u		/* 0.1 + 0.2 + ... + 6.4: 13 seconds */
#define FIRST_PAUSE_NS	UINT64_C(100000000)
#define NSEC_PER_SEC	UINT64_C(1000000000)

bool ftr_sql_is_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return *s == '\0';
}

static int login_read(struct ftr_http_server *server, const char *path, struct ftr_err *err)
{
	FILE *file = fopen(path, "re");
	size_t cap = 0;
	struct stat st;
	ssize_t len;

	if (file == NULL)
		return ftr_err_set(err, errno, "%s: %s", path, strerror(errno));
	if (fstat(fileno(file), &st) == 0 && (st.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
		fclose(file);
		return ftr_err_set(err, EPERM,
				   "%s: others may read the password in it; chmod 600 it", path);
	}
	len = getline(&server->login, &cap, file);
	fclose(file);
	if (len > 0 && server->login[len - 1] == '\n')
		server->login[len - 1] = '\0';
	if (len <= 0 || strchr(server->login, ':') == NULL)
		return ftr_err_set(err, EINVAL, "%s: its first line has to be USER:PASSWORD", path);
	return 0;
}

static int login_find(struct ftr_http_server *server, const char *path, struct ftr_err *err)
{
	const char *login = getenv("FTR_LOGIN");

	if (path != NULL)
		return login_read(server, path, err);
	if (login == NULL)
		return 0;
	if (strchr(login, ':') == NULL)
		return ftr_err_set(err, EINVAL, "FTR_LOGIN has to be USER:PASSWORD");
	server->login = strdup(login);
	return server->login == NULL ? ftr_err_set(err, ENOMEM, "out of memory") : 0;
}

static int url_split(struct ftr_http_server *server, const char *url, struct ftr_err *err)
{
	const char *host = strstr(url, "://"), *slash;

	if (host == NULL || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0))
		return ftr_err_set(err, EINVAL, "\"%s\": expected http://HOST:PORT/DATABASE", url);
	host += 3;
	slash = host + strcspn(host, "/");
	if (memchr(host, '@', (size_t)(slash - host)) != NULL)
		return ftr_err_set(err, EINVAL,
				   "a password on the command line can be read by every user; put "
				   "USER:PASSWORD into FTR_LOGIN or a file (--login)");
	if (slash == host || *slash != '/' || !ftr_sql_is_name(slash + 1))
		return ftr_err_set(err, EINVAL,
				   "\"%s\": expected http://HOST:PORT/DATABASE, the database a "
				   "name of letters, digits and _", url);
	server->origin = strndup(url, (size_t)(slash - url) + 1);
	server->database = strdup(slash + 1);
	if (server->origin == NULL || server->database == NULL)
		return ftr_err_set(err, ENOMEM, "out of memory");
	return 0;
}

int ftr_http_server_parse(struct ftr_http_server *server, const char *url, const char *login_path,
			  struct ftr_err *err)
{
	int ret;

	*server = (struct ftr_http_server){ 0 };
	ret = url_split(server, url, err);
	if (ret == 0)
		ret = login_find(server, login_path, err);
	if (ret < 0)
		ftr_http_server_fini(server);
	return ret;
}

void ftr_http_server_fini(struct ftr_http_server *server)
{
	if (server->login != NULL)
		explicit_bzero(server->login, strlen(server->login));
	free(server->login);
	free(server->origin);
	free(server->database);
	*server = (struct ftr_http_server){ 0 };
}

bool ftr_http_wait(unsigned nr)
{
	uint64_t ns = FIRST_PAUSE_NS << (nr - 1);
	struct timespec pause = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	if (nr > ATTEMPTS_MAX)
		return false;
	nanosleep(&pause, NULL);
	return true;
}

int ftr_http_query(struct ftr_http *http, const char *sql, struct ftr_strbuf *answer,
		   struct ftr_err *err)
{
	enum ftr_http_outcome outcome;
	unsigned nr = 0;

	do {
		if (answer != NULL)
			ftr_strbuf_clear(answer);
		outcome = ftr_http_send(http, sql, NULL, answer, err);
	} while (outcome == FTR_HTTP_FAILED && ftr_http_wait(++nr));
	return outcome == FTR_HTTP_DONE ? 0 : -EIO;
}
