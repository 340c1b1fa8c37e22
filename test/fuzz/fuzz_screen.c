/* SPDX-License-Identifier: MIT */
/* layers: text */
/* Any bytes give clean text, the same in one piece and in many, in bounded memory. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "text/grid.h"
#include "text/invisible.h"
#include "text/panel.h"
#include "text/sanitize.h"
#include "text/screen.h"
#include "text/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void render(const uint8_t *data, size_t size, size_t step, struct buf *out)
{
	struct screen *screen = screen_new();

	for (size_t i = 0; i < size; i += step)
		screen_feed(screen, (const char *)data + i, size_min(step, size - i));
	screen_text(screen, out);
	screen_take_answers(screen, out);
	screen_last_line(screen, out);
	screen_free(screen);
}

/* As a full-screen program, too. */
static void render_panel(const uint8_t *data, size_t size, size_t step, struct buf *out)
{
	static const char alternate[] = "\033[?1049h";
	struct panel *panel = panel_new();

	panel_feed(panel, alternate, sizeof(alternate) - 1);
	for (size_t i = 0; i < size; i += step)
		panel_feed(panel, (const char *)data + i, size_min(step, size - i));
	panel_text(panel, out);
	assert(panel_line(panel) <= SCREEN_ROWS && panel_column(panel) <= SCREEN_COLUMNS);
	panel_free(panel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_buf struct buf whole;
	cleanup_buf struct buf parts;
	cleanup_buf struct buf cleaned;
	struct screen *screen = screen_new();

	buf_init(&whole, BUF_UNBOUNDED);
	buf_init(&parts, BUF_UNBOUNDED);
	buf_init(&cleaned, BUF_UNBOUNDED);
	render(data, size, size > 0 ? size : 1, &whole);
	render_panel(data, size, size > 0 ? size : 1, &whole);
	render(data, size, 1, &parts);
	render_panel(data, size, 1, &parts);
	assert(whole.len == parts.len && memcmp(buf_str(&whole), buf_str(&parts), whole.len) == 0);
	assert(whole.len <= 2 * (SCREEN_CELLS_MAX + (size_t)GRID_MARKS_MAX) * INVISIBLE_OUT_MAX);

	buf_clear(&whole);
	screen_feed(screen, (const char *)data, size);
	screen_text(screen, &whole);
	screen_free(screen);
	assert(utf8_valid(buf_str(&whole), whole.len));
	sanitize_block(&cleaned, buf_str(&whole), whole.len);
	assert(whole.len == cleaned.len);
	return 0;
}
