/* SPDX-License-Identifier: MIT */
/*
 * log.h - one line on stderr: time, level, area, message.
 *
 * Control characters are escaped, lines are cut at 1 KB, and a line that would block is dropped:
 * nobody may be reading. Never user code, SQL, headers or connection strings.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/util.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Lines above `level` are not written; the start value is LOG_WARN. */
void log_set_level(enum log_level level);
/* Every message passes it before it is written: it may replace *text. NULL ends that. */
void log_set_filter(void (*filter)(const void *context, char **text), const void *context);
/* "error" "warn" "info" "debug"; -1 for any other name. */
int log_level_parse(const char *name);

void log_error(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_warn(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_info(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);
void log_debug(const char *area, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
