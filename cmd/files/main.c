/* SPDX-License-Identifier: MIT */
/*
 * ptycell-files: removes a session's folder, copies its results to where they are kept, also those
 * of a session that died with its server, copies a file of the person's into it, puts installed
 * packages where they belong, or keeps them few, and looks for repositories in shared folders.
 *
 * One order as a line of JSON on stdin, an answer on stdout (helper/reply.h), the folder that the
 * order is about as descriptor 3, or the two files of an import (import.h). It outlives the server:
 * the jobs have an end of their own, and half of one helps nobody.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "finish.h"
#include "helper/program.h"
#include "import.h"
#include "json/make.h"
#include "keep.h"
#include "link.h"
#include "lockdown/harden.h"
#include "look.h"
#include "pack.h"
#include "parts/parts.h"
#include "remove.h"
#include "rescue.h"
#include "trim.h"

enum { ORDER_MAX = 64 << 20, FOLDER_FD = 3, SOURCE_FD = 4 };

static int obey(json_t *order, struct err *err)
{
	const char *op = json_string_value(json_object_get(order, "op"));
	struct stat st;

	if (op != NULL && str_eq(op, "import"))
		return import_run(FOLDER_FD, SOURCE_FD, order, err);
	if (fstat(FOLDER_FD, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "descriptor 3 is not a folder");
	if (op != NULL && str_eq(op, "remove"))
		return remove_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "keep"))
		return keep_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "rescue"))
		return rescue_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "rescue-notebook"))
		return finish_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "pack"))
		return pack_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "link"))
		return link_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "trim"))
		return trim_run(FOLDER_FD, order, err);
	if (op != NULL && str_eq(op, "look"))
		return look_run(order, err);
	return err_set(err, ERR_INVALID, "the order names no known operation");
}

static int run(struct err *err)
{
	cleanup_json json_t *order = NULL;

	if (harden_process(err) < 0)
		return -1;
	order = request_read(ORDER_MAX, err);
	return order != NULL ? obey(order, err) : -1;
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)umask(077);
	if (run(&err) == 0)
		return EXIT_SUCCESS;
	response_error(&err);
	return EXIT_FAILURE;
}
