/* SPDX-License-Identifier: MIT */
/*
 * hints.c - reads the switches of the kernel that make user namespaces or landlock fail, and gives
 * the command for each. All files are read below `root`, so that a test can provide a machine as a
 * folder.
 */
#include "confinement/hints.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "lockdown/landlock_ruleset.h"

#define LACK(what) "That is a lack of " what ", no rule of this machine: "

enum { FILE_MAX_BYTES = 4096, MOUNTS_MAX_BYTES = 4 << 20 };

/* Returns NULL when the file cannot be read. The caller frees the result. */
static char *read_file(const char *root, const char *name)
{
	cleanup_free char *path = xasprintf("%s%s", root, name);
	struct err err;
	size_t len;

	return fd_read_file(AT_FDCWD, path, FILE_MAX_BYTES, &len, &err);
}

static bool begins_with(const char *root, const char *name, char first)
{
	cleanup_free char *text = read_file(root, name);

	return text != NULL && text[0] == first;
}

static bool has_word(const char *root, const char *name, const char *word)
{
	cleanup_free char *text = read_file(root, name);

	return text != NULL && strstr(text, word) != NULL;
}

static bool is_there(const char *root, const char *name)
{
	cleanup_free char *path = xasprintf("%s%s", root, name);

	return access(path, F_OK) == 0;
}

/*
 * Returns whether the root folder is a chroot to a folder that is no mount: /proc/self/mountinfo
 * then lists no mount at "/". No user namespace can be made there, with any switches.
 */
static bool is_chroot(const char *root)
{
	cleanup_free char *path = xasprintf("%s/proc/self/mountinfo", root);
	struct err err;
	size_t len;
	cleanup_free char *mounts = fd_read_file(AT_FDCWD, path, MOUNTS_MAX_BYTES, &len, &err);
	char *rest = mounts;
	char *line;

	if (mounts == NULL)
		return false;
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *point = NULL;

		/* id, parent, device, folder, mount point */
		for (int field = 0; field < 5; field++)
			point = strsep(&line, " ");
		if (point != NULL && str_eq(point, "/"))
			return false;
	}
	return true;
}

void hints_inspect(const char *root, struct hints_machine *ret_machine)
{
	*ret_machine = (struct hints_machine){
		.apparmor = begins_with(
			root, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1'),
		.switched_off =
			begins_with(root, "/proc/sys/kernel/unprivileged_userns_clone", '0'),
		.none_allowed = begins_with(root, "/proc/sys/user/max_user_namespaces", '0'),
		.container = is_there(root, "/.dockerenv") ||
			     is_there(root, "/run/.containerenv") ||
			     is_there(root, "/var/run/secrets/kubernetes.io") ||
			     has_word(root, "/proc/1/cgroup", "docker") ||
			     has_word(root, "/proc/1/cgroup", "kubepods"),
		/* WSL 2 has a real kernel, named "microsoft" in small letters. */
		.wsl1 = has_word(root, "/proc/version", "-Microsoft"),
		.chroot = is_chroot(root),
		.has_bwrap = is_there(root, "/usr/bin/bwrap"),
	};
}

static void advise_namespaces(struct buf *out, const struct hints_machine *machine)
{
	if (machine->wsl1)
		buf_puts(out, "This is WSL 1, which has no Linux kernel. In Windows, type:\n"
			      "  wsl --update\n"
			      "  wsl --set-version DISTRIBUTION 2\n");
	else if (machine->chroot)
		buf_puts(out,
			 "This is a chroot, in which Linux makes no user namespaces. Start ptycell "
			 "outside of it, or enter the folder as a container (systemd-nspawn, "
			 "bwrap).\n");
	else if (machine->none_allowed)
		buf_putf(out,
			 "User namespaces are switched off here. To allow them, type%s:\n"
			 "  echo user.max_user_namespaces=15000 | sudo tee "
			 "/etc/sysctl.d/60-ptycell.conf\n"
			 "  sudo sysctl --system\n",
			 machine->container ? ", on the machine that runs this container" : "");
	else if (machine->container)
		buf_puts(out,
			 "This is a container whose rules forbid namespaces. Start it with\n"
			 "  docker run --security-opt seccomp=unconfined --security-opt "
			 "systempaths=unconfined\n"
			 "(podman run takes the same options) and, where the host is Ubuntu, also\n"
			 "  --security-opt apparmor=unconfined\n");
	else if (machine->switched_off)
		buf_puts(out, "This kernel lets only root make user namespaces. To allow them, "
			      "type:\n"
			      "  echo kernel.unprivileged_userns_clone=1 | sudo tee "
			      "/etc/sysctl.d/60-ptycell.conf\n"
			      "  sudo sysctl --system\n");
	else if (machine->apparmor)
		buf_puts(out, "Ubuntu lets only programs with an AppArmor profile make user "
			      "namespaces. To give ptycell one, type:\n"
			      "  ptycell config apparmor | sudo tee /etc/apparmor.d/ptycell\n"
			      "  sudo apparmor_parser -r /etc/apparmor.d/ptycell\n");
	else
		buf_puts(out, "The kernel, or rules over this program (SELinux, a service's "
			      "hardening, a sandbox of the host), refused it.\n");
}

const char *hints_shortage(const char *reason)
{
	static const struct {
		int sys;
		const char *advice;
	} rows[] = {
		{ EMFILE,
		  LACK("descriptors") "raise their limit (ulimit -n) and start ptycell again.\n" },
		{ EAGAIN, LACK("processes") "end some, or raise their limit (ulimit -u) and start "
					    "ptycell again.\n" },
		{ EFBIG,
		  LACK("room in files") "raise the limit of their size (ulimit -f) and start "
					"ptycell again.\n" },
		{ ENFILE, LACK("descriptors") "end programs that have many, and try again.\n" },
		{ ENOMEM, LACK("memory") "end programs that use much, and try again.\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strstr(reason, strerrordesc_np(rows[i].sys)) != NULL)
			return rows[i].advice;
	return NULL;
}

/* glibc has a substitute for a clone3 that is unknown (ENOSYS), and none for one that is forbidden.
 */
const char *hints_filter(void)
{
	if (syscall(SYS_clone3, NULL, 0) == 0 || errno != EPERM)
		return NULL;
	return "A filter of system calls forbids clone3, so that no program starts, as Docker's before "
	       "20.10.10 does: update Docker, or start the container with --security-opt "
	       "seccomp=unconfined.\n";
}

void hints_write(struct buf *out, const struct sandbox_report *report,
		 const struct hints_machine *machine)
{
	const char *shortage = hints_shortage(report->reason[POLICY_NAMESPACES]);

	if (report->tier >= POLICY_NAMESPACES)
		return;
	if (shortage != NULL) {
		buf_puts(out, shortage);
		return;
	}
	advise_namespaces(out, machine);
	if (report->tier < POLICY_BWRAP && !machine->has_bwrap && !machine->container &&
	    !machine->chroot && !machine->wsl1)
		buf_puts(out, "Or install bubblewrap, which many systems allow more: sudo apt "
			      "install bubblewrap\n");
	if (report->tier < POLICY_LANDLOCK && report->landlock_abi < LANDLOCK_ABI_SIGNALS)
		buf_puts(out, "The weakest tier needs none of this, but Linux 6.12 or later, with "
			      "landlock switched on (lsm=landlock,...).\n");
}
