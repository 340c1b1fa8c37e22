/* SPDX-License-Identifier: MIT */
/*
 * doctor_packages.c - builds a service and asks its broker to check each installer in the sandbox
 * of an installation. The policy file is loaded as the server does, because its package rules hold
 * here as well.
 */
#include "doctor_packages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/confinement.h"
#include "doctor.h"
#include "event/loop.h"
#include "install/broker.h"
#include "install/indexes.h"
#include "policy/policyfile.h"
#include "report_lines.h"
#include "runtime/language.h"
#include "text/sanitize.h"
#include "tools/service.h"

enum { PATIENCE_S = 60, FROM_CHARS = 400 };

struct checkup {
	struct loop *loop;
	struct service *service;
	const struct settings *settings;
	const char *language; /* of the installer that is being checked */
	bool over;
	bool good;
};

static const char *other_index_hint(const char *language)
{
	if (str_eq(language, "javascript"))
		return "To take another registry: npm config set registry URL";
	if (str_eq(language, "r"))
		return "To take another repository: PTYCELL_R_REPOS=URL, or a folder";
	return "To take another index: PTYCELL_PIP_INDEX=URL, or a folder of wheels";
}

/*
 * Prints the result. Its texts are untrusted: they come from programs that read what indexes send.
 */
static void report_result(const struct checkup *c, const json_t *result)
{
	const char *tool = json_string_value(json_object_get(result, "tool"));
	const char *from = json_string_value(json_object_get(result, "from"));
	cleanup_free char *shown_tool = sanitize_quote(tool != NULL ? tool : "?");
	cleanup_buf struct buf shown_from = BUF_INIT(BUF_UNBOUNDED);

	if (from != NULL)
		sanitize_line(&shown_from, from, strlen(from), FROM_CHARS);
	report_line(c->language, "%s, packages from %s", shown_tool, buf_str(&shown_from));
}

static void on_checked(void *data, const json_t *result, const char *problem)
{
	struct checkup *c = data;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	c->over = true;
	if (result != NULL) {
		report_result(c, result);
		return;
	}
	c->good = false;
	sanitize_block(&text, problem, strlen(problem));
	report_text(c->language, buf_str(&text));
	report_line("", "%s", other_index_hint(c->language));
}

/*
 * Returns false for a missing interpreter and an installer that the user turned off. They are no
 * failures.
 */
static bool is_wanted(const struct checkup *c, const struct language *language, struct err *err)
{
	struct interpreter_path path;
	struct indexes indexes;

	if (language_locate(language, c->settings->environment, &path, err) < 0)
		return false;
	locate_release(&path);
	if (indexes_read(c->settings, confinement_facts(service_confinement(c->service)).shares,
			 language, &indexes, err) == 0)
		indexes_release(&indexes);
	else if (err->code == ERR_DENIED)
		return false;
	return true;
}

static void check_installer(struct checkup *c, struct broker *broker, const char *name)
{
	const struct language *language = language_find(name);
	struct err err;

	if (!is_wanted(c, language, &err)) {
		report_line(name, "%s", err.msg);
		return;
	}
	c->language = name;
	c->over = false;
	(void)broker_check(broker, language, on_checked, c);
	doctor_turn_until(c->loop, &c->over);
}

static bool check_all(struct checkup *c, struct err *err)
{
	struct confinement *confinement = service_confinement(c->service);
	struct broker *broker;
	bool settled = false;

	if (confinement == NULL || service_table(c->service, err) == NULL)
		return false;
	confinement_settle(confinement, doctor_note_end, &settled);
	doctor_turn_until(c->loop, &settled);
	if (confinement_facts(confinement).refusal != NULL) {
		(void)err_set(err, ERR_DENIED, "no code runs here: ptycell doctor says why");
		return false;
	}
	broker = service_broker(c->service, err);
	if (broker == NULL)
		return false;
	check_installer(c, broker, "python");
	check_installer(c, broker, "javascript");
	check_installer(c, broker, "r");
	if (!c->good && !confinement_facts(confinement).rooted)
		report_line("",
			    "In this tier installers have no network; folders of packages work.");
	return true;
}

static bool run_checkup(struct loop *loop, struct settings *settings,
			const struct policyfile *policy)
{
	struct checkup c = { .loop = loop, .settings = settings, .good = true };
	struct err err = { .msg = "ptycell is not whole: ptycell doctor says what is missing" };
	bool closed = false;

	settings->spares = 0;
	if (getenv("PTYCELL_INSTALL_TIMEOUT") == NULL)
		settings->install_timeout = PATIENCE_S;
	c.service = service_new(loop, settings, policy);
	if (!check_all(&c, &err)) {
		report_line("packages", "%s", err.msg);
		c.good = false;
	}
	service_close(c.service, doctor_note_end, &closed);
	doctor_turn_until(c.loop, &closed);
	service_free(c.service);
	return c.good;
}

bool doctor_packages(struct settings *settings)
{
	struct err err;
	struct policyfile *policy = policyfile_load(settings->policy, &err);
	struct loop *loop = policy != NULL ? loop_new(clock_ms, &err) : NULL;
	bool good = false;

	if (loop != NULL)
		good = run_checkup(loop, settings, policy);
	else
		report_line("packages", "%s", err.msg);
	if (loop != NULL)
		loop_free(loop);
	policyfile_free(policy);
	return good;
}
