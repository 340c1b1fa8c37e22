/* SPDX-License-Identifier: MIT */
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
#include "workspace/workspace.h"

struct slot {
	const struct session_host *host;
	const struct language *language;
	void (*changed)(struct slot *spare, void *data); /* NULL once it is taken */
	void *data;
	struct loop_defer tell;
	struct workspace *workspace; /* NULL when taken */
	struct sandbox *sandbox;     /* likewise, as the runner */
	struct runner *runner;
	int listener;
	enum slot_state state;
	bool lacks_imports; /* that its parent was still to do */
	char *modules;      /* to be imported, with commas between; the empty name: it gets ready */
	char *next;         /* what is left of them; NULL: nothing */
	bool brief;         /* what it loads takes milliseconds: that is not stopped */
	bool paused;
	uint64_t load_ms; /* when the import began, its stops left out */
	uint64_t pause_ms;
	size_t printed;
	uint64_t cpu_ms;
};

static void on_tell(struct loop_defer *defer)
{
	struct slot *spare = container_of(defer, struct slot, tell);

	spare->changed(spare, spare->data);
}

static void set_state(struct slot *spare, enum slot_state state)
{
	if (spare->state == state || spare->state == SLOT_DEAD)
		return;
	spare->state = state;
	if (spare->changed != NULL)
		loop_defer_start(spare->host->loop, &spare->tell, on_tell);
	/* What this has cost so far is not the session's. */
	if (state == SLOT_WAITING)
		sandbox_measure(spare->sandbox, false);
}

/* ---- what its runner tells ---- */

static void on_moved(struct runner *runner)
{
	struct slot *spare = runner_owner(runner);

	if (runner_state(runner) == RUNNER_READY)
		set_state(spare, SLOT_WAITING);
	else if (runner_state(runner) != RUNNER_STARTING)
		set_state(spare, SLOT_DEAD);
}

static void on_wrote(struct runner *runner, const char *data, size_t len)
{
	struct slot *spare = runner_owner(runner);

	(void)data;
	spare->printed += len;
	if (spare->printed > SLOT_PRINTED_MAX)
		set_state(spare, SLOT_DEAD);
}

static void on_lost(struct runner *runner, const char *why, bool told)
{
	(void)runner;
	(void)told;
	log_info("spare", "lost: %s", why);
}

/* The rest is about cells, and there are none. */
static const struct runner_handlers runner_handlers = { .lost = on_lost,
							.wrote = on_wrote,
							.moved = on_moved };

static void on_measured(void *data, const struct sandbox_usage *usage)
{
	struct slot *spare = data;

	spare->cpu_ms = usage->cpu_ms;
}

static void on_relieved(void *data, const struct sandbox_relief *relief)
{
	(void)data;
	(void)relief;
}

static void on_listener(void *data, int listener_own)
{
	struct slot *spare = data;

	spare->listener = listener_own;
}

/* ---- its life ---- */

static void start_sandbox(struct slot *spare, const struct zygote *parent)
{
	static const struct sandbox_watcher watcher = { .measured = on_measured,
							.relieved = on_relieved };
	const struct session_host *host = spare->host;

	spare->sandbox = confinement_open(host->confinement, spare->workspace,
					  &host->settings->limits, zygote_sandbox(parent));
	sandbox_watch(spare->sandbox, &watcher, spare);
	if (confinement_facts(host->confinement).reaches_hosts)
		sandbox_watch_listener(spare->sandbox, on_listener, spare);
}

static int start(struct slot *spare, const struct zygote *parent, struct err *err)
{
	const struct session_host *host = spare->host;

	spare->workspace = workspace_new(host->home, err);
	if (spare->workspace == NULL ||
	    confinement_adopt(host->confinement, spare->workspace, err) < 0)
		return -1;
	start_sandbox(spare, parent);
	spare->runner = runner_new(
		&(struct runner_context){ .loop = host->loop,
					  .sandbox = spare->sandbox,
					  .workspace = spare->workspace,
					  .language = spare->language,
					  .confinement = host->confinement,
					  .home = host->home,
					  .handlers = &runner_handlers,
					  .owner = spare,
					  .passed = &host->settings->passed,
					  .redact = host->settings->redact,
					  .rules = host->code_rules,
					  .parent = zygote_interpreter(parent),
					  .memory_max = host->settings->limits.memory_max,
					  .processes_max = host->settings->limits.processes_max,
					  .spool_max = host->settings->limits.spool_max,
					  .output_chars = host->settings->limits.output_chars });
	return runner_prepare(spare->runner, err);
}

struct slot *slot_new(const struct session_host *host, const struct language *language,
		      const struct zygote *parent, void (*changed)(struct slot *spare, void *data),
		      void *data, struct err *err)
{
	struct slot *spare = xcalloc(1, sizeof(*spare));
	const struct settings *settings = host->settings;
	const char *preload = settings->preload != NULL ? settings->preload : "";

	spare->host = host;
	spare->language = language;
	spare->changed = changed;
	spare->data = data;
	spare->listener = -1;
	spare->lacks_imports = zygote_sandbox(parent) == NULL || zygote_wants_load(parent);
	if (language->gets_ready && settings->limits.memory_max >= SLOT_PRELOAD_MEMORY_MIN)
		spare->modules = xasprintf(
			",%s", language->preloads && zygote_sandbox(parent) == NULL ? preload : "");
	spare->next = spare->modules;
	if (start(spare, parent, err) < 0) {
		slot_free(spare);
		return NULL;
	}
	return spare;
}

void slot_free(struct slot *spare)
{
	if (spare == NULL)
		return;
	runner_free(spare->runner);
	loop_defer_stop(&spare->tell);
	fd_close(&spare->listener);
	if (spare->workspace != NULL)
		spare->host->retire(spare->host->owner, spare->sandbox,
				    workspace_name(spare->workspace), NULL);
	else
		sandbox_close(spare->sandbox, NULL, NULL);
	workspace_free(spare->workspace);
	free(spare->modules);
	free(spare);
}

enum slot_state slot_state(const struct slot *spare)
{
	return spare->state;
}

bool slot_is_lost(const struct slot *spare)
{
	return runner_channel_closed(spare->runner) || sandbox_is_dead(spare->sandbox);
}

const struct language *slot_language(const struct slot *spare)
{
	return spare->language;
}

/* ---- importing ---- */

bool slot_wants_ready(const struct slot *spare)
{
	return spare->next != NULL && spare->next == spare->modules;
}

bool slot_is_outdated(const struct slot *spare, const struct zygote *parent)
{
	return spare->lacks_imports && zygote_sandbox(parent) != NULL && !zygote_wants_load(parent);
}

bool slot_wants_load(const struct slot *spare)
{
	return spare->next != NULL;
}

static void on_loaded(const struct query_answer *answer, void *data)
{
	struct slot *spare = data;

	if (answer->problem != NULL)
		return; /* it dies, which is told otherwise */
	slot_pause(spare, false);
	set_state(spare, SLOT_WAITING);
}

/* To the first question, before any module of the person's: nobody's code has run here yet. */
static void on_first_loaded(const struct query_answer *answer, void *data)
{
	const struct slot *spare = data;

	if (answer->problem == NULL)
		runner_keep_compiled(spare->runner, answer);
	on_loaded(answer, data);
}

void slot_load(struct slot *spare)
{
	const char *module = strsep(&spare->next, ",");

	assert(spare->state == SLOT_WAITING);
	spare->state = SLOT_LOADING;
	spare->brief = module == spare->modules;
	spare->load_ms = loop_now(spare->host->loop);
	runner_preload(spare->runner, module,
		       module == spare->modules ? on_first_loaded : on_loaded, spare);
	if (spare->next != NULL && spare->next[0] == '\0')
		spare->next = NULL;
}

uint64_t slot_loading_ms(const struct slot *spare)
{
	return (spare->paused ? spare->pause_ms : loop_now(spare->host->loop)) - spare->load_ms;
}

void slot_pause(struct slot *spare, bool pause)
{
	if (spare->state != SLOT_LOADING || spare->paused == pause || (pause && spare->brief))
		return;
	if (pause)
		spare->pause_ms = loop_now(spare->host->loop);
	else
		spare->load_ms += loop_now(spare->host->loop) - spare->pause_ms;
	spare->paused = pause;
	runner_pause(spare->runner, pause);
}

/* ---- handing over ---- */

struct workspace *slot_take_workspace(struct slot *spare)
{
	struct workspace *workspace = spare->workspace;

	assert(spare->state == SLOT_WAITING || spare->state == SLOT_STARTING);
	spare->workspace = NULL;
	spare->changed = NULL;
	loop_defer_stop(&spare->tell);
	return workspace;
}

struct sandbox *slot_take_sandbox(struct slot *spare, int *ret_listener, uint64_t *ret_cpu_ms)
{
	struct sandbox *sandbox = spare->sandbox;

	*ret_listener = -1;
	*ret_cpu_ms = 0;
	if (spare->state == SLOT_DEAD)
		return NULL;
	*ret_listener = fd_steal(&spare->listener);
	*ret_cpu_ms = spare->cpu_ms;
	spare->sandbox = NULL;
	return sandbox;
}

struct runner *slot_take_runner(struct slot *spare, const struct runner_context *context)
{
	struct runner *runner = spare->runner;

	if (spare->state == SLOT_DEAD || context->language != spare->language)
		return NULL;
	spare->runner = NULL;
	runner_adopt(runner, context);
	return runner;
}
