/* SPDX-License-Identifier: MIT */
/*
 * python_packages.c - lists the packages of the interpreter that sessions get. Their folders are
 * read without starting it; names and versions are cleaned, because packages choose them.
 */
#include "answer/python_packages.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/settings.h"
#include "json/make.h"
#include "runtime/language.h"
#include "runtime/python/packages.h"
#include "text/sanitize.h"

json_t *python_packages_list(const struct settings *settings)
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
		cleanup_free char *name = sanitize_quote(packages[i].name);
		cleanup_free char *version = sanitize_quote(packages[i].version);

		json_append(list, json_make_fmt("%s %s", name, version));
	}
	python_packages_free(packages, count);
	locate_release(&path);
	return list;
}
