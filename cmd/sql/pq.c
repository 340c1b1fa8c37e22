/* SPDX-License-Identifier: MIT */
/*
 * pq.c - stands between psqlodbc and libpq: the functions that this program exports shadow libpq's.
 *
 * They see each text and each error. libpq's cancel object is taken when the connection is made,
 * since PQcancel may be called from any thread with it.
 */
#include "pq.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "library.h"
#include "text/utf8.h"

/* Fields of an error in the protocol. */
enum {
	FIELD_SEVERITY = 'V',
	FIELD_MESSAGE = 'M',
	FIELD_DETAIL = 'D',
	FIELD_HINT = 'H',
	FIELD_POSITION = 'P',
	CANCEL_ERROR_MAX = 256,
};

static struct {
	void *connection;
	void *cancel; /* libpq's copy of where to cancel and what */
	char *sent;   /* the last text that was sent to the server */
	/* The last error; each may be NULL. */
	char *failed; /* the text that was sent */
	char *detail;
	char *hint;
	size_t position; /* in `failed`, from 1 in characters; 0: none */
} pq;

bool pq_find(const char *name, void *ret_function)
{
	return library_find("libpq.so.5", name, ret_function);
}

/* ---- the connection ---- */

void pq_forget_connection(void)
{
	void (*free_cancel)(void *cancel);

	if (pq.cancel != NULL && pq_find("PQfreeCancel", &free_cancel))
		free_cancel(pq.cancel);
	pq.cancel = NULL;
	pq.connection = NULL;
}

void *pq_connection(void)
{
	return pq.connection;
}

bool pq_cancel(void)
{
	int (*cancel)(void *cancel, char *errbuf, int errbufsize);
	char error[CANCEL_ERROR_MAX];

	return pq.cancel != NULL && pq_find("PQcancel", &cancel) &&
	       cancel(pq.cancel, error, sizeof(error)) == 1;
}

void *PQconnectdbParams(const char *const *keywords, const char *const *values, int expand_dbname);
EXPORTED void *PQconnectdbParams(const char *const *keywords, const char *const *values,
				 int expand_dbname)
{
	void *(*connect)(const char *const *keywords, const char *const *values, int expand_dbname);
	void *(*get_cancel)(void *connection);
	void *connection;

	if (!pq_find(__func__, &connect))
		return NULL;
	connection = connect(keywords, values, expand_dbname);
	pq_forget_connection();
	pq.connection = connection;
	if (pq_find("PQgetCancel", &get_cancel))
		pq.cancel = get_cancel(connection);
	return connection;
}

/* ---- sent texts ---- */

/* Returns the length of " $12 ", as pq_params.h writes it, or 0 for another text. */
static size_t numbered_len(const char *sent)
{
	size_t digits = strncmp(sent, " $", 2) == 0 ? strspn(sent + 2, "0123456789") : 0;

	return digits > 0 && sent[2 + digits] == ' ' ? digits + 3 : 0;
}

/*
 * Compares `sent` with the query, whose parameters are $1, $2, ... there. Sets *ret_at to the place
 * in the query that corresponds to `mark` in `sent`, or to NULL. Returns the rest of `sent` behind
 * the query, or NULL when it differs.
 */
static const char *goes_on(const char *sent, const struct query *query, const char *mark,
			   const char **ret_at)
{
	const char *end = query->text + query->len;
	const char *at = query->text;

	*ret_at = NULL;
	for (; at < end; at++) {
		if (sent == mark)
			*ret_at = at;
		if (*at == '?' && numbered_len(sent) > 0)
			sent += numbered_len(sent);
		else if (*at == *sent && *sent != '\0')
			sent++;
		else
			return NULL;
	}
	if (sent == mark)
		*ret_at = at;
	return sent;
}

void pq_sends(const char *query)
{
	free(pq.sent);
	pq.sent = xstrdup(query);
}

void *PQexec(void *connection, const char *query);
EXPORTED void *PQexec(void *connection, const char *query)
{
	void *(*exec)(void *connection, const char *query);

	pq_sends(query);
	return pq_find(__func__, &exec) ? exec(connection, query) : NULL;
}

int PQsendQuery(void *connection, const char *query);
EXPORTED int PQsendQuery(void *connection, const char *query)
{
	int (*send_query)(void *connection, const char *query);

	pq_sends(query);
	return pq_find(__func__, &send_query) ? send_query(connection, query) : 0;
}

/* ---- errors ---- */

void pq_forget_error(void)
{
	free(pq.failed);
	free(pq.detail);
	free(pq.hint);
	pq.failed = NULL;
	pq.detail = NULL;
	pq.hint = NULL;
	pq.position = 0;
}

typedef char *error_field(const void *result, int field);

static char *copy_field(error_field *field_of, const void *result, int field)
{
	const char *text = field_of(result, field);

	return text != NULL ? xstrdup(text) : NULL;
}

/*
 * Records an error when its message is read: psqlodbc reads that of each error and notice, libpq of
 * errors.
 */
EXPORTED char *PQresultErrorField(const void *result, int field)
{
	error_field *field_of;
	const char *severity;
	const char *position;

	if (!pq_find(__func__, &field_of))
		return NULL;
	severity = field_of(result, FIELD_SEVERITY);
	if (field == FIELD_MESSAGE && severity != NULL && strcmp(severity, "ERROR") == 0) {
		pq_forget_error();
		pq.failed = xstrdup(pq.sent != NULL ? pq.sent : "");
		pq.detail = copy_field(field_of, result, FIELD_DETAIL);
		pq.hint = copy_field(field_of, result, FIELD_HINT);
		position = field_of(result, FIELD_POSITION);
		pq.position = position != NULL ? strtoul(position, NULL, 10) : 0;
	}
	return field_of(result, field);
}

/* ---- positions ---- */

/* Returns the place in the query, or NULL when the error is elsewhere: drivers wrap the query. */
static const char *find_place(const struct query *query)
{
	const char *at = NULL;
	const char *mark;

	if (pq.failed == NULL || pq.position == 0)
		return NULL;
	mark = pq.failed + utf8_offset(pq.failed, strlen(pq.failed), pq.position - 1);
	for (const char *sent = pq.failed; *sent != '\0'; sent++)
		if (goes_on(sent, query, mark, &at) != NULL)
			return at;
	return NULL;
}

/* Appends a position as sql/guard.h does: line and character of the whole text, from 1. */
static void put_place(struct buf *out, const struct query *query, const char *at)
{
	const char *line = query->whole;
	size_t number = 1;

	for (const char *s = query->whole; s < at; s++) {
		if (*s != '\n')
			continue;
		number++;
		line = s + 1;
	}
	buf_putf(out, "\nline %zu, column %zu", number, utf8_count(line, (size_t)(at - line)) + 1);
}

bool pq_has_detail(void)
{
	return pq.detail != NULL;
}

void pq_explain(struct buf *out, const struct query *query)
{
	const char *at = find_place(query);

	if (at != NULL)
		put_place(out, query, at);
	if (pq.hint != NULL)
		buf_putf(out, "\nhint: %s", pq.hint);
	if (pq.detail != NULL)
		buf_putf(out, "\ndetail: %s", pq.detail);
}
