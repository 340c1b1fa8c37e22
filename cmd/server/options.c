/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdio.h>

#include "base/mem.h"
#include "doctor.h"
#include "help.h"
#include "hosts.h"
#include "text/clean.h"

static int print_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	help_print();
	return 0;
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
	int (*run)(int argc, char **argv); /* from the command's name on */
};

static const struct command commands[] = {
	{ "doctor", doctor_main },      { "config", hosts_main }, { "help", print_help },
	{ "--help", print_help },       { "-h", print_help },     { "version", print_version },
	{ "--version", print_version },
};

int options_run(int argc, char **argv)
{
	cleanup_free char *quoted = NULL;

	if (argc < 2)
		return OPTIONS_SERVE;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (str_eq(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (argv[1][0] == '-')
		return OPTIONS_SERVE;
	quoted = clean_quote(argv[1]);
	fprintf(stderr,
		"ptycell has no command '%s'; there are doctor and config, and without a command it "
		"serves. ptycell --help says more.\n",
		quoted);
	return 2;
}
