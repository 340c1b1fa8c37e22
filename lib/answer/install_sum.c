/* SPDX-License-Identifier: MIT */
/* install_sum.c - adds each installation to the fields of the line, which are ready at any time. */
#include "answer/install_sum.h"

#include <stdlib.h>

#include "answer/install_result.h"
#include "base/mem.h"
#include "journal/notebook_setup.h"
#include "json/make.h"

struct install_sum {
	uint64_t cell;
	json_int_t count;
	json_int_t failed;
	json_t *language;
	json_t *from;
	json_t *asked;
	json_t *packages; /* "NAME VERSION" */
	json_t *removed;  /* the same */
	json_t *files;
	json_t *problems;
	json_t *last; /* the packages that the session has */
};

struct install_sum *install_sum_new(uint64_t cell, const json_t *fields)
{
	struct install_sum *sum = xcalloc(1, sizeof(*sum));

	sum->cell = cell;
	sum->language = json_incref(json_object_get(fields, "language"));
	sum->from = json_incref(json_object_get(fields, "from"));
	sum->asked = json_array();
	sum->packages = json_array();
	sum->removed = json_array();
	sum->files = json_array();
	sum->problems = json_array();
	return sum;
}

void install_sum_free(struct install_sum *sum)
{
	if (sum == NULL)
		return;
	json_decref(sum->language);
	json_decref(sum->from);
	json_decref(sum->asked);
	json_decref(sum->packages);
	json_decref(sum->removed);
	json_decref(sum->files);
	json_decref(sum->problems);
	json_decref(sum->last);
	free(sum);
}

bool install_sum_takes(const struct install_sum *sum, uint64_t cell, const json_t *fields)
{
	return sum->cell == cell &&
	       json_equal(sum->language, json_object_get(fields, "language")) &&
	       json_equal(sum->from, json_object_get(fields, "from"));
}

static void add_once(json_t *list, json_t *item)
{
	size_t n;
	const json_t *other;

	json_array_foreach (list, n, other)
		if (json_equal(other, item))
			return;
	json_append(list, json_incref(item));
}

static void add_all(json_t *list, const json_t *items)
{
	size_t n;
	json_t *item;

	json_array_foreach (items, n, item)
		add_once(list, item);
}

static void add_names(json_t *list, const json_t *pairs)
{
	size_t n;
	const json_t *pair;

	json_array_foreach (pairs, n, pair) {
		cleanup_json json_t *name =
			install_result_name(json_string_value(json_array_get(pair, 0)),
					    json_string_value(json_array_get(pair, 1)));

		add_once(list, name);
	}
}

bool install_sum_add(struct install_sum *sum, const json_t *fields)
{
	json_t *packages = json_object_get(fields, "packages");
	json_t *problem = json_object_get(fields, "problem");

	sum->count++;
	add_all(sum->asked, json_object_get(fields, "asked"));
	add_names(sum->packages, packages);
	add_all(sum->packages, json_object_get(fields, "own"));
	add_all(sum->removed, json_object_get(fields, "removed"));
	add_all(sum->files, json_object_get(fields, "files"));
	if (problem != NULL) {
		sum->failed++;
		add_once(sum->problems, problem);
	}
	if (!notebook_setup_changes_packages(fields) || json_equal(packages, sum->last))
		return false;
	json_decref(sum->last);
	sum->last = json_incref(packages);
	return true;
}

bool install_sum_is_full(const struct install_sum *sum)
{
	return json_array_size(sum->asked) + json_array_size(sum->packages) +
		       json_array_size(sum->removed) + json_array_size(sum->files) +
		       json_array_size(sum->problems) >=
	       INSTALL_SUM_MAX;
}

json_t *install_sum_event(const struct install_sum *sum)
{
	json_t *fields = json_object();

	json_put_int(fields, "cell", (json_int_t)sum->cell);
	json_put(fields, "language", json_incref(sum->language));
	json_put_int(fields, "count", sum->count);
	json_put_int(fields, "failed", sum->failed);
	json_put(fields, "asked", json_incref(sum->asked));
	json_put(fields, "from", json_incref(sum->from));
	if (json_array_size(sum->removed) > 0)
		json_put(fields, "removed", json_incref(sum->removed));
	json_put(fields, "problems", json_incref(sum->problems));
	return fields;
}

json_t *install_sum_line(const struct install_sum *sum)
{
	json_t *fields = install_sum_event(sum);

	json_put(fields, "packages", json_incref(sum->packages));
	json_put(fields, "files", json_incref(sum->files));
	return fields;
}
