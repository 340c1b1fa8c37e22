/* SPDX-License-Identifier: MIT */
/* record.h - a cell as JSON: for _meta["ptycell/cell"] and for RESULTS_JSON. */
#ifndef ANSWER_CELL_JSON_H
#define ANSWER_CELL_JSON_H

#include <jansson.h>

struct cell;
struct exec_result;

enum {
	CELL_JSON_BYTES_MAX = 32 << 10, /* of cell_json_make, held by the numbers below */
	CELL_JSON_CHANGES_MAX = 40,
	CELL_JSON_NAMES_MAX = 40,
	CELL_JSON_PATH_MAX = 255, /* bytes; of a longer one, or a name, as many characters */
};

/* Everything about the cell but its text and images. New reference. */
json_t *cell_json_make(const struct exec_result *result);
/* "ValueError: what it said", what else went wrong, or the state's name; cleaned. New reference. */
json_t *cell_json_error(const struct cell *cell);
/* [{name, type, shape}], {name, gone} for -NAME, from the driver's lines; cleaned. */
json_t *cell_json_names(const char *lines);
/*
 * The new and changed files as artifacts (artifact_describe), without the deleted ones and links;
 * `ret_left_out` grows by those that max_bytes has no room for.
 */
json_t *cell_json_artifacts(const struct exec_result *result, size_t max_bytes,
			    size_t *ret_left_out);

#endif
