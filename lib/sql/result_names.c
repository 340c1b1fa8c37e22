/* SPDX-License-Identifier: MIT */
/*
 * result_names.c - derives names from the CSV file's. A part file begins with a dot, so that lists
 * of files and the scan leave it out until it is renamed.
 */
#include "sql/result_names.h"

#include <string.h>

#include "base/mem.h"
#include "base/util.h"

char *result_part_name(const char *file)
{
	const char *base = path_base(file);

	return xasprintf("%.*s.%s.part", (int)(base - file), file, base);
}

char *result_blob_name(const char *file, unsigned number)
{
	const char *dot = strrchr(path_base(file), '.');
	size_t stem = dot != NULL ? (size_t)(dot - file) : strlen(file);

	return xasprintf("%.*s_%u.bin", (int)stem, file, number);
}
