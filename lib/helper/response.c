/* SPDX-License-Identifier: MIT */
#include "helper/response.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "json/make.h"
#include "json/write.h"

static void say(const char *kind, json_t *value_own)
{
	cleanup_json json_t *line = json_object();
	cleanup_free char *text = NULL;
	cleanup_free char *ended = NULL;
	struct err err;

	json_put(line, kind, value_own);
	text = json_write_text(line);
	ended = xasprintf("%s\n", text);
	if (fd_write_all(STDOUT_FILENO, ended, strlen(ended), &err) < 0)
		return; /* nobody listens any more */
}

void response_progress(json_t *value_own)
{
	say("progress", value_own);
}

void response_alive(void)
{
	static uint64_t said_ms;
	uint64_t now = clock_ms();

	if (now - said_ms < 1000)
		return;
	said_ms = now;
	response_progress(json_object());
}

void response_result(json_t *value_own)
{
	say("result", value_own);
}

void response_error(const struct err *err)
{
	json_t *value = json_object();

	json_put_str(value, "code", err_code_name(err->code));
	json_put_str(value, "message", err->msg);
	say("error", value);
}
