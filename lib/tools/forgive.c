/* SPDX-License-Identifier: MIT */
/*
 * forgive.c - changes arguments in place, by the schema of their tool.
 *
 * An argument under another name is moved only where the tool's own name is free. A text becomes a
 * list of several only where each piece begins like a package's name: "numpy pandas>=2" are two,
 * "pandas >= 2" is one.
 */
#include "tools/forgive.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/chars.h"
#include "json/make.h"
#include "json/parse.h"

enum { NUMBER_MAX = 64 }; /* bytes of a number that is written as text */

/* Other names of arguments: what models call them. */
static const struct {
	const char *tool; /* NULL: of every tool */
	const char *name;
	const char *meant;
} names[] = {
	{ NULL, "session", "session_id" },
	{ NULL, "lang", "language" },
	{ NULL, "timeout_seconds", "timeout" },
	{ NULL, "wait_seconds", "wait" },
	{ "exec_code", "source", "code" },
	{ "exec_code", "script", "code" },
	{ "exec_code", "command", "code" },
	{ "exec_code", "cmd", "code" },
	{ "exec_code", "packages", "dependencies" },
	{ "exec_code", "requirements", "dependencies" },
	{ "interact", "text", "input" },
	{ "interact", "stdin", "input" },
	{ "interact", "timeout", "wait" },
	{ "exec_sql", "sql", "query" },
	{ "exec_sql", "statement", "query" },
	{ "exec_sql", "code", "query" },
	{ "exec_sql", "parameters", "params" },
	{ "exec_sql", "args", "params" },
	{ "exec_sql", "db", "database" },
	{ "install_packages", "package", "packages" },
	{ "install_packages", "dependencies", "packages" },
	{ "install_packages", "requirements", "packages" },
	{ "upload_file", "name", "filename" },
	{ "upload_file", "text", "content" },
	{ "upload_file", "data", "content" },
	{ "upload_file", "uri", "url" },
	{ "upload_file", "file_path", "path" },
	{ "list_artifacts", "glob", "pattern" },
	{ "session_info", "limits", "config" },
};

/* Texts that mean something when they are empty. */
static const char *const may_be_empty[] = { "session_id", "code", "query", "input", "content" };

/* ---- names ---- */

#define JOINERS "_-"

/* Returns the argument that is meant, or NULL. */
static const char *find_meant(const char *tool, json_t *properties, const char *key)
{
	const char *name;
	json_t *property;

	json_object_foreach (properties, name, property) {
		if (chars_alike(name, key, JOINERS))
			return name;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if ((names[i].tool == NULL || str_eq(names[i].tool, tool)) &&
		    chars_alike(names[i].name, key, JOINERS) &&
		    json_object_get(properties, names[i].meant) != NULL)
			return names[i].meant;
	return NULL;
}

static bool is_absent(const json_t *arguments, const char *name)
{
	const json_t *value = json_object_get(arguments, name);

	return value == NULL || json_is_null(value);
}

static void move_names(json_t *arguments, const char *tool, json_t *properties)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(arguments, next, key, value)
	{
		const char *meant;

		if (json_object_get(properties, key) != NULL)
			continue;
		meant = find_meant(tool, properties, key);
		if (meant == NULL || !is_absent(arguments, meant))
			continue;
		json_put(arguments, meant, json_incref(value));
		(void)json_object_del(arguments, key);
	}
}

/* ---- values ---- */

bool forgive_number(const json_t *value, double *ret)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_number(value)) {
		*ret = json_number_value(value);
		return true;
	}
	if (text == NULL || json_string_length(value) > NUMBER_MAX)
		return false;
	*ret = strtod(text, &end);
	if (end == text || !isfinite(*ret) ||
	    strspn(text, "+-.0123456789eE ") < (size_t)(end - text))
		return false;
	end += strspn(end, " ");
	if (*end == 's')
		end++;
	return end[strspn(end, " ")] == '\0';
}

static json_t *to_number(const json_t *value)
{
	double number;

	return forgive_number(value, &number) ? json_real(number) : NULL;
}

static json_t *to_boolean(const json_t *value)
{
	const char *text = json_string_value(value);

	if (text == NULL)
		return NULL;
	if (strcasecmp(text, "true") == 0)
		return json_true();
	return strcasecmp(text, "false") == 0 ? json_false() : NULL;
}

static json_t *to_text(const json_t *value)
{
	if (json_is_integer(value))
		return json_make_fmt("%lld", (long long)json_integer_value(value));
	return json_is_real(value) ? json_make_fmt("%.17g", json_real_value(value)) : NULL;
}

/* Returns the value that the text is in JSON, if that is of the type, or NULL. */
static json_t *parse_text(const json_t *value, json_type type)
{
	struct err err;
	json_t *parsed = json_is_string(value) ? json_parse(json_string_value(value),
							    json_string_length(value), &err)
					       : NULL;

	if (parsed == NULL || json_typeof(parsed) == type)
		return parsed;
	json_decref(parsed);
	return NULL;
}

/* Returns whether all of the text is names of packages and bounds of their versions. */
static bool is_plain_list(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "._-<>=!~, \t\n";

	return text[strspn(text, plain)] == '\0';
}

/* Returns whether the text is a command, as "pip install numpy": its words are no packages. */
static bool is_command(const char *text)
{
	static const char *const programs[] = { "pip",   "pip3",    "uv",     "conda",
						"mamba", "npm",     "npx",    "yarn",
						"pnpm",  "install", "python", "python3" };
	const char *word = text + strspn(text, " \t\n");
	size_t len = strcspn(word, " \t\n");

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (len == strlen(programs[i]) && strncasecmp(word, programs[i], len) == 0)
			return word[len + strspn(word + len, " \t\n")] != '\0';
	return false;
}

static json_t *split_list(const char *text)
{
	json_t *list = json_array();
	cleanup_buf struct buf item = BUF_INIT(BUF_UNBOUNDED);

	while (*text != '\0') {
		size_t blank = strspn(text, ", \t\n");
		size_t len = strcspn(text + blank, ", \t\n");

		if (isalpha((unsigned char)text[blank]) && item.len > 0) {
			json_append(list, json_make_text(buf_str(&item), item.len));
			item.len = 0;
		}
		if (item.len > 0 && len > 0)
			buf_put(&item, text, blank);
		buf_put(&item, text + blank, len);
		text += blank + len;
	}
	if (item.len > 0)
		json_append(list, json_make_text(buf_str(&item), item.len));
	return list;
}

static json_t *to_array(const json_t *value, const json_t *schema)
{
	const char *items =
		json_string_value(json_object_get(json_object_get(schema, "items"), "type"));
	json_t *list = parse_text(value, JSON_ARRAY);

	if (list != NULL)
		return list;
	if (items != NULL && json_is_string(value) && is_plain_list(json_string_value(value)) &&
	    !is_command(json_string_value(value)))
		return split_list(json_string_value(value));
	if (!json_is_string(value) && (items != NULL || !json_is_number(value)))
		return NULL;
	list = json_array();
	json_append(list, json_deep_copy(value));
	return list;
}

/* Returns the value in the type of the schema, or NULL if it has no other meaning. */
static json_t *convert(const json_t *value, const json_t *schema)
{
	const char *type = json_string_value(json_object_get(schema, "type"));

	if (str_eq(type, "number"))
		return json_is_number(value) ? NULL : to_number(value);
	if (str_eq(type, "boolean"))
		return to_boolean(value);
	if (str_eq(type, "string"))
		return to_text(value);
	if (str_eq(type, "array"))
		return json_is_array(value) ? NULL : to_array(value, schema);
	return parse_text(value, JSON_OBJECT);
}

static bool is_left_out(const char *name, const json_t *value)
{
	if (!json_is_string(value) || json_string_length(value) > 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(may_be_empty); i++)
		if (str_eq(may_be_empty[i], name))
			return false;
	return true;
}

static bool is_given(const json_t *arguments, const char *name)
{
	return json_string_length(json_object_get(arguments, name)) > 0;
}

static bool is_empty(const json_t *arguments, const char *name)
{
	const json_t *value = json_object_get(arguments, name);

	return json_is_string(value) && json_string_length(value) == 0;
}

/* Drops the empty text of a tool of which one of several arguments is to be given. */
static void drop_empty(json_t *arguments)
{
	if (is_empty(arguments, "input") &&
	    (is_given(arguments, "key") || is_given(arguments, "action")))
		(void)json_object_del(arguments, "input");
	if (is_empty(arguments, "content") &&
	    (is_given(arguments, "url") || is_given(arguments, "path")))
		(void)json_object_del(arguments, "content");
}

void forgive_arguments(json_t *arguments, const char *tool, json_t *properties)
{
	const char *name;
	json_t *value;
	void *next;

	move_names(arguments, tool, properties);
	json_object_foreach_safe(arguments, next, name, value)
	{
		const json_t *schema = json_object_get(properties, name);
		json_t *converted;

		if (schema == NULL)
			continue;
		if (is_left_out(name, value)) {
			(void)json_object_del(arguments, name);
			continue;
		}
		converted = convert(value, schema);
		if (converted != NULL)
			json_put(arguments, name, converted);
	}
	drop_empty(arguments);
}

/* ---- fences ---- */

/* Returns the backticks at `at`, or 0 if there are fewer than a fence has. */
static size_t count_ticks(const char *at, const char *end)
{
	size_t count = 0;

	while (at + count < end && at[count] == '`')
		count++;
	return count >= 3 ? count : 0;
}

static const char *find_line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline != NULL ? newline : end;
}

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

/* Returns the line of the closing fence, or NULL if another fence or text comes before or after. */
static const char *find_closing(const char *at, const char *end, size_t ticks)
{
	while (at < end) {
		const char *line_end = find_line_end(at, end);
		size_t count = count_ticks(at, line_end);

		if (count >= ticks)
			return skip_blanks(at + count, end) == end ? at : NULL;
		at = line_end < end ? line_end + 1 : end;
	}
	return NULL;
}

bool forgive_fence(const char **code, size_t *len, const char **ret_word, size_t *ret_len)
{
	const char *end = *code + *len;
	const char *start = skip_blanks(*code, end);
	size_t ticks = count_ticks(start, end);
	const char *word = start + ticks;
	const char *line_end = find_line_end(word, end);
	const char *closing;
	size_t word_len = 0;

	if (ticks == 0 || line_end == end)
		return false;
	while (word + word_len < line_end && !isspace((unsigned char)word[word_len]))
		word_len++;
	closing = find_closing(line_end + 1, end, ticks);
	if (closing == NULL || memchr(word, '`', (size_t)(line_end - word)) != NULL)
		return false;
	*code = line_end + 1;
	*len = (size_t)(closing - *code);
	*ret_word = word;
	*ret_len = word_len;
	return true;
}
