/* SPDX-License-Identifier: MIT */
/* layers: base */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/gitindex.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * An index is read within its bytes with hashes of either length. What is sound has no path that
 * begins with "../" whole in an entry: versions 2 and 3 have all of a path in one place.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t lengths[] = { GITINDEX_HASH_SHORT, GITINDEX_HASH_MAX };

	for (size_t i = 0; i < 2; i++) {
		bool sound = gitindex_is_sound((const char *)data, size, lengths[i]);
		size_t first = 12 + 40 + lengths[i] + 2; /* the path of the first entry */

		if (sound && size > first + 3 && data[7] == 2 && data[11] > 0 &&
		    memcmp(data + first, "../", 3) == 0)
			abort();
	}
	return 0;
}
