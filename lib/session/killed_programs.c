/* SPDX-License-Identifier: MIT */
/* killed_programs.c - names one program, with its command and size; the others are counted. */
#include "session/killed_programs.h"

#include "base/mem.h"
#include "text/sanitize.h"
#include "text/status_line.h"

#define SAVING_COPY "ptycell-save" /* COPY_NAME of driver/copying.py */

static void put_programs(struct buf *out, const struct sandbox_killed *killed)
{
	cleanup_free char *name = sanitize_quote(killed->name);
	cleanup_free char *command = sanitize_quote(killed->command);

	buf_putf(out, "The program '%s'", name);
	if (*command != '\0' && !str_eq(command, name))
		buf_putf(out, " (command: '%s')", command);
	if (killed->programs > 1)
		buf_putf(out, " and %u more", killed->programs - 1);
	buf_puts(out, ", which code had started, ");
}

bool killed_programs_of_code(const struct sandbox_killed *killed)
{
	bool saved = killed->programs == 1 && str_eq(killed->name, SAVING_COPY);

	return killed->programs > 0 && !saved;
}

void killed_programs_describe(struct buf *out, const struct sandbox_killed *killed,
			      uint64_t memory_max, const char *disk_why)
{
	bool several = killed->programs > 1;

	put_programs(out, killed);
	if (killed->for_disk) {
		buf_puts(out, several ? "were killed: the first of them had written "
				      : "was killed: it had written ");
		status_size(out, killed->written_bytes);
		buf_putf(out, " and wrote on, and %s.", disk_why);
		return;
	}
	buf_puts(out, several ? "were killed: the largest had " : "was killed: it had ");
	status_size(out, killed->memory_bytes);
	buf_puts(out, " of memory, and the session went over its limit of ");
	status_size(out, memory_max);
	buf_puts(out, " (memory_max). Use less at a time.");
	if (str_begins(killed->name, "python"))
		buf_puts(out, " If it was a worker of multiprocessing.Pool: its map() waits for it "
			      "for ever, so interrupt the cell.");
}
