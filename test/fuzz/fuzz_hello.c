/* SPDX-License-Identifier: MIT */
/* layers: net */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "net/client_hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char found[HOST_MAX + 1];
	char copy[HOST_MAX + 1];
	struct err err;

	if (client_hello_read_name(data, size, found, &err) != 1)
		return 0;
	/* A name was not there before its hello was, and what follows does not change it. */
	for (size_t len = 0; len < 5 && len < size; len++)
		if (client_hello_read_name(data, len, copy, &err) != 0)
			abort();
	if (host_canonicalise(found, strlen(found), copy, &err) < 0 || !str_eq(found, copy))
		abort();
	return 0;
}
