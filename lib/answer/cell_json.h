/* SPDX-License-Identifier: MIT */
/* cell_json.h - a cell as JSON, for _meta["ptycell/cell"] and for RESULTS_JSON. */
#ifndef ANSWER_CELL_JSON_H
#define ANSWER_CELL_JSON_H

#include <jansson.h>

struct cell;
struct exec_result;

enum {
	CELL_JSON_BYTES_MAX = 32 << 10, /* of cell_json_make, kept by the maximums below */
	CELL_JSON_CHANGES_MAX = 40,
	CELL_JSON_NAMES_MAX = 40,
	CELL_JSON_PATH_MAX = 255, /* bytes; longer paths and names are cut to as many characters */
};

/* Returns everything about the cell but its text and images, as a new reference. */
json_t *cell_json_make(const struct exec_result *result);
/* Returns "ValueError: MESSAGE", another failure, or the state's name; cleaned. New reference. */
json_t *cell_json_error(const struct cell *cell);
/*
 * Returns [{name, type, shape}], with {name, gone} for -NAME, of the driver's lines, cleaned, as a
 * new reference.
 */
json_t *cell_json_names(const char *lines);
/*
 * Returns the new and changed regular files as artifacts (artifact_describe), as a new reference.
 * Adds the number of those that do not fit into max_bytes to *ret_left_out.
 */
json_t *cell_json_artifacts(const struct exec_result *result, size_t max_bytes,
			    size_t *ret_left_out);

#endif
