/* SPDX-License-Identifier: MIT */
/*
 * toy.h - a language beside those of the table: what lib/README.md says of adding one, done.
 *
 * Its folder holds the row and the driver, and nothing else knows of it. After <stdlib.h>.
 */
#ifndef TEST_TOY_H
#define TEST_TOY_H

#include <fcntl.h>

#include "base/fd.h"
#include "base/mem.h"
#include "runtime/frame.h"
#include "runtime/language.h"

enum { TOY_DRIVER_MAX = 64 << 10 };

/* The driver comes as the first frame; the stub reads it. */
static void toy_boot(struct buf *out, const struct buf *compiled)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *source = fd_read_file(AT_FDCWD, TEST_DATA "/../support/toy/driver.pl",
						 TOY_DRIVER_MAX, &len, &err);

	(void)compiled;
	frame_begin(out, "boot", 0, 1);
	frame_add(out, "source", source, source != NULL ? len : 0);
}

static const char *const *toy_arguments(void)
{
	static const char *const argv[] = {
		"-e",
		"open(F,'<&=',3);sub l{my($l,$c)='';$l.=$c while sysread(F,$c,1)&&$c ne\"\\n\";$l}"
		"l();my$n=(split/ /,l())[1];my$s='';"
		"sysread(F,$s,$n-length$s,length$s)while length$s<$n;eval$s;die$@",
		NULL
	};

	return argv;
}

static const char *const toy_aliases[] = { "pl", NULL };
static const char *const toy_commands[] = { "perl", NULL };
static const char *const toy_environment[] = { "PERL_UNICODE=0", NULL };

static const struct language toy_language = {
	.name = "perl",
	.aliases = toy_aliases,
	.env_override = "PTYCELL_PERL",
	.commands = toy_commands,
	.install_hint = "apt install perl",
	.boot = toy_boot,
	.arguments = toy_arguments,
	.environment = toy_environment,
};

#endif
