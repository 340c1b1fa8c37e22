/* SPDX-License-Identifier: MIT */
/*
 * transcript_result.c - shows what follows the output, and counts what is not shown of it. A text
 * that was cut already is not cut again, since its own note would then count too few characters.
 */
#include "base/util.h"
#include "runner/transcript.h"
#include "text/truncate.h"
#include "text/utf8.h"

void transcript_result_show(const struct transcript_result *result, size_t max_chars,
			    struct buf *out, struct transcript_text *all)
{
	size_t total = utf8_count(buf_str(&result->whole), result->whole.len);
	size_t room = max_chars - size_min(all->shown, max_chars);
	bool fits = utf8_count(buf_str(&result->text), result->text.len) <= room;
	const struct buf *text = fits ? &result->text : &result->whole;
	size_t shown = truncate_text(out, buf_str(text), text->len, room);

	if (fits)
		shown = size_min(shown, result->shown);
	if (fits && result->text.len != result->whole.len)
		shown = size_min(shown, total - 1);
	all->shown += shown;
	all->total += total;
}
