/* SPDX-License-Identifier: MIT */
/* lostcells.c - keeps the record, and the cells that the journal names, as JSON. */
#include "workspace/lostcells.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"

#define FIRST_CELL "first_cell"

enum { RECORD_MAX = 16 << 10 };

struct lostcells {
	json_t *record;
	json_t *cells;
	json_t *installed;
};

void lostcells_record(int journal_fd, json_t *record, uint64_t first_cell)
{
	struct err err;

	json_put_int(record, FIRST_CELL, (json_int_t)first_cell);
	if (json_write_file(journal_fd, LOSTCELLS_RECORD, record, &err) < 0)
		log_warn("rescue",
			 "should this server be killed, the audit lacks the end of its cells: %s",
			 err.msg);
}

struct lostcells *lostcells_read(int journal_fd)
{
	struct err err;
	json_t *record = json_parse_file(journal_fd, LOSTCELLS_RECORD, RECORD_MAX, &err);
	struct lostcells *lost;

	if (!json_is_object(record)) {
		json_decref(record);
		return NULL;
	}
	lost = xcalloc(1, sizeof(*lost));
	lost->record = record;
	lost->cells = json_array();
	lost->installed = json_array();
	return lost;
}

struct lostcells *lostcells_take(int journal_fd)
{
	struct lostcells *lost = lostcells_read(journal_fd);

	(void)unlinkat(journal_fd, LOSTCELLS_RECORD, 0);
	return lost;
}

void lostcells_free(struct lostcells *lost)
{
	if (lost == NULL)
		return;
	json_decref(lost->record);
	json_decref(lost->cells);
	json_decref(lost->installed);
	free(lost);
}

static bool is_earlier(const struct lostcells *lost, uint64_t number)
{
	return (json_int_t)number < json_integer_value(json_object_get(lost->record, FIRST_CELL));
}

void lostcells_add(struct lostcells *lost, uint64_t number, const char *language, const char *state,
		   json_t *typed_own)
{
	json_t *cell;

	if (is_earlier(lost, number)) {
		json_decref(typed_own);
		return;
	}
	cell = json_object();
	json_put_int(cell, "cell", (json_int_t)number);
	json_put_str(cell, "language", language);
	json_put_str(cell, "state", state);
	if (typed_own != NULL)
		json_put(cell, "typed", typed_own);
	json_append(lost->cells, cell);
}

void lostcells_add_installed(struct lostcells *lost, uint64_t number, json_t *fields_own)
{
	if (is_earlier(lost, number))
		json_decref(fields_own);
	else
		json_append(lost->installed, fields_own);
}

void lostcells_deliver(const struct lostcells *lost, const char *kept_folder,
		       void (*fn)(void *data, const struct lostcells_report *report), void *data)
{
	const struct lostcells_report report = { .record = lost->record,
						 .cells = lost->cells,
						 .installed = lost->installed,
						 .kept_folder = kept_folder };

	if (json_array_size(lost->cells) > 0)
		fn(data, &report);
}
