/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - joins the texts of catalog.json, which travel in the program, with the functions.
 *
 * The two lists must name the same tools in the same order; an assertion compares them at every
 * start. A tool has an outputSchema when it answers with structuredContent, which it does not with
 * RESULTS_JSON. Annotations in the file state only what differs from the protocol's defaults
 * (destructive, open world); those of the tools that run code follow from the settings.
 */
#include "tools/catalog.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "tools/catalog_texts.h"
#include "tools/tool.h"

static const struct entry {
	const char *name;
	void (*call)(struct mcp_call *call, json_t *arguments, void *context);
	bool runs_code;
} entries[] = {
	{ "exec_code", tool_exec_code, true },
	{ "interact", tool_interact, true },
	{ "exec_sql", tool_exec_sql, false },
	{ "install_packages", tool_install_packages, false },
	{ "upload_file", tool_upload_file, false },
	{ "list_artifacts", tool_list_artifacts, false },
	{ "session_info", tool_session_info, false },
	{ "list_sessions", tool_list_sessions, false },
	{ "destroy_session", tool_destroy_session, false },
};

struct catalog {
	char *instructions;
	char *schemas[ARRAY_SIZE(entries)];
	char *annotations[ARRAY_SIZE(entries)];
	json_t *parsed[ARRAY_SIZE(entries)]; /* the schemas; NULL until a call needs them */
	struct mcp_tool tools[ARRAY_SIZE(entries)];
};

static bool shares_for_writing(const struct settings *settings)
{
	for (size_t i = 0; i < settings->share_count; i++)
		if (settings->shares[i].writable)
			return true;
	return false;
}

/* Sets the hints of a tool that runs code: what code can destroy and whom it can reach. */
static void set_code_hints(json_t *annotations, const struct settings *settings)
{
	json_put_bool(annotations, "destructiveHint",
		      settings->unconfined || shares_for_writing(settings));
	json_put_bool(annotations, "openWorldHint",
		      settings->unconfined || settings->hosts != NULL);
}

/* Returns the annotations of a tool that runs code; the caller frees the text. */
static char *make_code_annotations(const char *text, const struct settings *settings)
{
	json_t *annotations = json_parse_const(text);
	char *filled;

	set_code_hints(annotations, settings);
	filled = json_write_text(annotations);
	json_decref(annotations);
	return filled;
}

/* Returns the text with the seconds that the settings give; the caller frees it. */
static char *fill_in(const char *text, const struct settings *settings)
{
	const struct {
		const char *name;
		uint64_t seconds;
	} numbers[] = {
		{ "{call_budget}", settings->call_budget },
		{ "{exec_timeout}", settings->limits.exec_timeout },
	};
	cleanup_buf struct buf filled = BUF_INIT(BUF_UNBOUNDED);

	while (*text != '\0') {
		size_t i = 0;

		while (i < ARRAY_SIZE(numbers) &&
		       strncmp(text, numbers[i].name, strlen(numbers[i].name)) != 0)
			i++;
		if (i == ARRAY_SIZE(numbers)) {
			size_t len = 1 + strcspn(text + 1, "{"); /* to where a name can begin */

			buf_put(&filled, text, len);
			text += len;
			continue;
		}
		buf_putf(&filled, "%ju", (uintmax_t)numbers[i].seconds);
		text += strlen(numbers[i].name);
	}
	return xstrdup(buf_str(&filled));
}

static void add_tool(struct catalog *catalog, size_t i, const struct settings *settings)
{
	const struct entry *entry = &entries[i];
	const struct catalog_text *texts = &catalog_texts[i];

	assert(str_eq(texts->name, entry->name));
	catalog->schemas[i] = fill_in(texts->input_schema, settings);
	if (entry->runs_code)
		catalog->annotations[i] = make_code_annotations(texts->annotations, settings);
	catalog->tools[i] = (struct mcp_tool){
		.name = entry->name,
		.title = texts->title,
		.description = texts->description,
		.input_schema = catalog->schemas[i],
		.output_schema = settings->results == RESULTS_BLOCKS ? texts->output_schema : NULL,
		.annotations = entry->runs_code ? catalog->annotations[i] : texts->annotations,
		.call = entry->call,
	};
}

struct catalog *catalog_new(const struct settings *settings)
{
	struct catalog *catalog = xcalloc(1, sizeof(*catalog));

	assert(catalog_text_count == ARRAY_SIZE(entries));
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		add_tool(catalog, i, settings);
	catalog->instructions = fill_in(catalog_instructions, settings);
	return catalog;
}

void catalog_free(struct catalog *catalog)
{
	if (catalog == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		free(catalog->schemas[i]);
		free(catalog->annotations[i]);
		json_decref(catalog->parsed[i]);
	}
	free(catalog->instructions);
	free(catalog);
}

json_t *catalog_properties(struct catalog *catalog, const char *tool)
{
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		if (!str_eq(entries[i].name, tool))
			continue;
		if (catalog->parsed[i] == NULL)
			catalog->parsed[i] = json_parse_const(catalog->schemas[i]);
		return json_object_get(catalog->parsed[i], "properties");
	}
	return NULL;
}

void catalog_features(const struct catalog *catalog, struct mcp_features *features)
{
	features->name = "ptycell";
	features->title = "ptycell code interpreter";
	features->version = PTYCELL_VERSION;
	features->instructions = catalog->instructions;
	features->tools = catalog->tools;
	features->tool_count = ARRAY_SIZE(entries);
	features->logging = true;
}
