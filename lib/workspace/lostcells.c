/* SPDX-License-Identifier: MIT */
/* lostcells.c - keeps the record, and the cells that the journal names, as JSON. */
#include "workspace/lostcells.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
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
};

static int write_record(int journal_fd, const json_t *record, struct err *err)
{
	cleanup_free char *text = json_write_text(record);

	return fd_replace_file(journal_fd, LOSTCELLS_RECORD, text, err);
}

void lostcells_record(int journal_fd, json_t *record, uint64_t first_cell)
{
	struct err err;

	json_put_int(record, FIRST_CELL, (json_int_t)first_cell);
	if (write_record(journal_fd, record, &err) < 0)
		log_warn("rescue",
			 "should this server be killed, the audit lacks the end of its cells: %s",
			 err.msg);
}

struct lostcells *lostcells_read(int journal_fd)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *text =
		fd_read_file(journal_fd, LOSTCELLS_RECORD, RECORD_MAX, &len, &err);
	json_t *record = text == NULL ? NULL : json_parse(text, len, &err);
	struct lostcells *lost;

	if (!json_is_object(record)) {
		json_decref(record);
		return NULL;
	}
	lost = xcalloc(1, sizeof(*lost));
	lost->record = record;
	lost->cells = json_array();
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
	free(lost);
}

void lostcells_add(struct lostcells *lost, uint64_t number, const char *language, const char *state)
{
	json_t *cell;

	if ((json_int_t)number < json_integer_value(json_object_get(lost->record, FIRST_CELL)))
		return;
	cell = json_object();
	json_put_int(cell, "cell", (json_int_t)number);
	json_put_str(cell, "language", language);
	json_put_str(cell, "state", state);
	json_append(lost->cells, cell);
}

void lostcells_tell(const struct lostcells *lost, const char *kept_folder,
		    void (*fn)(void *data, const struct lostcells_report *report), void *data)
{
	const struct lostcells_report report = { .record = lost->record,
						 .cells = lost->cells,
						 .kept_folder = kept_folder };

	if (json_array_size(lost->cells) > 0)
		fn(data, &report);
}
