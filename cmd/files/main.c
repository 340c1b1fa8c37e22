/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell-files: reads one request, a line of JSON on stdin, runs its operation and writes
 * the result to stdout.
 *
 * It removes a session's folder, or folders of ended sessions that exceed the limits. It exports
 * results (also of a session whose server died), imports a user's file, stores and links packages,
 * trims their cache, inspects shared folders, and measures the folder of exports. It puts a
 * session's files back after its cells were run again. Descriptor 3 is the folder that the request
 * is about, or the destination of an import. It may outlive the server: its jobs end by themselves,
 * and a partial one would help no user.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "bring.h"
#include "finish.h"
#include "helper/program.h"
#include "import.h"
#include "inspect.h"
#include "json/make.h"
#include "keep.h"
#include "link.h"
#include "lockdown/harden.h"
#include "pack.h"
#include "page.h"
#include "parts/parts.h"
#include "putback.h"
#include "remove.h"
#include "rescue.h"
#include "room.h"
#include "sweep.h"
#include "trim.h"

enum { REQUEST_MAX = 64 << 20, FOLDER_FD = 3, SOURCE_FD = 4, NICENESS = 10 };

/* No caller waits for what killed servers left, for removals and reports: all else goes first. */
static void yield_priority(const char *op)
{
	static const char *const ops[] = { "remove",       "rescue", "rescue-notebook",
					   "killed-cells", "sweep",  "keep-report",
					   "measure" };

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (str_eq(op, ops[i]))
			(void)setpriority(PRIO_PROCESS, 0, NICENESS);
}

static int run_request(json_t *request, struct err *err)
{
	const char *op = json_string_value(json_object_get(request, "op"));
	struct stat st;

	if (op == NULL)
		op = "";
	yield_priority(op);
	if (str_eq(op, "import"))
		return import_run(FOLDER_FD, SOURCE_FD, request, err);
	if (fstat(FOLDER_FD, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "descriptor 3 is not a folder");
	if (str_eq(op, "remove"))
		return remove_run(FOLDER_FD, request, err);
	if (str_eq(op, "keep"))
		return keep_run(FOLDER_FD, request, -1, err);
	if (str_eq(op, "keep-report"))
		return page_run(FOLDER_FD, request, err);
	if (str_eq(op, "rescue"))
		return rescue_run(FOLDER_FD, request, err);
	if (str_eq(op, "rescue-notebook"))
		return finish_run(FOLDER_FD, request, err);
	if (str_eq(op, "killed-cells"))
		return finish_report_cells(FOLDER_FD, err);
	if (str_eq(op, "pack"))
		return pack_run(FOLDER_FD, request, err);
	if (str_eq(op, "link"))
		return link_run(FOLDER_FD, request, err);
	if (str_eq(op, "trim"))
		return trim_run(FOLDER_FD, request, err);
	if (str_eq(op, "sweep"))
		return sweep_run(FOLDER_FD, request, err);
	if (str_eq(op, "bring"))
		return bring_run(FOLDER_FD, SOURCE_FD, request, err);
	if (str_eq(op, "put-back"))
		return putback_run(FOLDER_FD, request, err);
	if (str_eq(op, "measure"))
		return room_run(request, err);
	if (str_eq(op, "inspect"))
		return inspect_run(request, err);
	return err_set(err, ERR_INVALID, "the request names no known operation");
}

static int run(struct err *err)
{
	cleanup_json json_t *request = NULL;

	if (harden_process(err) < 0)
		return -1;
	request = program_read_request(REQUEST_MAX, err);
	return request != NULL ? run_request(request, err) : -1;
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	(void)sigaction(SIGPIPE, &ignore, NULL);
	/* Sent if a file is opened during a lease of expose_writes() or open_files_how(). */
	(void)sigaction(SIGIO, &ignore, NULL);
	(void)umask(077);
	if (run(&err) == 0)
		return EXIT_SUCCESS;
	program_error(&err);
	return EXIT_FAILURE;
}
