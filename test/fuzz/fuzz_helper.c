/* SPDX-License-Identifier: MIT */
/* layers: helper */
#include <stdint.h>
#include <stdlib.h>

#include "helper/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In one piece and byte by byte it must come to the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply whole;
	struct reply pieces;
	struct err err = { 0 };
	int result;
	int piece = 0;

	reply_init(&whole, NULL);
	reply_init(&pieces, NULL);
	result = reply_feed(&whole, (const char *)data, size, &err);
	for (size_t i = 0; i < size && piece == 0; i++)
		piece = reply_feed(&pieces, (const char *)data + i, 1, &err);
	if (result != piece || reply_complete(&whole) != reply_complete(&pieces))
		abort();
	reply_release(&whole);
	reply_release(&pieces);
	return 0;
}
