/* SPDX-License-Identifier: MIT */
/* open.c - prints the folder and has the desktop open it, by xdg-open. */
#include "open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "invocation.h"
#include "remote.h"
#include "report_lines.h"
#include "workspace/rescue_record.h"

/* Returns the path, which the caller frees. Returns NULL and sets *err if nothing was kept. */
static char *find_folder(struct remote *remote, const struct invocation *inv, struct err *err)
{
	struct remote_session session;
	cleanup_free char *path = NULL;
	cleanup_fd int journal = -1;

	if (remote_find(remote, inv->session, inv->server, &session, err) < 0)
		return NULL;
	journal = remote_open_journal(remote, &session, err);
	if (journal < 0)
		return NULL;
	path = rescue_record_path(journal);
	if (path != NULL && access(path, F_OK) == 0)
		return mem_steal(&path);
	(void)err_set(err, ERR_NOT_FOUND,
		      "nothing of session '%s' was kept: files come from its folder output/, and "
		      "PTYCELL_KEEP says where to",
		      inv->session);
	return NULL;
}

int open_main(int argc, char **argv)
{
	cleanup_remote struct remote remote = { .home_fd = -1, .folder_fd = -1 };
	cleanup_free char *path = NULL;
	cleanup_free char *shown = NULL;
	struct invocation inv;
	struct err err;
	int code =
		invocation_begin(argc, argv, INVOCATION_SESSION | INVOCATION_SERVER, &inv, &remote);

	if (code != 0)
		return code;
	if (inv.session == NULL) {
		(void)fputs("Name a session: ptycell open SESSION; ptycell ps lists them.\n",
			    stderr);
		return 2;
	}
	path = find_folder(&remote, &inv, &err);
	if (path == NULL)
		return remote_complain(&err);
	shown = report_quote_path(path);
	puts(shown);
	(void)fflush(stdout);
	(void)execlp("xdg-open", "xdg-open", path, (char *)NULL);
	(void)fprintf(stderr,
		      "ptycell: xdg-open cannot be started (%s): open the folder yourself.\n",
		      strerrordesc_np(errno));
	return 1;
}
