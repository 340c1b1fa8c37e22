/* SPDX-License-Identifier: MIT */
/*
 * end_text.c - looks for limits behind an interpreter's end: those of the session, and those with
 * which ptycell itself was started, as each process inherits them.
 */
#include "runner/end_text.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "runtime/language.h"
#include "sandbox/wire/wire.h"

static bool has_ulimit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	return getrlimit(resource, &limit) == 0 && limit.rlim_max != RLIM_INFINITY;
}

const char *end_text_signal(int wait_status)
{
	if ((wait_status & WIRE_OUT_OF_TIME) != 0)
		return has_ulimit(RLIMIT_CPU)
			       ? ": it reached the limit of processor time with which ptycell was "
				 "started (ulimit -t), or one that the code had set itself"
			       : ": the code reached the limit of processor time that it had set "
				 "itself";
	if (WTERMSIG(wait_status) == SIGXCPU)
		return ", as the kernel does at a limit of processor time";
	return WTERMSIG(wait_status) == SIGKILL
		       ? ", as by `kill -9`, or by the kernel when memory runs out"
		       : "";
}

/* Another program would not help where a limit is in the way. */
char *end_text_advice(const struct language *language, const char *printed, enum crowd crowd)
{
	if (strstr(printed, "open files") != NULL)
		return xstrdup("Raise the limit with which ptycell is started (ulimit -n), or "
			       "open_files_max, the session's own, if that is lower");
	if (crowd == CROWD_USER)
		return xstrdup("Other processes of the user took the room of this session's. Try "
			       "again; if that fails, end some of them, or raise the user's limit "
			       "(ulimit -u, or its container's)");
	if (crowd == CROWD_SESSION)
		return xstrdup("The session has as many processes and threads as processes_max "
			       "allows. End some, or destroy the session");
	if (strstr(printed, END_TEXT_NO_PROCESS) != NULL ||
	    strstr(printed, "uv_thread_create") != NULL)
		return xstrdup("No process or thread could be made: the user has probably as "
			       "many as ulimit -u allows, or the session as many as processes_max "
			       "allows. End some, or destroy the session");
	if (has_ulimit(RLIMIT_AS))
		return xstrdup("Raise the limit of address space with which ptycell is started "
			       "(ulimit -v): Node, for one, reserves far more than it uses");
	return xasprintf("Set %s to one that works", language->env_override);
}
