/* SPDX-License-Identifier: MIT */
/*
 * hints.h - commands that give a user stronger confinement on this machine, chosen by its kernel's
 * switches.
 */
#ifndef CONFINEMENT_HINTS_H
#define CONFINEMENT_HINTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "sandbox/report.h"

/* The obstacles to user namespaces and landlock. */
struct hints_machine {
	bool apparmor;     /* Ubuntu's rule for programs without a profile */
	bool switched_off; /* kernel.unprivileged_userns_clone is 0 */
	bool none_allowed; /* user.max_user_namespaces is 0 */
	bool container;    /* Docker, Podman, Kubernetes */
	bool wsl1;         /* no Linux kernel at all */
	bool chroot;       /* into a folder that is no mount */
	bool has_bwrap;
};

/* Inspects the machine. `root` is "" except in tests. */
void hints_inspect(const char *root, struct hints_machine *ret_machine);

/*
 * Returns what to do, in a line, if `reason` names a lack of descriptors, memory, processes or room
 * in files, else NULL. A lack passes; no rule of the machine should be changed for it.
 */
const char *hints_shortage(const char *reason);
/* Returns what to do, in a line, if a filter of system calls lets no program start, else NULL. */
const char *hints_filter(void);
/*
 * Appends lines that say why the tier is not the strongest, and which commands change that. Appends
 * nothing for the strongest.
 */
void hints_write(struct buf *out, const struct sandbox_report *report,
		 const struct hints_machine *machine);

#endif
