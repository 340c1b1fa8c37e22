/* SPDX-License-Identifier: MIT */
/*
 * host_python.c - looks for pandas and matplotlib in the Pythons of this machine, without running
 * any. A host starts servers with a PATH of its own, which may lead to another Python than the
 * user's shell.
 */
#include "host_python.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "report_lines.h"
#include "runtime/language.h"
#include "runtime/python/packages.h"

/* Returns the Python of an environment, NULL if there is none. The caller frees it. */
static char *locate(char *const env[])
{
	struct interpreter_path path = { 0 };
	struct err err;
	char *found;

	if (language_locate(language_find("python"), env, &path, &err) < 0)
		return NULL;
	found = xstrdup(path.path);
	locate_release(&path);
	return found;
}

static bool has_data_stack(const char *python)
{
	size_t count = 0;
	unsigned found = 0;
	struct python_package *packages = python_packages(python, &count);

	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(packages[i].name, "pandas") == 0)
			found |= 1;
		if (strcasecmp(packages[i].name, "matplotlib") == 0)
			found |= 2;
	}
	python_packages_free(packages, count);
	return found == 3;
}

/* As locate(), on a PATH as hosts have it. */
static char *locate_plain(void)
{
	static char path[] = "PATH=/usr/local/bin:/usr/bin:/bin";
	char *const plain[] = { path, NULL };

	return locate(plain);
}

char *host_python_better(const char *python)
{
	cleanup_free char *plain_one = locate_plain();

	if (!plain_one || has_data_stack(python) || !has_data_stack(plain_one))
		return NULL;
	return report_quote_path(plain_one);
}

char *host_python_choose(char *const env[])
{
	cleanup_free char *usual = locate(env);
	cleanup_free char *plain_one = locate_plain();
	cleanup_free char *quoted = NULL;
	cleanup_free char *other = NULL;

	if (usual && has_data_stack(usual)) {
		if (plain_one && str_eq(usual, plain_one))
			return NULL;
		quoted = report_quote_path(usual);
		fprintf(stderr,
			"The entry names the Python '%s', as a host has a PATH of its own.\n",
			quoted);
		return xstrdup(usual);
	}
	if (!plain_one || !has_data_stack(plain_one))
		return NULL;
	quoted = report_quote_path(plain_one);
	other = report_quote_path(usual ? usual : "");
	fprintf(stderr,
		"The entry names the Python '%s', which has pandas and matplotlib; '%s' does not. "
		"--python chooses another.\n",
		quoted, other);
	return xstrdup(plain_one);
}
