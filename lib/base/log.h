/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line on stderr: time, level, area, message. A sink may take messages besides.
 *
 * Control characters are replaced and lines are cut at 1 KB. A line that would block is dropped,
 * because the reader of stderr may have stopped. A message must never hold session code, SQL,
 * headers or connection strings.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/util.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Sets the highest level that is written; it starts as LOG_WARN. */
void log_set_level(enum log_level level);
/*
 * Sets a filter that every message passes before it is written. The filter may replace *text, which
 * it must free. NULL removes the filter. `context` is borrowed.
 */
void log_set_filter(void (*filter)(const void *context, char **text), const void *context);
/* Takes messages besides stderr. Its functions log nothing themselves. */
struct log_sink {
	/* Returns whether it takes messages of this level, which stderr may not get. */
	bool (*wants)(void *context, enum log_level level);
	/* `message` has passed the filter and is at most a line of the log long. */
	void (*take)(void *context, enum log_level level, const char *area, const char *message);
	void *context; /* borrowed */
};
/* Sets the sink, which is copied. NULL removes it. */
void log_set_sink(const struct log_sink *sink);
/* Returns the level named "error", "warn", "info" or "debug"; -1 for any other name. */
int log_level_parse(const char *name);

void log_error(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_warn(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_info(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_debug(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
