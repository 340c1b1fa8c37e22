/* SPDX-License-Identifier: MIT */
/* indexes_fixture.h - settings, variables and files that say where packages come from. Header only.
 */
#ifndef INSTALL_INDEXES_FIXTURE_H
#define INSTALL_INDEXES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/shares.h"
#include "install/indexes.h"
#include "json/make.h"
#include "scratch.h"

enum { VARIABLES_MAX = 12 };

static struct scratch scratch;
static char *variables[VARIABLES_MAX + 1];
static struct settings settings;
static struct settings_share share;
static struct shares *shares; /* NULL: there are none */
static const struct language python = { .name = "python" };
static const struct language javascript = { .name = "javascript" };
static const struct language r = { .name = "r" };

static void set_variable(const char *name, const char *value)
{
	size_t i = 0;

	while (variables[i] != NULL)
		i++;
	assert_true(i < VARIABLES_MAX);
	variables[i] = xasprintf("%s=%s", name, value);
}

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	set_variable("HOME", scratch.path);
	/* This machine's own files are not what is tested: a later file wins. */
	set_variable("PIP_CONFIG_FILE", "/dev/null");
	settings = (struct settings){ .environment = variables };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; variables[i] != NULL; i++) {
		free(variables[i]);
		variables[i] = NULL;
	}
	shares_free(shares);
	shares = NULL;
	mem_cleanup(&share.path);
	scratch_release(&scratch);
	return 0;
}

static void use_pip_conf(const char *text)
{
	scratch_write(scratch.fd, "pip.conf", text);
	free(variables[1]);
	variables[1] = xasprintf("PIP_CONFIG_FILE=%s/pip.conf", scratch.path);
}

static void read_it(const struct language *language, struct indexes *ret_indexes)
{
	struct err err = { 0 };

	if (indexes_read(&settings, shares, language, ret_indexes, &err) < 0)
		fail_msg("%s", err.msg);
}

static enum err_code refuse(const struct language *language, const char *what)
{
	struct indexes indexes;
	struct err err = { 0 };

	assert_int_equal(indexes_read(&settings, shares, language, &indexes, &err), -1);
	if (strstr(err.msg, what) == NULL || strstr(err.msg, "s3cr") != NULL)
		fail_msg("no '%s', or a password: '%s'", what, err.msg);
	return err.code;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
