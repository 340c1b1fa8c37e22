/* SPDX-License-Identifier: MIT */
/*
 * apparmor.c - prints the profile with the launcher's path.
 *
 * The profile is unconfined apart from its one rule, as those that Ubuntu ships for browsers.
 * Confinement is the launcher's own work; the profile only returns the right to create user
 * namespaces. It names the launcher by its resolved path, which therefore must hold no special
 * characters of AppArmor.
 */
#include "apparmor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "helper/helper.h"

/* Has the form of the profiles that Ubuntu ships for browsers. */
static const char profile[] =
	"# Lets ptycell-launcher make the user namespaces in which it confines code.\n"
	"# sudo apparmor_parser -r /etc/apparmor.d/ptycell loads it.\n"
	"abi <abi/4.0>,\n"
	"include <tunables/global>\n"
	"\n"
	"profile ptycell-launcher \"%s\" flags=(unconfined) {\n"
	"  userns,\n"
	"  include if exists <local/ptycell>\n"
	"}\n";

int apparmor_main(void)
{
	struct err err;
	cleanup_free char *found = helper_locate("ptycell-launcher", &err);
	cleanup_free char *real = found != NULL ? realpath(found, NULL) : NULL;

	if (real == NULL) {
		fprintf(stderr, "ptycell: %s\n", err.msg);
		return 1;
	}
	/* These characters would end the quoted name, or act as a pattern. */
	if (strpbrk(real, "\"*?[]{}\\\n") != NULL) {
		fprintf(stderr, "ptycell: install ptycell at a path without special characters\n");
		return 1;
	}
	printf(profile, real);
	return 0;
}
