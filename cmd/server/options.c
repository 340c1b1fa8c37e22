/* SPDX-License-Identifier: MIT */
/*
 * options.c - finds the command. A flag for help or the version wins over the command and over
 * other flags, wherever it is. The exception is `config`, which has a help of its own; that of the
 * commands about sessions is their topic. Any other argument that begins with "-" belongs to the
 * server.
 */
#include "options.h"

#include <stdio.h>

#include "base/mem.h"
#include "doctor.h"
#include "help.h"
#include "host_config.h"
#include "log_export.h"
#include "open.h"
#include "ps.h"
#include "resume.h"
#include "stop.h"
#include "text/sanitize.h"
#include "topics.h"
#include "watch.h"

static int print_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	help_print();
	return 0;
}

/* The help of commands about sessions. */
static int print_commands(void)
{
	char name[] = "commands";
	char *words[] = { name, name, NULL };

	return topics_main(2, words);
}

static int print_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	help_version();
	return 0;
}

struct command {
	const char *name;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
	bool about_sessions;
};

static const struct command commands[] = {
	{ "doctor", doctor_main, false }, { "config", host_config_main, false },
	{ "help", topics_main, false },   { "version", print_version, false },
	{ "ps", ps_main, true },          { "resume", resume_main, true },
	{ "stop", stop_main, true },      { "log", log_main, true },
	{ "export", export_main, true },  { "open", open_main, true },
	{ "watch", watch_main, true },    { "attach", watch_attach_main, true },
};

/* These flags win wherever they are. */
static const struct command flags[] = {
	{ "--help", print_help, false },
	{ "-h", print_help, false },
	{ "--version", print_version, false },
};

static const struct command *find_command(const struct command *list, size_t count,
					  const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (str_eq(list[i].name, name))
			return &list[i];
	}
	return NULL;
}

static const struct command *find_flag(int argc, char **argv)
{
	const struct command *found = NULL;

	for (int i = 1; i < argc && !found; i++)
		found = find_command(flags, ARRAY_SIZE(flags), argv[i]);
	return found;
}

int options_run(int argc, char **argv)
{
	const struct command *command = NULL;
	cleanup_free char *quoted = NULL;

	if (argc < 2)
		return OPTIONS_SERVE;
	command = find_command(commands, ARRAY_SIZE(commands), argv[1]);
	if (!command || command->run != host_config_main) {
		const struct command *flag = find_flag(argc, argv);

		if (flag && flag->run == print_help && command && command->about_sessions)
			return print_commands();
		command = flag ? flag : command;
	}
	if (command)
		return command->run(argc - 1, argv + 1);
	if (argv[1][0] == '-')
		return OPTIONS_SERVE;
	quoted = sanitize_quote(argv[1]);
	fprintf(stderr,
		"ptycell has no command '%s'; there are doctor, config, help, ps, resume, watch, "
		"attach, log, export, open and stop, and without a command it serves. ptycell --help says more.\n",
		quoted);
	return 2;
}
