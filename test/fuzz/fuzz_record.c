/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sql/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values written as PostgreSQL does (quoted, all of them) are read again as they were. */
static void check_back(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf row = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *value = xmemdup(data, size);
	struct record_value read;
	struct record record;

	buf_puts(&row, "(\"");
	for (const char *c = value; *c != '\0'; c++) {
		if (*c == '"' || *c == '\\')
			buf_put(&row, c, 1);
		buf_put(&row, c, 1);
	}
	buf_puts(&row, "\",)");
	if (record_start(&record, row.data, row.len) < 0 || record_next(&record, &read) != 1 ||
	    read.len != strlen(value) || memcmp(read.s, value, read.len) != 0 ||
	    record_next(&record, &read) != 1 || read.s != NULL || record_next(&record, &read) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);
	struct record_value value;
	struct record record;

	if (record_start(&record, text, size) == 0)
		while (record_next(&record, &value) > 0)
			if (value.s != NULL && value.s[value.len] != '\0')
				abort();
	check_back(data, size);
	return 0;
}
