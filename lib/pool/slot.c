/* SPDX-License-Identifier: MIT */
/*
 * slot.c - one prestarted sandbox. Its runner has no cells, only preload queries. Processor time
 * and output from before the handover are not the session's: the time is measured, and the output
 * since the start is dropped.
 */
#include "pool/slot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "pool/zygote.h"
#include "proc/sandbox.h"
#include "runner/session_programs.h"
#include "workspace/workspace.h"

struct slot {
	const struct session_host *host;
	const struct language *language;
	void (*changed)(struct slot *slot, void *data); /* NULL once the slot is taken */
	void *data;
	struct loop_defer report;
	struct workspace *workspace; /* NULL when taken */
	struct sandbox *sandbox;     /* NULL when taken, as the runner */
	struct runner *runner;
	int listener;
	enum slot_state state;
	bool lacks_imports; /* which its zygote had not made yet */
	char *modules; /* modules to import, separated by commas; the empty name warms up the driver
			*/
	char *next;    /* the rest of them; NULL: none */
	bool brief;    /* the current step takes milliseconds and is not paused */
	bool paused;
	uint64_t load_ms; /* when the import began, moved on by its pauses */
	uint64_t pause_ms;
	size_t printed;
	uint64_t cpu_ms;
};

static void on_report(struct loop_defer *defer)
{
	struct slot *slot = container_of(defer, struct slot, report);

	slot->changed(slot, slot->data);
}

static void set_state(struct slot *slot, enum slot_state state)
{
	if (slot->state == state || slot->state == SLOT_DEAD)
		return;
	slot->state = state;
	if (slot->changed != NULL)
		loop_defer_start(slot->host->loop, &slot->report, on_report);
	/* processor time so far is not the session's */
	if (state == SLOT_WAITING)
		sandbox_measure(slot->sandbox, false);
}

/* ---- runner handlers ---- */

static void on_moved(struct runner *runner)
{
	struct slot *slot = runner_owner(runner);

	if (runner_state(runner) == RUNNER_READY)
		set_state(slot, SLOT_WAITING);
	else if (runner_state(runner) != RUNNER_STARTING)
		set_state(slot, SLOT_DEAD);
}

static void on_wrote(struct runner *runner, const char *data, size_t len)
{
	struct slot *slot = runner_owner(runner);

	(void)data;
	slot->printed += len;
	if (slot->printed > SLOT_PRINTED_MAX)
		set_state(slot, SLOT_DEAD);
}

static void on_lost(struct runner *runner, const char *why, bool reported)
{
	(void)runner;
	(void)reported;
	log_info("spare", "lost: %s", why);
}

/* The other handlers are about cells, and there are none. */
static const struct runner_handlers runner_handlers = { .lost = on_lost,
							.wrote = on_wrote,
							.moved = on_moved };

static void on_measured(void *data, const struct sandbox_usage *usage)
{
	struct slot *slot = data;

	slot->cpu_ms = usage->cpu_ms;
}

static void on_victims_killed(void *data, const struct sandbox_killed *killed)
{
	(void)data;
	(void)killed;
}

static void on_listener(void *data, int listener_own)
{
	struct slot *slot = data;

	slot->listener = listener_own;
}

/* ---- life ---- */

static void start_sandbox(struct slot *slot, const struct zygote *zygote)
{
	static const struct sandbox_watcher watcher = { .measured = on_measured,
							.killed = on_victims_killed };
	const struct session_host *host = slot->host;

	slot->sandbox = confinement_open(host->confinement, slot->workspace,
					 &host->settings->limits, zygote_sandbox(zygote));
	session_programs_write(host->confinement, slot->workspace);
	sandbox_watch(slot->sandbox, &watcher, slot);
	if (confinement_facts(host->confinement).reaches_hosts)
		sandbox_watch_listener(slot->sandbox, on_listener, slot);
}

static int start_slot(struct slot *slot, const struct zygote *zygote, struct err *err)
{
	const struct session_host *host = slot->host;

	slot->workspace = workspace_new(host->home, err);
	if (slot->workspace == NULL ||
	    confinement_adopt_early(host->confinement, slot->workspace, err) < 0)
		return -1;
	start_sandbox(slot, zygote);
	slot->runner = runner_new(
		&(struct runner_context){ .loop = host->loop,
					  .sandbox = slot->sandbox,
					  .workspace = slot->workspace,
					  .language = slot->language,
					  .confinement = host->confinement,
					  .home = host->home,
					  .handlers = &runner_handlers,
					  .owner = slot,
					  .user_env = &host->settings->user_env,
					  .redact = host->settings->redact,
					  .rules = host->code_rules,
					  .zygote = zygote_interpreter(zygote),
					  .memory_max = host->settings->limits.memory_max,
					  .processes_max = host->settings->limits.processes_max,
					  .spool_max = host->settings->limits.spool_max,
					  .output_chars = host->settings->limits.output_chars });
	/* Accounts are looked up while the launcher is at work. */
	return runner_prepare(slot->runner, err) < 0
		       ? -1
		       : confinement_check_owner(slot->workspace, err);
}

struct slot *slot_new(const struct session_host *host, const struct language *language,
		      const struct zygote *zygote, void (*changed)(struct slot *slot, void *data),
		      void *data, struct err *err)
{
	struct slot *slot = xcalloc(1, sizeof(*slot));
	const struct settings *settings = host->settings;
	const char *preload = settings->preload != NULL ? settings->preload : "";

	slot->host = host;
	slot->language = language;
	slot->changed = changed;
	slot->data = data;
	slot->listener = -1;
	slot->lacks_imports = zygote_sandbox(zygote) == NULL || zygote_wants_load(zygote);
	if (language->warms_up && settings->limits.memory_max >= SLOT_PRELOAD_MEMORY_MIN)
		slot->modules = xasprintf(
			",%s", language->preloads && zygote_sandbox(zygote) == NULL ? preload : "");
	slot->next = slot->modules;
	if (start_slot(slot, zygote, err) < 0) {
		slot_free(slot);
		return NULL;
	}
	return slot;
}

void slot_free(struct slot *slot)
{
	if (slot == NULL)
		return;
	runner_free(slot->runner);
	loop_defer_stop(&slot->report);
	fd_close(&slot->listener);
	if (slot->workspace != NULL)
		slot->host->retire(slot->host->owner, slot->sandbox,
				   workspace_name(slot->workspace), NULL, false);
	else
		sandbox_close(slot->sandbox, NULL, NULL);
	workspace_free(slot->workspace);
	free(slot->modules);
	free(slot);
}

enum slot_state slot_state(const struct slot *slot)
{
	return slot->state;
}

bool slot_is_lost(const struct slot *slot)
{
	return runner_channel_closed(slot->runner) || sandbox_is_dead(slot->sandbox);
}

const struct language *slot_language(const struct slot *slot)
{
	return slot->language;
}

/* ---- importing ---- */

bool slot_wants_ready(const struct slot *slot)
{
	return slot->next != NULL && slot->next == slot->modules;
}

bool slot_is_outdated(const struct slot *slot, const struct zygote *zygote)
{
	return slot->lacks_imports && zygote_sandbox(zygote) != NULL && !zygote_wants_load(zygote);
}

bool slot_wants_load(const struct slot *slot)
{
	return slot->next != NULL;
}

static void on_loaded(const struct query_answer *answer, void *data)
{
	struct slot *slot = data;

	if (answer->problem != NULL)
		return; /* the interpreter dies, which is reported otherwise */
	slot_pause(slot, false);
	set_state(slot, SLOT_WAITING);
}

/*
 * Handles the answer to the first query, before any of the user's modules: no session code has run
 * here yet, so that the compiled driver may be stored.
 */
static void on_first_loaded(const struct query_answer *answer, void *data)
{
	const struct slot *slot = data;

	if (answer->problem == NULL)
		runner_keep_compiled(slot->runner, answer);
	on_loaded(answer, data);
}

void slot_load(struct slot *slot)
{
	const char *module = strsep(&slot->next, ",");

	assert(slot->state == SLOT_WAITING);
	slot->state = SLOT_LOADING;
	slot->brief = module == slot->modules;
	slot->load_ms = loop_now(slot->host->loop);
	runner_preload(slot->runner, module, module == slot->modules ? on_first_loaded : on_loaded,
		       slot);
	if (slot->next != NULL && slot->next[0] == '\0')
		slot->next = NULL;
}

uint64_t slot_loading_ms(const struct slot *slot)
{
	return (slot->paused ? slot->pause_ms : loop_now(slot->host->loop)) - slot->load_ms;
}

void slot_pause(struct slot *slot, bool pause)
{
	if (slot->state != SLOT_LOADING || slot->paused == pause || (pause && slot->brief))
		return;
	if (pause)
		slot->pause_ms = loop_now(slot->host->loop);
	else
		slot->load_ms += loop_now(slot->host->loop) - slot->pause_ms;
	slot->paused = pause;
	runner_pause(slot->runner, pause);
}

/* ---- handover ---- */

struct workspace *slot_take_workspace(struct slot *slot)
{
	struct workspace *workspace = slot->workspace;

	assert(slot->state == SLOT_WAITING || slot->state == SLOT_STARTING);
	slot->workspace = NULL;
	slot->changed = NULL;
	loop_defer_stop(&slot->report);
	return workspace;
}

struct sandbox *slot_take_sandbox(struct slot *slot, int *ret_listener, uint64_t *ret_cpu_ms)
{
	struct sandbox *sandbox = slot->sandbox;

	*ret_listener = -1;
	*ret_cpu_ms = 0;
	if (slot->state == SLOT_DEAD)
		return NULL;
	*ret_listener = fd_steal(&slot->listener);
	*ret_cpu_ms = slot->cpu_ms;
	slot->sandbox = NULL;
	return sandbox;
}

struct runner *slot_take_runner(struct slot *slot, const struct runner_context *context)
{
	struct runner *runner = slot->runner;

	if (slot->state == SLOT_DEAD || context->language != slot->language)
		return NULL;
	slot->runner = NULL;
	runner_adopt(runner, context);
	return runner;
}
