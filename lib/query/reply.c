/* SPDX-License-Identifier: MIT */
/*
 * reply.c - checks the shape of a reply: callers may use its members without checks of their own.
 * A reply about another query than the running one is ignored, since it came after a stop.
 */
#include "query/reply.h"

#include <stdbool.h>

#include "base/log.h"
#include "base/util.h"
#include "sql/result_names.h"

static bool are_columns(const json_t *columns)
{
	size_t index;
	const json_t *column;

	if (!json_is_array(columns))
		return false;
	json_array_foreach (columns, index, column)
		if (!json_is_string(json_object_get(column, "name")))
			return false;
	return true;
}

static bool are_rows(const json_t *rows, size_t columns)
{
	size_t index;
	const json_t *row;

	if (!json_is_array(rows))
		return false;
	json_array_foreach (rows, index, row)
		if (!json_is_array(row) || json_array_size(row) != columns)
			return false;
	return true;
}

/* Returns whether the member is a count from 0 to `max`, or missing. */
static bool is_count(const json_t *answer, const char *key, json_int_t max)
{
	const json_t *count = json_object_get(answer, key);

	return count == NULL || (json_is_integer(count) && json_integer_value(count) >= 0 &&
				 json_integer_value(count) <= max);
}

static bool are_notes(const json_t *notes)
{
	size_t index;
	const json_t *note;

	if (notes == NULL)
		return true;
	json_array_foreach (notes, index, note)
		if (!json_is_string(note))
			return false;
	return json_is_array(notes);
}

static bool is_answer(const json_t *answer)
{
	const json_t *columns = json_object_get(answer, "columns");
	const json_t *more = json_object_get(answer, "more");
	size_t recorded = size_min(json_array_size(columns), RESULT_RECORD_COLUMNS);

	return are_columns(columns) &&
	       are_rows(json_object_get(answer, "rows"), json_array_size(columns)) &&
	       (more == NULL || are_rows(more, recorded)) &&
	       json_object_get(answer, "row_count") != NULL &&
	       is_count(answer, "row_count", INT64_MAX) && is_count(answer, "bytes", INT64_MAX) &&
	       is_count(answer, "blobs", RESULT_BLOBS_MAX) &&
	       are_notes(json_object_get(answer, "notes"));
}

static enum err_code code_of(const json_t *failed)
{
	const char *name = json_string_value(json_object_get(failed, "code"));

	for (int code = ERR_INVALID; name != NULL && code <= ERR_INTERNAL; code++)
		if (str_eq(name, err_code_name((enum err_code)code)))
			return (enum err_code)code;
	return ERR_INTERNAL;
}

static void read_failure(const json_t *failed, struct query_reply *ret)
{
	const char *message = json_string_value(json_object_get(failed, "message"));

	ret->kind = QUERY_REPLY_FAILED;
	(void)err_set(&ret->err, code_of(failed), "%s", message != NULL ? message : "it failed");
}

void query_reply_read(const json_t *reply, json_int_t query, struct query_reply *ret)
{
	const json_t *number = json_object_get(reply, "query");
	const json_t *rows = json_object_get(reply, "rows");
	const json_t *failed = json_object_get(reply, "failed");

	*ret = (struct query_reply){ .kind = QUERY_REPLY_NOTHING,
				     .slow = json_string_value(json_object_get(reply, "slow")),
				     .answer = json_object_get(reply, "answer") };
	if (!json_is_integer(number) || json_integer_value(number) != query)
		return;
	if (failed != NULL) {
		read_failure(failed, ret);
	} else if (is_answer(ret->answer)) {
		ret->kind = QUERY_REPLY_ANSWER;
	} else if (ret->slow != NULL) {
		ret->kind = QUERY_REPLY_SLOW;
	} else if (json_is_integer(rows) && json_integer_value(rows) >= 0) {
		ret->kind = QUERY_REPLY_ROWS;
		ret->rows = (uint64_t)json_integer_value(rows);
	} else {
		log_warn("queries", "ptycell-sql gave an answer that is none");
		read_failure(NULL, ret);
	}
}
