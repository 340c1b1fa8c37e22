/* SPDX-License-Identifier: MIT */
#include "install/program.h"

#include "base/util.h"

/* Made by the build from python.py and node.cjs; each ends with a 0. */
extern const unsigned char install_python_source[];
extern const unsigned char install_node_source[];

const char *const *program_arguments(const char *language)
{
	/* -I: nothing of the folder it works in, or of a person's own packages. */
	static const char *const python[] = { "-I", "-c", (const char *)install_python_source,
					      NULL };

	static const char *const node[] = { "-e", (const char *)install_node_source, NULL };

	if (str_eq(language, "javascript"))
		return node;
	return str_eq(language, "python") ? python : NULL;
}
