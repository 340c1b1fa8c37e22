/* SPDX-License-Identifier: MIT */
/*
 * resume.c - a session is resumed in a chat, because its variables are of use only there. So the
 * command says which id to name, and what comes back.
 */
#include "resume.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "invocation.h"
#include "json/make.h"
#include "json/write.h"
#include "remote.h"
#include "resumable.h"

/* Returns the rows with this id, or all. */
static json_t *choose_rows(struct remote *remote, const char *id)
{
	json_t *rows = json_array();
	size_t index;
	json_t *row;

	json_array_foreach (remote_ended(remote), index, row)
		if (id == NULL || remote_has_id(row, id))
			json_append(rows, json_incref(row));
	return rows;
}

static int complain_of_none(const char *id)
{
	if (id == NULL)
		(void)fputs(
			"No session can be resumed. Those that are live: ptycell ps. Sessions of "
			"another PTYCELL_HOME: ptycell resume --home FOLDER\n",
			stderr);
	else
		(void)fprintf(stderr,
			      "No session '%s' can be resumed. Those that can: ptycell resume. One "
			      "that is live goes on in its chat: ptycell ps\n",
			      id);
	return EXIT_FAILURE;
}

static void print_advice(const json_t *rows)
{
	const json_t *first = json_array_get(rows, 0);

	printf("\nTo go on with one, write in a chat: Go on in the ptycell session %s.\n"
	       "Its files and its record are back with the first cell. Its variables come back when "
	       "you ask for them: restore_values loads those that were saved, restore_run runs the "
	       "cells again.\n",
	       resumable_id(first));
}

static void print_json(const json_t *rows)
{
	cleanup_json json_t *object = json_object();
	cleanup_free char *text = NULL;

	json_put(object, "resumable", json_deep_copy(rows));
	text = json_write_text(object);
	puts(text);
}

int resume_main(int argc, char **argv)
{
	cleanup_remote struct remote remote = { .home_fd = -1, .folder_fd = -1 };
	cleanup_json json_t *rows = NULL;
	struct invocation inv;
	int code = invocation_begin(
		argc, argv, INVOCATION_SESSION | INVOCATION_JSON | INVOCATION_ALL, &inv, &remote);

	if (code != 0)
		return code;
	rows = choose_rows(&remote, inv.session);
	if (inv.json) {
		print_json(rows);
		return 0;
	}
	if (json_array_size(rows) == 0)
		return complain_of_none(inv.session);
	resumable_print(rows, inv.all);
	print_advice(rows);
	return 0;
}
