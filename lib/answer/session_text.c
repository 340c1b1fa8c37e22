/* SPDX-License-Identifier: MIT */
/*
 * session_text.c - folders, languages, databases, network, shares and the limits that models meet.
 *
 * The text is made of the object that structuredContent has, so the two cannot differ.
 */
#include "answer/session_text.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/write.h"
#include "text/status_line.h"

/* The words of `include`, and the fields that they add. */
static const struct {
	const char *word;
	const char *fields[3];
} parts[] = {
	{ "variables", { "variables", "variables_left_out", "variables_problem" } },
	{ "packages", { "packages", "installed" } },
	{ "limits", { "effective_config" } },
	{ "languages", { "languages" } },
	{ "confinement", { "confinement" } },
	{ "storage", { "storage" } },
	{ "journal", { "journal" } },
};

bool session_text_knows(const char *word)
{
	if (strcasecmp(word, "all") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strcasecmp(word, parts[i].word) == 0)
			return true;
	return false;
}

static void put_languages(struct buf *text, const json_t *languages)
{
	size_t index;
	const json_t *language;

	buf_puts(text, "languages:");
	json_array_foreach (languages, index, language) {
		const char *version = json_text_at(language, "version");
		const char *state = json_text_at(language, "state");

		buf_putf(text, "%s %s%s%s", index > 0 ? "," : "", json_text_at(language, "name"),
			 version[0] != '\0' ? " " : "", version);
		if (!str_eq(state, "ready") && !str_eq(state, "not started"))
			buf_putf(text, " (%s)", state);
	}
	buf_puts(text, "\n");
}

static void put_folders(struct buf *text, const json_t *answer)
{
	const char *saved = json_text_at(answer, "keep_dir");

	if (json_object_get(answer, "workdir") == NULL)
		return;
	buf_putf(text, "folder: %s, with input/ for uploads and output/ for the user",
		 json_text_at(answer, "workdir"));
	if (saved[0] != '\0')
		buf_putf(text, ", who finds it in %s", saved);
	buf_puts(text, "\n");
}

static void put_databases(struct buf *text, const json_t *databases)
{
	size_t index;
	const json_t *name;

	buf_puts(text, "databases:");
	json_array_foreach (databases, index, name)
		buf_putf(text, "%s %s", index > 0 ? "," : "", json_string_value(name));
	buf_puts(text, "\n");
}

static void put_reach(struct buf *text, const json_t *confinement)
{
	const json_t *network = json_object_get(confinement, "network");
	size_t index;
	const json_t *share;

	buf_putf(text, "network: %s", json_text_at(network, "mode"));
	if (json_text_at(network, "allowed")[0] != '\0')
		buf_putf(text, " (%s)", json_text_at(network, "allowed"));
	buf_puts(text, "\n");
	json_array_foreach (json_object_get(confinement, "shares"), index, share)
		buf_putf(text, "share: %s%s\n", json_text_at(share, "path"),
			 json_is_true(json_object_get(share, "writable")) ? " (code may write)"
									  : "");
	if (str_eq(json_text_at(confinement, "tier"), "refused"))
		buf_putf(text, "no code runs: %s\n", json_text_at(confinement, "explanation"));
}

static void put_bytes(struct buf *text, const char *what, const json_t *limits, const char *key)
{
	json_int_t bytes = json_integer_value(json_object_get(limits, key));

	if (bytes <= 0)
		return;
	buf_putf(text, ", %s ", what);
	status_size(text, (uint64_t)bytes);
}

static void put_limits(struct buf *text, const json_t *limits)
{
	buf_putf(text, "limits: cell %lld s",
		 (long long)json_integer_value(json_object_get(limits, "exec_timeout")));
	put_bytes(text, "memory", limits, "memory_max");
	put_bytes(text, "folder", limits, "disk_max");
	put_bytes(text, "file", limits, "file_max");
	buf_putf(text, ", answer %lld characters\n",
		 (long long)json_integer_value(json_object_get(limits, "output_chars")));
}

static void put_field(struct buf *text, const json_t *answer, const char *key)
{
	const json_t *value = json_object_get(answer, key);
	cleanup_free char *whole = NULL;

	if (value == NULL || json_is_null(value))
		return;
	whole = json_write_text(value);
	buf_putf(text, "%s: %s\n", key, whole);
}

static bool is_included(const json_t *include, const char *word)
{
	size_t index;
	const json_t *item;

	json_array_foreach (include, index, item)
		if (strcasecmp(json_string_value(item), word) == 0 ||
		    strcasecmp(json_string_value(item), "all") == 0)
			return true;
	return false;
}

static void put_included(struct buf *text, const json_t *answer, const json_t *include)
{
	bool more = false;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!is_included(include, parts[i].word)) {
			more = true;
			continue;
		}
		for (size_t j = 0; j < ARRAY_SIZE(parts[i].fields); j++)
			if (parts[i].fields[j] != NULL)
				put_field(text, answer, parts[i].fields[j]);
	}
	if (more && json_array_size(include) == 0)
		buf_puts(text, "include tells more: variables, packages, limits, languages, "
			       "confinement, storage, journal, all\n");
}

void session_text_put(struct buf *text, const json_t *answer, const json_t *include)
{
	const char *notice = json_text_at(answer, "notice");

	if (notice[0] != '\0')
		buf_putf(text, "%s\n", notice);
	buf_putf(text, "session: %s, %s\n", json_text_at(answer, "session_id"),
		 json_text_at(answer, "state"));
	put_folders(text, answer);
	put_languages(text, json_object_get(answer, "languages"));
	put_databases(text, json_object_get(answer, "databases"));
	put_reach(text, json_object_get(answer, "confinement"));
	put_limits(text, json_object_get(answer, "effective_config"));
	put_field(text, answer, "incoming");
	put_field(text, answer, "environment");
	put_included(text, answer, include);
}
