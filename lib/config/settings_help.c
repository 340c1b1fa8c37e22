/* SPDX-License-Identifier: MIT */
/*
 * settings_help.c - the table of settings as text: the list of --help and the Markdown that
 * scripts/readme-table puts into the documents. Both take everything from the descriptors, so a new
 * setting appears in them without further work.
 */
#include "config/schema.h"
#include "config/settings.h"

static const char *unit_name(const struct setting *row)
{
	return row->type == SCHEMA_SECONDS ? " s" : "";
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

	return row->type == SCHEMA_SWITCH && row->fallback == 1 ? "=0" : names[row->type];
}

static void put_help(struct buf *out, const struct setting *row)
{
	if (row->type == SCHEMA_SECRET)
		buf_putf(out, "  %s\n", row->name);
	else
		buf_putf(out, "  --%s%s%s%s\n", row->flag, placeholder(row),
			 row->name[0] ? "   " : "", row->name);
	buf_putf(out, "      %s.\n      Default: ", row->help);
	schema_default(row, out);
	buf_putf(out, "%s; legal: ", unit_name(row));
	schema_range(row, out);
	buf_putf(out, "%s\n", unit_name(row));
}

void settings_help(struct buf *out)
{
	for (size_t i = 0; i < schema_count(); i++)
		put_help(out, schema_at(i));
	buf_puts(out, "Seconds may also be written 90s, 5m, 2h, 1d, and bytes 512K, 64M, 2G.\n");
}

void settings_markdown(struct buf *out)
{
	buf_puts(out, "| variable | flag | default | legal | what it is |\n");
	buf_puts(out, "|---|---|---|---|---|\n");
	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);

		if (row->type == SCHEMA_SECRET)
			buf_putf(out, "| `%s` | | ", row->name);
		else if (row->name[0])
			buf_putf(out, "| `%s` | `--%s%s` | ", row->name, row->flag,
				 row->type == SCHEMA_SWITCH ? placeholder(row) : "");
		else
			buf_putf(out, "| | `--%s` | ", row->flag);
		schema_default(row, out);
		buf_putf(out, "%s | ", unit_name(row));
		schema_range(row, out);
		buf_putf(out, "%s | %s |\n", unit_name(row), row->help);
	}
}
