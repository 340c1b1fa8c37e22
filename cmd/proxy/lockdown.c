/* SPDX-License-Identifier: MIT */
/*
 * lockdown.c - locks down both processes. Landlock comes before seccomp, whose filter does not
 * allow landlock's calls. The resolver keeps reading rights and the wide filter, because modules of
 * the name service may read files and use sockets.
 */
#include "lockdown.h"

#include "base/fd.h"
#include "base/util.h"
#include "lockdown/landlock_ruleset.h"
#include "lockdown/seccomp_helper.h"
#include "seccomp.h"

enum { NAME_SERVER_PORT = 53 };

/* Configuration, modules of the name service switch, and the sockets of local name services. */
static const char *const resolver_folders[] = { "/etc", "/usr",     "/lib",        "/lib64",
						"/run", "/var/run", "/var/lib/sss" };

/*
 * Makes a ruleset that refuses everything known to the kernel except paths of sockets, which
 * lookups need. Returns 1 and sets *ret_ruleset, 0 without landlock in the kernel, or -1 and sets
 * *err.
 */
static int make_ruleset(struct landlock_rights *ret_refused, int *ret_ruleset, struct err *err)
{
	int abi = landlock_abi(LANDLOCK_ABI_SIGNALS);

	if (abi < 1)
		return 0;
	*ret_refused = landlock_ruleset_rights(abi);
	*ret_ruleset = landlock_ruleset_new(ret_refused, err);
	return *ret_ruleset < 0 ? -1 : 1;
}

int lockdown_proxy(const uint16_t *ports, size_t count, struct err *err)
{
	cleanup_fd int ruleset = -1;
	struct landlock_rights refused;
	int made = make_ruleset(&refused, &ruleset, err);

	if (made < 0)
		return -1;
	for (size_t i = 0; made > 0 && refused.net != 0 && i < count; i++)
		if (landlock_ruleset_allow_port(ruleset, ports[i], err) < 0)
			return -1;
	if (made > 0 && landlock_ruleset_enter(ruleset, err) < 0)
		return -1;
	return seccomp_proxy(err);
}

int lockdown_resolver(struct err *err)
{
	cleanup_fd int ruleset = -1;
	struct landlock_rights refused;
	int made = make_ruleset(&refused, &ruleset, err);

	if (made < 0)
		return -1;
	for (size_t i = 0; made > 0 && i < ARRAY_SIZE(resolver_folders); i++)
		if (landlock_ruleset_allow_folder(ruleset, resolver_folders[i], err) < 0)
			return -1;
	if (made > 0 && refused.net != 0 &&
	    landlock_ruleset_allow_port(ruleset, NAME_SERVER_PORT, err) < 0)
		return -1;
	if (made > 0 && landlock_ruleset_enter(ruleset, err) < 0)
		return -1;
	return seccomp_helper_enter_wide(NULL, 0, err);
}
