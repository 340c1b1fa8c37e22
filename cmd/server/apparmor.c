/* SPDX-License-Identifier: MIT */
#include "apparmor.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "helper/helper.h"

/* Ubuntu's own profiles for browsers have this form. */
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
	/* It would end the quoted name, or be a pattern. */
	if (strpbrk(real, "\"*?[]{}\\\n") != NULL) {
		fprintf(stderr, "ptycell: install ptycell at a path without special characters\n");
		return 1;
	}
	printf(profile, real);
	return 0;
}
