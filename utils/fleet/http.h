/* SPDX-License-Identifier: MIT */
/*
 * Statements for a ClickHouse server over its HTTP interface (libcurl).  One connection serves one
 * thread at a time; the server's certificate is checked where the URL begins with https.
 */
#ifndef FTR_FLEET_HTTP_H
#define FTR_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "utils/base/err.h"
#include "utils/base/strbuf.h"

/* Letters, digits and _, a letter first: what needs no quotes in SQL. */
bool ftr_sql_is_name(const char *s);

/* Where a database is: filled by ftr_http_server_parse(). */
struct ftr_http_server {
	char *origin;		/* (owned) "http://host:8123/" */
	char *database;		/* (owned) a plain identifier */
	char *login;		/* (owned, nullable) "user:password" */
};

/*
 * @url: http://HOST[:PORT]/DATABASE.  A user or password in it is refused: it would stand in the
 * list of processes.  @login_path (nullable): a file whose first line is USER:PASSWORD and that
 * others may not read; without it FTR_LOGIN of the environment counts.
 */
int  ftr_http_server_parse(struct ftr_http_server *server, const char *url, const char *login_path,
			   struct ftr_err *err);
void ftr_http_server_fini(struct ftr_http_server *server);

struct ftr_http;

/* NULL: described.  @server is borrowed. */
struct ftr_http *ftr_http_new(const struct ftr_http_server *server, struct ftr_err *err);
void ftr_http_free(struct ftr_http *http);	/* NULL is fine */

/* What a statement's answer means for one that was sent twice. */
enum ftr_http_outcome {
	FTR_HTTP_DONE,
	FTR_HTTP_REFUSED,	/* would be again: a wrong statement, user, password, certificate */
	FTR_HTTP_FAILED,	/* not answered, or not now: it may have been carried out */
};

struct ftr_http_body {
	const void *bytes;	/* (nullable) what follows the statement: rows of an INSERT */
	size_t len;
	bool is_gzip;
};

/*
 * Carry out @sql.  @answer (nullable) receives what is returned.  What failed is described, by the
 * server's own words where it answered.
 */
enum ftr_http_outcome ftr_http_send(struct ftr_http *http, const char *sql,
				    const struct ftr_http_body *body, struct ftr_strbuf *answer,
				    struct ftr_err *err);

/* The same, again and again for some seconds while it fails: for what may be done twice. */
int ftr_http_query(struct ftr_http *http, const char *sql, struct ftr_strbuf *answer,
		   struct ftr_err *err);

/* Pause before attempt @nr (1: the second): 0.1 s, doubled each time.  False: enough. */
bool ftr_http_wait(unsigned nr);

#endif /* FTR_FLEET_HTTP_H */
