/* SPDX-License-Identifier: MIT */
/* broker_fixture.h - a broker whose installer is a script of the test's, and a session. Header
 * only. */
#ifndef INSTALL_BROKER_FIXTURE_H
#define INSTALL_BROKER_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/fd.h"
#include "install/broker.h"
#include "json/make.h"
#include "policy/policyfile.h"
#include "session_fixture.h"

enum { HELD_MAX = 4 };

#define ONE_FILE                                                                                   \
	"{\"ok\": true, \"files\": [{\"file\": \"a\", \"sha256\": \"1\"}], \"present\": []}"
#define ONE_ROW "{\"ok\": true, \"packages\": [{\"name\": \"a\", \"version\": \"1.0\"}]}"
#define FETCH "echo fetched >> \"$0.log\"; say '" ONE_FILE "'"
#define UNPACK "mkdir site; echo 'x = 1' > site/a.py; say '" ONE_ROW "'"

struct told {
	int count;
	bool went_well;
	bool cached;
	size_t packages;
	char problem[400];
};

static struct broker *broker;
static struct policyfile *policy;
static struct session *session;
static char *program;
static char *wheels; /* the folder that is the index */
static char *environment[3];
static struct language python;
static struct told told[HELD_MAX];

/*
 * What the installer does in each step: lines of a shell script; `say` answers. "resolve" tells the
 * file.
 */
static inline void script(const char *fetch, const char *unpack)
{
	cleanup_free char *text = xasprintf(
		"#!/bin/sh\nread -r order <&3\nsay() { printf '%%s\\n' \"$1\" >&3; }\n"
		"case $order in *'\"step\":'*resolve*) echo asked >> \"$0.asked\"; say '" ONE_FILE
		"';; "
		"*'\"step\":'*fetch*) %s;; *) %s;; esac\nread -r more <&3\n",
		fetch, unpack);

	scratch_write(fixture.scratch.fd, "installer", text);
	assert_int_equal(fchmodat(fixture.scratch.fd, "installer", 0755, 0), 0);
}

static inline int set_up(void **state)
{
	struct err err = { 0 };

	(void)state;
	fixture_open();
	memset(told, 0, sizeof(told));
	program = xasprintf("%s/installer", fixture.scratch.path);
	environment[0] = xasprintf("PTYCELL_FAKE=%s", program);
	environment[1] = xstrdup("PATH=/usr/bin:/bin");
	python = fixture_language;
	python.name = "python";
	fixture.settings.environment = environment;
	assert_int_equal(mkdirat(fixture.scratch.fd, "wheels", 0700), 0);
	fixture.settings.pip_index = wheels = xasprintf("%s/wheels", fixture.scratch.path);
	fixture.settings.install_timeout = 600;
	fixture.settings.install_max = 1 << 20;
	fixture.settings.install_files_max = 100;
	fixture.settings.packages_max = 1 << 20;
	script(FETCH, UNPACK);
	policy = policyfile_load(NULL, &err);
	broker = broker_new(&fixture.host, policy, &err);
	session = session_new(&fixture.host, "test", 1, NULL, NULL, &err);
	if (broker == NULL || session == NULL)
		fail_msg("%s", err.msg);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	broker_end(broker);
	session_free(session, "the test ended");
	launcher_free(fixture.launcher);
	fixture.launcher = NULL;
	broker_free(broker);
	policyfile_free(policy);
	fixture_close();
	free(program);
	free(wheels);
	free(environment[0]);
	free(environment[1]);
	return 0;
}

static inline void on_done(void *data, const json_t *result, const char *problem)
{
	struct told *t = data;

	assert_true((result == NULL) != (problem == NULL));
	t->count++;
	t->went_well = result != NULL;
	t->cached = json_is_true(json_object_get(result, "cached"));
	t->packages = json_array_size(json_object_get(result, "packages"));
	(void)snprintf(t->problem, sizeof(t->problem), "%s", problem != NULL ? problem : "");
}

static inline struct install *start_for(const char *package, size_t index, uint64_t cell)
{
	cleanup_json json_t *packages = json_pack("[s]", package);
	const struct install_request wish = { .language = &python,
					      .packages = packages,
					      .cell = cell };
	struct err err = { 0 };
	struct install *install =
		broker_install(broker, session, &wish, on_done, &told[index], &err);

	if (install == NULL)
		fail_msg("%s", err.msg);
	return install;
}

static inline struct install *start(const char *package, size_t index)
{
	return start_for(package, index, 0);
}

static inline const struct told *install(const char *package)
{
	memset(&told[0], 0, sizeof(told[0]));
	(void)start(package, 0);
	fixture_until(told[0].count > 0);
	assert_int_equal(told[0].count, 1);
	return &told[0];
}

static inline void refused(const char *what)
{
	const struct told *t = install("a");

	assert_false(t->went_well);
	if (strstr(t->problem, what) == NULL)
		fail_msg("'%s' is not in '%s'", what, t->problem);
}

static inline bool has_file(void)
{
	int packages = workspace_packages_fd(session_workspace(session));

	return faccessat(packages, "python/a.py", R_OK, 0) == 0;
}

static inline void renew_session(void)
{
	struct err err = { 0 };

	broker_end_folder(broker, workspace_name(session_workspace(session)));
	session_free(session, "another one comes");
	session = session_new(&fixture.host, "test", 2, NULL, NULL, &err);
	assert_non_null(session);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
