/* SPDX-License-Identifier: MIT */
#include "runtime/r/r.h"

#include <stddef.h>

#include "base/util.h"
#include "runtime/language.h"

/* Made by the build from driver.R: "PTYCELL_DRIVER=" and the source. */
extern const unsigned char r_driver_variable[];

/* --file and -e would make readline() read the script: so the driver is started by a typed line. */
static const char *const *arguments(void)
{
	static const char *const argv[] = { "--no-save", "--no-restore",  "--no-readline",
					    "--no-echo", "--interactive", NULL };

	return argv;
}

static const char *const aliases[] = { NULL };
static const char *const commands[] = { "R", NULL };
static const char *const environment[] = { (const char *)r_driver_variable, NULL };
/* R opens them by name, which sockets refuse. */
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
		.tells_imported = true,
	};

	return &row;
}
