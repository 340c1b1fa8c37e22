/* SPDX-License-Identifier: MIT */
/*
 * invocation.c - all flags that are not of these commands are settings, as --home and --env-file.
 */
#include "invocation.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/settings.h"
#include "remote.h"
#include "text/sanitize.h"
#include "usable_settings.h"

/* The words of all these commands. */
static const struct word {
	const char *flag;
	enum invocation_word word;
} words[] = {
	{ "--json", INVOCATION_JSON },     { "--all", INVOCATION_ALL },
	{ "--cell", INVOCATION_CELL },     { "--ipynb", INVOCATION_FORMAT },
	{ "--script", INVOCATION_FORMAT }, { "--server", INVOCATION_SERVER },
	{ "--html", INVOCATION_FORMAT },
};

static const struct word *find_word(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (str_eq(words[i].flag, text))
			return &words[i];
	return NULL;
}

/* Prints what is wrong with an argument. Returns -1. */
static int refuse(const char *command, const char *text, const char *why)
{
	cleanup_free char *quoted = sanitize_quote(text);

	(void)fprintf(stderr, "ptycell %s: '%s' %s; see ptycell help commands.\n", command, quoted,
		      why);
	return -1;
}

static int take_server(struct invocation *inv, unsigned takes, const char *text)
{
	char *end = NULL;
	long pid = text != NULL ? strtol(text, &end, 10) : 0;

	if ((takes & INVOCATION_SERVERS) != 0 && (text == NULL || text[0] == '-')) {
		inv->servers = true;
		return 1;
	}
	if (pid <= 0 || pid > INT_MAX || *end != '\0') {
		(void)fputs("--server takes the number of a process, as `ptycell ps` shows it.\n",
			    stderr);
		return -1;
	}
	inv->server = (pid_t)pid;
	return 2;
}

/* Returns how many arguments are taken: 0, 1 or 2; -1 for a wrong one. */
static int take_word(struct invocation *inv, unsigned takes, const char *command, char **argv)
{
	const struct word *found = find_word(argv[0]);

	if (found == NULL)
		return 0;
	if ((takes & found->word) == 0)
		return refuse(command, argv[0], "is for other commands");
	switch (found->word) {
	case INVOCATION_SERVER:
		return take_server(inv, takes, argv[1]);
	case INVOCATION_FORMAT:
		if (inv->format != NULL && !str_eq(inv->format, argv[0] + 2))
			return refuse(command, argv[0], "is a second form: choose one");
		inv->format = argv[0] + 2;
		break;
	case INVOCATION_ALL:
		inv->all = true;
		break;
	case INVOCATION_CELL:
		inv->cell = true;
		break;
	default:
		inv->json = true;
		break;
	}
	return 1;
}

static int take_session(struct invocation *inv, unsigned takes, const char *command,
			const char *text)
{
	if ((takes & INVOCATION_SESSION) == 0 || inv->session != NULL)
		return refuse(command, text, "is one word too many");
	inv->session = text;
	return 1;
}

/*
 * Moves the arguments that are settings to the front, from argv[1] on. A word without "-" is the
 * session, unless it follows a setting. Returns the new argc.
 */
static int take_words(int argc, char **argv, unsigned takes, struct invocation *ret)
{
	bool is_value = false;
	int rest = 1;

	for (int at = 1; at < argc;) {
		int own = take_word(ret, takes, argv[0], argv + at);

		if (own == 0 && argv[at][0] != '-' && !is_value)
			own = take_session(ret, takes, argv[0], argv[at]);
		if (own < 0)
			return -1;
		is_value = own == 0 && argv[at][0] == '-' && strchr(argv[at], '=') == NULL;
		if (own == 0)
			argv[rest++] = argv[at++];
		at += own;
	}
	return rest;
}

int invocation_begin(int argc, char **argv, unsigned takes, struct invocation *ret,
		     struct remote *remote)
{
	struct settings *settings;
	struct err err;
	int code = 0;
	int rest;

	*ret = (struct invocation){ .session = NULL };
	rest = take_words(argc, argv, takes, ret);
	if (rest < 0)
		return 2;
	settings = usable_settings_load(rest, argv);
	if (settings->problem != NULL) {
		(void)fprintf(stderr, "ptycell: %s\n", settings->problem);
		code = 2;
	} else if (remote_open(remote, settings->home, &err) < 0) {
		code = remote_complain(&err);
		remote_close(remote);
	}
	settings_free(settings);
	return code;
}
