/* SPDX-License-Identifier: MIT */
/*
 * ptycell-fetch: the only program that speaks to servers in the world by libcurl.
 *
 * One order as a line of JSON on stdin, progress and one result on stdout (helper/reply.h). "do"
 * says which: "download" (download.h), "store" and "link" (store.h). What all orders have in common
 * is in order.h. It runs one batch of transfers and ends; to cancel it is to kill it: nothing that
 * it leaves is in its place.
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

enum { ORDER_MAX = 8 << 20 };

struct operation {
	const char *name;
	/* Confines the process, does it all and says the result. */
	int (*run)(const json_t *order, struct err *err);
};

static const struct operation operations[] = {
	{ "download", download_run },
	{ "store", store_run },
	{ "link", store_link },
};

static int obey(const json_t *order, struct err *err)
{
	const char *name = "";

	if (json_get_text(order, "order", "do", &name, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (str_eq(operations[i].name, name))
			return operations[i].run(order, err);
	return err_set(err, ERR_INVALID, "the order names no known operation");
}

static int run(struct err *err)
{
	cleanup_json json_t *order = NULL;

	if (harden_process(err) < 0)
		return -1;
	/* What a killed server wanted, nobody wants any more. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return err_sys(err, "asking to end with the server");
	order = request_read(ORDER_MAX, err);
	if (order == NULL)
		return -1;
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, ERR_INTERNAL, "libcurl does not start");
	return obey(order, err);
}

int main(int argc, char **argv)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct err err;

	if (!parts_agree(argc, argv))
		return PARTS_OTHER;
	/* Hosts in Unicode are converted by the locale's character set. */
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	(void)sigaction(SIGPIPE, &ignore, NULL);
	(void)umask(077);
	if (run(&err) == 0)
		_exit(EXIT_SUCCESS); /* libcurl's threads and memory end with the process */
	response_error(&err);
	_exit(EXIT_FAILURE);
}
