/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell-fetch: the only program that speaks to servers of the world, by libcurl.
 *
 * It reads one request, a line of JSON on stdin, and writes progress and one result to stdout. "do"
 * is "download" (download.h), "store" or "link" (store.h); job.h has the members that all share. It
 * ends after one batch of transfers. Killing it cancels it: partial files are never in their final
 * place.
 */
#include <curl/curl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "download.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown/harden.h"
#include "parts/parts.h"
#include "store.h"

enum { REQUEST_MAX = 8 << 20 };

struct operation {
	const char *name;
	/* Locks down the process, does the work and sends the result. */
	int (*run)(const json_t *request, struct err *err);
};

static const struct operation operations[] = {
	{ "download", download_run },
	{ "store", store_run },
	{ "link", store_link },
};

static int run_operation(const json_t *request, struct err *err)
{
	const char *name = "";

	if (json_get_text(request, "request", "do", &name, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (str_eq(operations[i].name, name))
			return operations[i].run(request, err);
	return err_set(err, ERR_INVALID, "the request names no known operation");
}

static int run(struct err *err)
{
	cleanup_json json_t *request = NULL;

	if (harden_process(err) < 0)
		return -1;
	/* A killed server needs no results any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(err, "asking to end with the server");
	request = program_read_request(REQUEST_MAX, err);
	if (request == NULL)
		return -1;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not start");
	return run_operation(request, err);
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	/* libcurl converts Unicode hosts from the locale's character set. */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)sigaction(SIGPIPE, &ignore, NULL);
	/* Sent if a file is opened for writing during the lease of expose_writes(). */
	(void)sigaction(SIGIO, &ignore, NULL);
	(void)umask(077);
	if (run(&err) == 0)
		_exit(EXIT_SUCCESS); /* libcurl's threads and memory end with the process */
	program_error(&err);
	_exit(EXIT_FAILURE);
}
