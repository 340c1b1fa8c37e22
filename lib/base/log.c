/* SPDX-License-Identifier: MIT */
/*
 * log.c - writes log lines. It polls stderr first and drops the line if the pipe is full: a host
 * that does not read stderr must not stop the server.
 */
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

enum { LOG_LINE_MAX = 1024 };

static const char *const level_names[] = {
	[LOG_ERROR] = "error", [LOG_WARN] = "warn", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"
};

/*
 * Logging is the one thing of this library with process-wide state: it has no object to belong to.
 */
static enum log_level max_level = LOG_WARN;
static void (*message_filter)(const void *context, char **text);
static const void *filter_context;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_filter(void (*filter)(const void *context, char **text), const void *context)
{
	message_filter = filter;
	filter_context = context;
}

int log_level_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (str_eq(name, level_names[i]))
			return (int)i;
	return -1;
}

static void escape_controls(char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			line[i] = '?';
}

static void put_message(char *out, size_t size, const char *fmt, va_list args) PRINTF_LIKE(3, 0);

static void put_message(char *out, size_t size, const char *fmt, va_list args)
{
	cleanup_free char *message = NULL;

	if (message_filter == NULL) {
		(void)vsnprintf(out, size, fmt, args);
		return;
	}
	message = xvasprintf(fmt, args);
	message_filter(filter_context, &message);
	(void)snprintf(out, size, "%s", message);
}

static void write_line(enum log_level level, const char *area, const char *fmt, va_list args)
	PRINTF_LIKE(3, 0);

static void write_line(enum log_level level, const char *area, const char *fmt, va_list args)
{
	char line[LOG_LINE_MAX];
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct timespec now;
	struct tm tm;
	size_t len;
	int saved = errno;

	if (level > max_level)
		return;
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	len = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &tm);
	len += (size_t)snprintf(line + len, sizeof(line) - len,
				".%03ldZ %-5s %s: ", now.tv_nsec / 1000000, level_names[level],
				area);
	put_message(line + len, sizeof(line) - len - 1, fmt, args);
	len = strlen(line);
	escape_controls(line, len);
	line[len++] = '\n';
	if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0)
		(void)!write(STDERR_FILENO, line, len);
	errno = saved;
}

#define DEFINE_LOG(name, level)                                                                    \
	void name(const char *area, const char *fmt, ...)                                          \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, fmt);                                                               \
		write_line(level, area, fmt, args);                                                \
		va_end(args);                                                                      \
	}

DEFINE_LOG(log_error, LOG_ERROR)
DEFINE_LOG(log_warn, LOG_WARN)
DEFINE_LOG(log_info, LOG_INFO)
DEFINE_LOG(log_debug, LOG_DEBUG)
