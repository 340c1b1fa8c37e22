/* SPDX-License-Identifier: MIT */
/* session_user.c - what the user may do beside the model: read output, type, interrupt. */
#include "session/session_internal.h"

void session_read_output(struct session *s, size_t index, struct buf *shown, struct buf *withheld)
{
	if (index < s->language_count)
		runner_read_held(s->languages[index].runner, shown, withheld);
}

/* Returns a runner whose cell waits for input, else one with a cell; NULL when none runs. */
static struct runner *find_typed(const struct session *s)
{
	struct runner *found = NULL;

	for (size_t i = 0; i < s->language_count; i++) {
		struct runner *runner = s->languages[i].runner;

		if (runner_state(runner) != RUNNER_BUSY)
			continue;
		if (runner_wait(runner) != NULL)
			return runner;
		found = found != NULL ? found : runner;
	}
	return found;
}

uint64_t session_type(struct session *s, enum runner_typing kind, const char *text, size_t len,
		      struct err *err)
{
	struct runner *runner = find_typed(s);

	if (runner == NULL) {
		(void)err_set(err, ERR_NOT_FOUND, "no cell runs in session '%s'", s->id);
		return 0;
	}
	return runner_type(runner, kind, text, len, err) == 0 ? runner_cell_number(runner) : 0;
}

size_t session_interrupt_all(const struct session *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->language_count; i++) {
		if (runner_state(s->languages[i].runner) != RUNNER_BUSY)
			continue;
		runner_stop(s->languages[i].runner, RUNNER_STOP_INTERRUPT);
		count++;
	}
	return count;
}
