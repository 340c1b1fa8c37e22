/* SPDX-License-Identifier: MIT */
/*
 * guide.c - appends the chapters that depend on this machine to the text of guide.md: results,
 * packages, shares and network. It does so at every read, because the user may install packages
 * meanwhile.
 */
#include "resources/guide.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "answer/network_json.h"
#include "answer/python_packages.h"
#include "json/make.h"
#include "text/sanitize.h"

enum { SHARE_CHARS_MAX = 400 /* of one path */ };

#define BUDGET "{call_budget}" /* in guide.md */

/* Made by embed_file; ends with a NUL. */
extern const unsigned char resources_guide[];

static void write_shares(struct buf *out, const struct settings *settings)
{
	buf_puts(out, "\n## What code can see\n\n");
	if (settings->unconfined) {
		buf_puts(out, "Nothing confines the code: it can do what the user can.\n");
		return;
	}
	buf_puts(out,
		 "The session's folder, its own /tmp and the system's programs, nothing of the "
		 "user's. ");
	if (settings->share_count == 0)
		buf_puts(out, "The user can share a folder by starting ptycell with --share "
			      "FOLDER.\n");
	else
		buf_puts(out, "Shared by the user:\n\n");
	for (size_t i = 0; i < settings->share_count; i++) {
		buf_puts(out, "- `");
		sanitize_line(out, settings->shares[i].path, strlen(settings->shares[i].path),
			      SHARE_CHARS_MAX);
		buf_puts(out, settings->shares[i].writable ? "`, to read and write" : "`, to read");
		buf_puts(out,
			 access(settings->shares[i].path, F_OK) < 0 ? ", not there now\n" : "\n");
	}
}

static void write_results(struct buf *out, const struct settings *settings)
{
	if (settings->keep == NULL)
		buf_puts(out, "\n## Results\n\nResults are not kept here (PTYCELL_KEEP): no answer "
			      "says `saved`, and files of `output/` end with the session's folder. "
			      "Show the user what they need.\n");
}

static void put_text(struct buf *out, uint64_t call_budget)
{
	const char *text = (const char *)resources_guide;
	const char *budget = strstr(text, BUDGET);

	assert(budget != NULL);
	buf_put(out, text, (size_t)(budget - text));
	buf_putf(out, "%ju", (uintmax_t)call_budget);
	buf_puts(out, budget + strlen(BUDGET));
}

void guide_write(struct buf *out, const struct settings *settings)
{
	cleanup_json json_t *packages = python_packages_list(settings);
	size_t index;
	const json_t *package;

	put_text(out, settings->call_budget);
	write_results(out, settings);
	buf_puts(out, "\n## Python packages that are there\n\n");
	json_array_foreach (packages, index, package)
		buf_putf(out, "%s%s", index > 0 ? ", " : "", json_string_value(package));
	buf_puts(out, json_array_size(packages) > 0 ? "\n" : "Only the standard library.\n");
	write_shares(out, settings);
	network_json_guide(out, settings);
}
