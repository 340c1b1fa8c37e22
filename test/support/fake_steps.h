/* SPDX-License-Identifier: MIT */
/*
 * fake_steps.h - what the fake programs share: steps, VERB or VERB=VALUE, and the simplest of them.
 * "\n" in a value is a line break.
 */
#ifndef TEST_FAKE_STEPS_H
#define TEST_FAKE_STEPS_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

enum { CONTROL = 3, VALUES = 5, NO_SUCH_STEP = 94, WRITE_FAILED = 99 };

struct verb {
	const char *name;
	void (*run)(const char *value);
};

static int number(const char *value)
{
	return (int)strtol(value, NULL, 10);
}

static void put(int fd, const void *data, size_t len)
{
	const char *text = data;

	while (len > 0) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			_exit(WRITE_FAILED);
		text += n;
		len -= (size_t)n;
	}
}

/* ---- steps ---- */

static void print(const char *value)
{
	put(STDOUT_FILENO, value, strlen(value));
}

static void leave(const char *value)
{
	_exit(number(value));
}

static void hang(const char *value)
{
	(void)value;
	for (;;)
		(void)pause();
}

static void close_control(const char *value)
{
	(void)value;
	(void)close(CONTROL);
}

static void read_line(const char *value)
{
	char line[256];

	(void)value;
	(void)!read(STDIN_FILENO, line, sizeof(line));
}

/* Does one step; `step` is written to. */
static void run_step(const struct verb *verbs, size_t count, char *step)
{
	size_t len = strcspn(step, "=");
	char *value = step[len] == '=' ? step + len + 1 : step + len;

	for (char *s; (s = strstr(value, "\\n")) != NULL;) {
		*s = '\n';
		memmove(s + 1, s + 2, strlen(s + 2) + 1);
	}
	for (size_t i = 0; i < count; i++)
		if (strlen(verbs[i].name) == len && strncmp(verbs[i].name, step, len) == 0) {
			verbs[i].run(value);
			return;
		}
	(void)fprintf(stderr, "no step '%s'\n", step);
	_exit(NO_SUCH_STEP);
}

#endif
