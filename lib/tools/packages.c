/* SPDX-License-Identifier: MIT */
#include "tools/packages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/settings.h"
#include "json/make.h"
#include "runtime/language.h"
#include "runtime/python/packages.h"
#include "text/clean.h"

json_t *packages_list(const struct settings *settings)
{
	json_t *list = json_array();
	struct interpreter_path path;
	struct python_package *packages;
	size_t count;
	struct err err;

	if (language_locate(language_find("python"), settings->environment, &path, &err) < 0)
		return list;
	packages = python_packages(path.path, &count);
	for (size_t i = 0; i < count; i++) {
		cleanup_free char *name = clean_quote(packages[i].name);
		cleanup_free char *version = clean_quote(packages[i].version);

		json_append(list, json_make_fmt("%s %s", name, version));
	}
	python_packages_free(packages, count);
	interpreter_path_release(&path);
	return list;
}

/* One tab-separated field, cleaned; moves past the tab. */
static json_t *take_field(const char **line, const char *end)
{
	const char *tab = memchr(*line, '\t', (size_t)(end - *line));
	size_t len = (size_t)((tab != NULL ? tab : end) - *line);
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	clean_line(&out, *line, len, CLEAN_QUOTE_MAX);
	*line = tab != NULL ? tab + 1 : end;
	return json_make_text(buf_str(&out), out.len);
}

static json_t *take_variable(const char *line, const char *end)
{
	static const char *const keys[] = { "name", "type", "shape", "bytes", "value" };
	json_t *variable = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(keys) && line < end; i++)
		json_put(variable, keys[i], take_field(&line, end));
	return variable;
}

json_t *packages_variables(const char *lines, size_t len, size_t *ret_left_out)
{
	json_t *variables = json_array();
	const char *end = lines + len;

	*ret_left_out = 0;
	while (lines < end) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		const char *line_end = newline != NULL ? newline : end;

		if (json_array_size(variables) < PACKAGES_VARIABLES_MAX)
			json_append(variables, take_variable(lines, line_end));
		else
			(*ret_left_out)++;
		lines = line_end + (newline != NULL ? 1 : 0);
	}
	return variables;
}
