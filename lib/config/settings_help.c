/* SPDX-License-Identifier: MIT */
/*
 * settings_help.c - the table of settings as text: the short list of --help, and the Markdown of
 * all settings that scripts/settings-table puts into a topic of the help. Both take everything from
 * the descriptors.
 */
#include "base/mem.h"
#include "config/schema.h"
#include "config/settings.h"

static const char *unit_name(const struct setting *row)
{
	return row->type == SCHEMA_SECONDS ? " s" : "";
}

/* The unit behind a range: a word follows that of a number that may be one, and has none. */
static const char *range_unit(const struct setting *row)
{
	return row->words == NULL ? unit_name(row) : "";
}

/* Returns the text behind the flag. A switch that is on by default is shown with =0. */
static const char *placeholder(const struct setting *row)
{
	static const char *const names[] = {
		[SCHEMA_COUNT] = " COUNT",
		[SCHEMA_SECONDS] = " SECONDS",
		[SCHEMA_BYTES] = " BYTES",
		[SCHEMA_INDEX] = " WORD",
		[SCHEMA_WORD] = " WORD",
		[SCHEMA_FOLDER] = " FOLDER",
		[SCHEMA_SWITCH] = "",
		[SCHEMA_PROGRAM] = " PATH",
		[SCHEMA_SHARES] = " FOLDER[:rw]",
		[SCHEMA_HOSTS] = " LIST",
		[SCHEMA_FILE] = " FILE",
		[SCHEMA_MODULES] = " LIST",
		[SCHEMA_TEXT] = " TEXT",
	};

	return row->type == SCHEMA_SWITCH && row->default_number == 1 ? "=0" : names[row->type];
}

void settings_help(struct buf *out)
{
	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);
		cleanup_free char *flag = NULL;

		if (!row->common)
			continue;
		flag = xasprintf("--%s%s", row->flag, placeholder(row));
		buf_putf(out, "  %-23s %s\n", flag, row->help);
	}
}

/* Appends the cells of the variable, with its alias, and of the flag. */
static void put_names(const struct setting *row, struct buf *out)
{
	if (row->name[0] == '\0') {
		buf_putf(out, "| | `--%s` | ", row->flag);
		return;
	}
	buf_putf(out, "| `%s`", row->name);
	if (row->alias != NULL)
		buf_putf(out, " or `%s`", row->alias);
	if (row->type == SCHEMA_SECRET)
		buf_puts(out, " | | ");
	else
		buf_putf(out, " | `--%s%s` | ", row->flag,
			 row->type == SCHEMA_SWITCH ? placeholder(row) : "");
}

void settings_markdown(struct buf *out)
{
	buf_puts(out, "| variable | flag | default | allowed | what it is |\n");
	buf_puts(out, "|---|---|---|---|---|\n");
	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);

		if (row->flag[0] == '\0')
			continue;
		put_names(row, out);
		schema_default(row, out);
		buf_putf(out, "%s | ", unit_name(row));
		schema_range(row, out);
		buf_putf(out, "%s | %s |\n", range_unit(row), row->help);
	}
}
