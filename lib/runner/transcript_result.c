/* SPDX-License-Identifier: MIT */
/* transcript_result.c - shows what follows the output, and counts what is not shown of it. */
#include "base/util.h"
#include "runner/transcript.h"
#include "text/truncate.h"
#include "text/utf8.h"

void transcript_result_show(const struct transcript_result *result, size_t max_chars,
			    struct buf *out, struct transcript_text *all)
{
	size_t total = utf8_count(buf_str(&result->whole), result->whole.len);
	size_t room = max_chars - size_min(all->shown, max_chars);
	size_t shown = truncate_text(out, buf_str(&result->text), result->text.len, room);

	shown = size_min(shown, result->shown);
	if (result->text.len != result->whole.len)
		shown = size_min(shown, total - 1);
	all->shown += shown;
	all->total += total;
}
