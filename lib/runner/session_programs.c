/* SPDX-License-Identifier: MIT */
/* session_programs.c - finds the interpreters of the programs, and where the session sees its
 * files. */
#include "runner/session_programs.h"

#include <fcntl.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "runtime/language.h"
#include "runtime/programs.h"
#include "workspace/beneath.h"
#include "workspace/workspace.h"

/* Returns false if the machine has no such interpreter. Then `path` needs no release. */
static bool locate(const struct confinement *confinement, const char *name,
		   struct interpreter_path *path)
{
	struct err err;

	return confinement_locate(confinement, language_find(name), path, &err) == 0;
}

static int write_programs(const struct confinement *confinement, const struct workspace *workspace,
			  struct err *err)
{
	cleanup_fd int folder = beneath_open(workspace_packages_fd(workspace), ASK_FOLDER,
					     O_RDONLY | O_DIRECTORY, 0);
	struct programs_spec spec = { .data = workspace_data_path(workspace) };
	struct interpreter_path python;
	struct interpreter_path node;
	bool has_python = locate(confinement, "python", &python);
	bool has_node = locate(confinement, "javascript", &node);
	int rc;

	spec.python = has_python ? python.path : NULL;
	spec.node = has_node ? node.path : NULL;
	rc = folder < 0 ? err_sys(err, "opening a session's folder '%s'", ASK_FOLDER)
			: programs_write(folder, &spec, err);
	if (has_python)
		locate_release(&python);
	if (has_node)
		locate_release(&node);
	return rc;
}

char *session_programs_python(const struct confinement *confinement)
{
	struct interpreter_path python;
	char *path = NULL;

	if (locate(confinement, "python", &python)) {
		path = xstrdup(python.path);
		locate_release(&python);
	}
	return path;
}

void session_programs_write(const struct confinement *confinement,
			    const struct workspace *workspace)
{
	struct err err;

	if (write_programs(confinement, workspace, &err) < 0)
		log_warn("session", "%s: its programs cannot ask for packages: %s",
			 workspace_name(workspace), err.msg);
}
