/* SPDX-License-Identifier: MIT */
#include "install/program.h"

#include "base/util.h"

/* Made by the build from python.py, node.cjs and r.R; each ends with a 0. */
extern const unsigned char install_python_source[];
extern const unsigned char install_node_source[];
extern const unsigned char install_r_variable[];

const struct program *program_find(const char *language)
{
	/* -I: nothing of the folder it works in, or of a person's own packages. */
	static const char *const python[] = { "-I", "-c", (const char *)install_python_source,
					      NULL };
	static const char *const node[] = { "-e", (const char *)install_node_source, NULL };
	static const char *const r[] = { "--vanilla", "--no-echo", "-e",
					 "eval(parse(text=Sys.getenv('PTYCELL_INSTALLER')))",
					 NULL };
	/* R opens them by name, which sockets refuse. */
	static const struct plan_descriptor r_pipes[] = {
		{ .name = "commands", .number = 5, .kind = PLAN_PIPE_IN },
		{ .name = "control", .number = 6, .kind = PLAN_PIPE_OUT },
	};
	static const struct program programs[] = {
		{ .language = "python", .arguments = python },
		{ .language = "javascript", .arguments = node },
		{ .language = "r",
		  .arguments = r,
		  .variable = (const char *)install_r_variable,
		  .descriptors = r_pipes,
		  .descriptor_count = ARRAY_SIZE(r_pipes) },
	};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (str_eq(programs[i].language, language))
			return &programs[i];
	return NULL;
}
