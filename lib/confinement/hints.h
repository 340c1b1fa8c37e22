/* SPDX-License-Identifier: MIT */
/*
 * advice.h - what a person can do on this machine to get stronger confinement: read from the
 * switches of its kernel, said with the commands to type.
 */
#ifndef CONFINEMENT_HINTS_H
#define CONFINEMENT_HINTS_H

#include <stdbool.h>

#include "base/buf.h"
#include "sandbox/report.h"

/* What stands in the way of user namespaces, or of landlock. */
struct hints_machine {
	bool apparmor;     /* Ubuntu's rule for programs without a profile */
	bool switched_off; /* kernel.unprivileged_userns_clone is 0 */
	bool none_allowed; /* user.max_user_namespaces is 0 */
	bool container;    /* Docker, Podman, Kubernetes */
	bool wsl1;         /* no Linux kernel at all */
	bool chroot;       /* into a folder that is no mount */
	bool has_bwrap;
};

/* `root` is "" but in tests. */
void hints_look(const char *root, struct hints_machine *ret_machine);

/*
 * True when the strongest tier failed for want of descriptors, memory or processes: that passes,
 * and no rule of the machine is to be changed for it.
 */
bool hints_is_shortage(const struct sandbox_report *report);
/*
 * Appends lines, each with its end: why the tier is not the strongest, and what to type. Nothing
 * when it is.
 */
void hints_write(struct buf *out, const struct sandbox_report *report,
		 const struct hints_machine *machine);

#endif
