/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line on stderr: time, level, area, message.
 *
 * Control characters are replaced and lines are cut at 1 KB. A line that would block is dropped,
 * because the reader of stderr may have stopped. A message must never hold session code, SQL,
 * headers or connection strings.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/util.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Sets the highest level that is written; it starts as LOG_WARN. */
void log_set_level(enum log_level level);
/*
 * Sets a filter that every message passes before it is written. The filter may replace *text, which
 * it must free. NULL removes the filter. `context` is borrowed.
 */
void log_set_filter(void (*filter)(const void *context, char **text), const void *context);
/* Returns the level named "error", "warn", "info" or "debug"; -1 for any other name. */
int log_level_parse(const char *name);

void log_error(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_warn(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_info(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_debug(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
