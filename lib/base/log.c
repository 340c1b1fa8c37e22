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
static struct log_sink message_sink;
static bool in_sink;

void log_set_level(enum log_level level)
{
	max_level = level;
}

void log_set_filter(void (*filter)(const void *context, char **text), const void *context)
{
	message_filter = filter;
	filter_context = context;
}

void log_set_sink(const struct log_sink *sink)
{
	message_sink = sink != NULL ? *sink : (struct log_sink){ .wants = NULL };
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

/* Writes the message behind time, level and area. Drops it if stderr takes nothing. */
static void write_line(enum log_level level, const char *area, const char *message)
{
	char line[LOG_LINE_MAX];
	struct pollfd ready = { .fd = STDERR_FILENO, .events = POLLOUT };
	struct timespec now;
	struct tm tm;
	size_t len;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	len = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(line + len, sizeof(line) - len - 1, ".%03ldZ %-5s %s: %s",
		       now.tv_nsec / 1000000, level_names[level], area, message);
	len = strlen(line);
	line[len++] = '\n';
	if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0)
		(void)!write(STDERR_FILENO, line, len);
}

static bool sink_wants(enum log_level level)
{
	return message_sink.wants != NULL && !in_sink &&
	       message_sink.wants(message_sink.context, level);
}

static void put_line(enum log_level level, const char *area, const char *fmt, va_list args)
	PRINTF_LIKE(3, 0);

static void put_line(enum log_level level, const char *area, const char *fmt, va_list args)
{
	char message[LOG_LINE_MAX];
	int saved = errno;
	bool wanted = sink_wants(level);

	if (level > max_level && !wanted)
		return;
	put_message(message, sizeof(message), fmt, args);
	escape_controls(message, strlen(message));
	if (level <= max_level)
		write_line(level, area, message);
	if (wanted) {
		in_sink = true;
		message_sink.take(message_sink.context, level, area, message);
		in_sink = false;
	}
	errno = saved;
}

#define DEFINE_LOG(name, level)                                                                    \
	void name(const char *area, const char *fmt, ...)                                          \
	{                                                                                          \
		va_list args;                                                                      \
		va_start(args, fmt);                                                               \
		put_line(level, area, fmt, args);                                                  \
		va_end(args);                                                                      \
	}

DEFINE_LOG(log_error, LOG_ERROR)
DEFINE_LOG(log_warn, LOG_WARN)
DEFINE_LOG(log_info, LOG_INFO)
DEFINE_LOG(log_debug, LOG_DEBUG)
