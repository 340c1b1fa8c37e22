/* SPDX-License-Identifier: MIT */
/*
 * catalog.c - joins the texts of catalog.json, which travels in the program, with the functions.
 *
 * The two lists must name the same tools in the same order; an assertion compares them at every
 * start. A schema is written as the client gets it, so that its bytes are those of the file without
 * blanks. A tool has an outputSchema when it answers with structuredContent, which it does not with
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
#include "tools/tool.h"

/* Made by embed_file; ends with a NUL. */
extern const unsigned char tools_catalog[];

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
	json_t *texts;
	char *instructions;
	char *schemas[ARRAY_SIZE(entries)];
	char *output_schemas[ARRAY_SIZE(entries)]; /* NULL: not offered */
	char *annotations[ARRAY_SIZE(entries)];
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

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert(text != NULL);
	return text;
}

static void add_tool(struct catalog *catalog, size_t i, const struct settings *settings)
{
	const struct entry *entry = &entries[i];
	const json_t *tool = json_array_get(json_object_get(catalog->texts, "tools"), i);
	json_t *annotations = json_object_get(tool, "annotations");

	assert(str_eq(text_of(tool, "name"), entry->name));
	if (entry->runs_code)
		set_code_hints(annotations, settings);
	catalog->schemas[i] = json_write_text(json_object_get(tool, "inputSchema"));
	if (settings->results == RESULTS_BLOCKS && json_object_get(tool, "outputSchema") != NULL)
		catalog->output_schemas[i] = json_write_text(json_object_get(tool, "outputSchema"));
	catalog->annotations[i] = json_write_text(annotations);
	catalog->tools[i] = (struct mcp_tool){ .name = entry->name,
					       .title = text_of(tool, "title"),
					       .description = text_of(tool, "description"),
					       .input_schema = catalog->schemas[i],
					       .output_schema = catalog->output_schemas[i],
					       .annotations = catalog->annotations[i],
					       .call = entry->call };
}

/* Returns the paragraphs of the file, a line each. */
static char *make_instructions(const json_t *texts)
{
	cleanup_buf struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	size_t index;
	const json_t *line;

	json_array_foreach (json_object_get(texts, "instructions"), index, line)
		buf_putf(&lines, "%s%s", index > 0 ? "\n" : "", json_string_value(line));
	return xstrdup(buf_str(&lines));
}

/* Returns the file's text with the seconds that the settings give. */
static char *fill_in(const struct settings *settings)
{
	const struct {
		const char *name;
		uint64_t seconds;
	} numbers[] = {
		{ "{call_budget}", settings->call_budget },
		{ "{exec_timeout}", settings->limits.exec_timeout },
	};
	const char *at = (const char *)tools_catalog;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	while (*at != '\0') {
		size_t i = 0;

		while (i < ARRAY_SIZE(numbers) &&
		       strncmp(at, numbers[i].name, strlen(numbers[i].name)) != 0)
			i++;
		if (i == ARRAY_SIZE(numbers)) {
			buf_put(&text, at++, 1);
			continue;
		}
		buf_putf(&text, "%ju", (uintmax_t)numbers[i].seconds);
		at += strlen(numbers[i].name);
	}
	return xstrdup(buf_str(&text));
}

struct catalog *catalog_new(const struct settings *settings)
{
	struct catalog *catalog = xcalloc(1, sizeof(*catalog));
	cleanup_free char *text = fill_in(settings);

	catalog->texts = json_parse_const(text);
	assert(json_array_size(json_object_get(catalog->texts, "tools")) == ARRAY_SIZE(entries));
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		add_tool(catalog, i, settings);
	catalog->instructions = make_instructions(catalog->texts);
	return catalog;
}

void catalog_free(struct catalog *catalog)
{
	if (catalog == NULL)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		free(catalog->schemas[i]);
		free(catalog->output_schemas[i]);
		free(catalog->annotations[i]);
	}
	free(catalog->instructions);
	json_decref(catalog->texts);
	free(catalog);
}

json_t *catalog_properties(const struct catalog *catalog, const char *tool)
{
	const json_t *tools = json_object_get(catalog->texts, "tools");

	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		if (str_eq(entries[i].name, tool))
			return json_object_get(
				json_object_get(json_array_get(tools, i), "inputSchema"),
				"properties");
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
}
