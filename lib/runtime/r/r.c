/* SPDX-License-Identifier: MIT */
/*
 * r.c - the row of R.
 *
 * The driver travels in an environment variable, and a line typed on the terminal starts it. R
 * reads frames from pipes, because it opens descriptors by their names under /dev/fd, and open(2)
 * refuses sockets.
 */
#include "runtime/r/r.h"

#include <stddef.h>

#include "base/util.h"
#include "runtime/language.h"

/* Made by the build from driver.R: "PTYCELL_DRIVER=" and the source. */
extern const unsigned char r_driver_variable[];

/* With --file or -e, readline() would read the script instead of the terminal. */
static const char *const *arguments(void)
{
	static const char *const argv[] = { "--no-save", "--no-restore",  "--no-readline",
					    "--no-echo", "--interactive", NULL };

	return argv;
}

static const char *const aliases[] = { NULL };
static const char *const commands[] = { "R", NULL };
static const char *const environment[] = { (const char *)r_driver_variable, NULL };
static const struct language_descriptor descriptors[] = {
	{ "commands", 5, LANGUAGE_PIPE_IN },
	{ "control", 6, LANGUAGE_PIPE_OUT },
};

const struct language *r_language(void)
{
	static const struct language row = {
		.name = "r",
		.aliases = aliases,
		.env_override = "PTYCELL_R",
		.commands = commands,
		.install_hint = "apt install r-base-core",
		.typed =
			"eval(parse(text = Sys.getenv(\"PTYCELL_DRIVER\"), keep.source = FALSE), baseenv())\n",
		.arguments = arguments,
		.environment = environment,
		.descriptors = descriptors,
		.descriptor_count = ARRAY_SIZE(descriptors),
		.survives_no_memory = true,
		.reports_imported = true,
		.closes_named = true,
	};

	return &row;
}
