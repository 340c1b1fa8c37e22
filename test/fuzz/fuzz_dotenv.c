/* SPDX-License-Identifier: MIT */
/* layers: config */
#include <stdint.h>
#include <stdlib.h>

#include "config/dotenv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *find_nothing(struct dotenv_scope *scope, const char *name)
{
	(void)scope;
	return *name ? name : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dotenv_scope scope = { .find = find_nothing };
	struct dotenv d;
	struct dotenv_entry entry;
	size_t line = 1;

	dotenv_init(&d, (const char *)data, size);
	while (dotenv_next(&d, &entry)) {
		struct err err = { 0 };

		if (entry.line < line || d.at > size)
			abort();
		line = entry.line;
		if (entry.value)
			free(dotenv_expand(entry.value, &scope, &err));
		dotenv_entry_release(&entry);
	}
	return 0;
}
