/* SPDX-License-Identifier: MIT */
/* session_programs.h - puts the programs by which code asks for packages into a session's folder.
 */
#ifndef RUNNER_SESSION_PROGRAMS_H
#define RUNNER_SESSION_PROGRAMS_H

struct confinement;
struct workspace;

/*
 * Writes the programs (runtime/programs.h), in the place of earlier ones. Call it right after a
 * sandbox was opened, and before an interpreter starts in it: the launcher makes the sandbox
 * meanwhile, and an interpreter ignores folders of its path that it did not find once. A session
 * works without programs, so a failure is only logged.
 */
void session_programs_write(const struct confinement *confinement,
			    const struct workspace *workspace);
/* Returns the path of the Python that pip is for, or NULL. The caller frees it. */
char *session_programs_python(const struct confinement *confinement);

#endif
