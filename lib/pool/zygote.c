/* SPDX-License-Identifier: MIT */
#include "pool/zygote.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "pool/slot.h"
#include "proc/interpreter.h"
#include "proc/sandbox.h"
#include "runner/runner.h"
#include "sandbox/wire/wire.h"
#include "workspace/workspace.h"

struct zygote {
	const struct session_host *host;
	const struct language *language;
	void (*changed)(void *data, bool failed);
	void *data;
	struct loop_defer tell;
	struct workspace *workspace; /* the nursery's, from the first start on, as the sandbox */
	struct sandbox *nursery;
	struct runner *runner; /* NULL: ZYGOTE_NONE */
	struct interpreter *serving;
	struct loop_io channel; /* our end of what it is asked over */
	enum zygote_state state;
	char *modules;    /* to be imported, with commas between */
	char *next;       /* what is left of them; NULL: nothing */
	uint64_t load_ms; /* when the import of one began, or all */
	bool brief;       /* what LOADING it does takes milliseconds, and is not stopped */
	bool paused;
	bool warned; /* of copies that could not be made */
};

static void on_tell(struct loop_defer *defer)
{
	struct zygote *parent = container_of(defer, struct zygote, tell);
	bool failed = parent->state == ZYGOTE_FAILED;

	if (failed)
		zygote_drop(parent);
	parent->changed(parent->data, failed);
}

static void tell(struct zygote *parent)
{
	loop_defer_start(parent->host->loop, &parent->tell, on_tell);
}

/* The runner is not freed within its own call. */
static void fail(struct zygote *parent)
{
	parent->state = ZYGOTE_FAILED;
	parent->serving = NULL;
	loop_io_stop(&parent->channel);
	tell(parent);
}

/* An init ends the channel when it got no answer in time. */
static void on_channel(struct loop_io *io, uint32_t events)
{
	struct zygote *parent = container_of(io, struct zygote, channel);
	cleanup_wire struct wire_message message = { 0 };
	struct err err;
	int got = wire_receive(io->fd, &message, &err);

	(void)events;
	if (got < 0 && err.code == ERR_BUSY)
		return;
	if (got != 1 || message.type != WIRE_FAILED) {
		/* Before that it says why. */
		if (parent->state == ZYGOTE_SERVING)
			log_warn("parent",
				 "what sessions are forked from ended, or did not answer");
		fail(parent);
	} else if (!parent->warned) {
		parent->warned = true;
		wire_get_err(&message, &err);
		log_warn("parent", "what sessions are forked from makes no copy: %s", err.msg);
	}
}

/* ---- what it does by and by ---- */

static void on_serving(const struct query_answer *answer, void *data)
{
	struct zygote *parent = data;

	if (answer->problem != NULL || parent->state == ZYGOTE_FAILED)
		return; /* told otherwise */
	zygote_pause(parent, false);
	parent->state = ZYGOTE_SERVING;
	parent->serving = runner_interpreter(parent->runner);
	if (!zygote_wants_load(parent))
		log_info("parent", "%s is ready: sessions are forked from it",
			 parent->language->name);
	else
		log_debug("parent", "%s serves%s", parent->language->name,
			  zygote_wants_ready(parent) ? "" : ", and its driver is ready");
	tell(parent);
}

static void on_loaded(const struct query_answer *answer, void *data)
{
	struct zygote *parent = data;

	if (answer->problem != NULL || parent->state == ZYGOTE_FAILED)
		return;
	runner_keep_compiled(parent->runner, answer);
	runner_serve(parent->runner, parent->host->parent_library, on_serving, parent);
}

static void load_next(struct zygote *parent)
{
	const char *module = strsep(&parent->next, ",");

	if (parent->next != NULL && parent->next[0] == '\0')
		parent->next = NULL;
	runner_preload(parent->runner, module, on_loaded, parent);
}

static int begin(struct zygote *parent, struct err *err)
{
	const struct interpreter *interpreter = runner_interpreter(parent->runner);

	if (loop_io_start(parent->host->loop, &parent->channel,
			  interpreter_descriptor(interpreter, "fork"), EPOLLIN, on_channel,
			  err) < 0)
		return -1;
	runner_serve(parent->runner, parent->host->parent_library, on_serving, parent);
	return 0;
}

/* ---- what its runner tells ---- */

static void on_moved(struct runner *runner)
{
	struct zygote *parent = runner_owner(runner);
	struct err err = { .msg = "" };

	if (runner_state(runner) == RUNNER_STARTING ||
	    (runner_state(runner) == RUNNER_READY && begin(parent, &err) == 0))
		return;
	if (err.msg[0] != '\0')
		log_warn("parent", "%s", err.msg);
	fail(parent);
}

static void on_wrote(struct runner *runner, const char *data, size_t len)
{
	(void)runner;
	(void)data;
	(void)len;
}

static void on_lost(struct runner *runner, const char *why, bool told)
{
	(void)runner;
	(void)told;
	log_info("parent", "lost: %s", why);
}

static const struct runner_handlers runner_handlers = { .lost = on_lost,
							.wrote = on_wrote,
							.moved = on_moved };

/* ---- may there be one? ---- */

/* What an interpreter or a library looks at once, and a copy not again. */
static bool is_read_at_start(const char *name)
{
	static const char *const prefixes[] = {
		"PYTHON",   "LD_",   "MALLOC_", "GLIBC_", "OMP_", "KMP_",  "MKL",
		"OPENBLAS", "GOTO",  "NUMEXPR", "BLIS",   "MPL",  "LC_",   "LANG",
		"NPY_",     "NUMPY", "PANDAS",  "HOME",   "XDG_", "TMPDIR"
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool passes_what_is_read_at_start(const struct user_env *passed)
{
	for (size_t i = 0; i < passed->count; i++)
		if (is_read_at_start(passed->items[i].name))
			return true;
	return false;
}

/* Below /usr, where nobody but root writes: then its packages are there too, or not shown to it. */
static bool is_system(const struct session_host *host, const struct language *language)
{
	struct interpreter_path path;
	struct err err;
	bool is;

	if (confinement_locate(host->confinement, language, &path, &err) < 0)
		return false;
	is = strncmp(path.path, "/usr/", strlen("/usr/")) == 0 &&
	     strncmp(path.path, "/usr/local/", strlen("/usr/local/")) != 0;
	locate_release(&path);
	return is;
}

static bool is_possible(const struct session_host *host, const struct language *language)
{
	const struct settings *settings = host->settings;

	return settings->fork && host->parent_library != NULL && language->preloads &&
	       settings->limits.memory_max >= SLOT_PRELOAD_MEMORY_MIN &&
	       confinement_facts(host->confinement).tier == POLICY_NAMESPACES &&
	       !passes_what_is_read_at_start(&settings->passed) && is_system(host, language);
}

/* ---- its life ---- */

struct zygote *zygote_new(const struct session_host *host, const struct language *language,
			  void (*changed)(void *data, bool failed), void *data)
{
	struct zygote *parent;

	if (!is_possible(host, language))
		return NULL;
	parent = xcalloc(1, sizeof(*parent));
	parent->host = host;
	parent->language = language;
	parent->changed = changed;
	parent->data = data;
	return parent;
}

static void retire_nursery(struct zygote *parent)
{
	if (parent->workspace == NULL)
		return;
	parent->host->retire(parent->host->owner, parent->nursery,
			     workspace_name(parent->workspace), NULL);
	workspace_free(parent->workspace);
	parent->workspace = NULL;
	parent->nursery = NULL;
}

void zygote_free(struct zygote *parent)
{
	if (parent == NULL)
		return;
	zygote_drop(parent);
	retire_nursery(parent);
	free(parent);
}

enum zygote_state zygote_state(const struct zygote *parent)
{
	return parent->state;
}

static int make_nursery(struct zygote *parent, struct err *err)
{
	const struct session_host *host = parent->host;

	/* Nobody lives in a dead one: the sandboxes in it ended with it. */
	if (parent->workspace != NULL && sandbox_is_dead(parent->nursery))
		retire_nursery(parent);
	if (parent->workspace != NULL)
		return 0;
	parent->workspace = workspace_new(host->home, err);
	if (parent->workspace == NULL)
		return -1;
	if (confinement_adopt(host->confinement, parent->workspace, err) < 0) {
		workspace_discard(parent->workspace);
		parent->workspace = NULL;
		return -1;
	}
	parent->nursery = confinement_open_nursery(host->confinement, parent->workspace,
						   host->parent_library);
	return 0;
}

int zygote_start(struct zygote *parent, struct err *err)
{
	/* Begun when it is imported, a thread would be missing in each copy: the driver sets the
	 * numbers right there. */
	static char blas[] = "OPENBLAS_NUM_THREADS";
	static char numexpr[] = "NUMEXPR_NUM_THREADS";
	static char one[] = "1";
	static struct user_env_variable variables[] = { { blas, one, false },
							{ numexpr, one, false } };
	static const struct user_env single_thread = { .items = variables,
						       .count = ARRAY_SIZE(variables) };
	const struct session_host *host = parent->host;
	const struct settings *settings = host->settings;

	assert(parent->state == ZYGOTE_NONE);
	if (make_nursery(parent, err) < 0)
		return -1;
	parent->runner = runner_new(&(struct runner_context){ .loop = host->loop,
							      .sandbox = parent->nursery,
							      .workspace = parent->workspace,
							      .language = parent->language,
							      .confinement = host->confinement,
							      .home = host->home,
							      .handlers = &runner_handlers,
							      .owner = parent,
							      .rules = host->code_rules,
							      /* Nothing that the person passes: a
								 copy gets its own environment. */
							      .passed = &single_thread,
							      .is_parent = true });
	/* By the empty name the driver gets ready. */
	parent->modules = xasprintf(",%s", settings->preload != NULL ? settings->preload : "");
	parent->next = parent->modules;
	parent->state = ZYGOTE_STARTING;
	parent->load_ms = loop_now(host->loop);
	if (runner_prepare(parent->runner, err) == 0)
		return 0;
	zygote_drop(parent);
	return -1;
}

void zygote_drop(struct zygote *parent)
{
	loop_defer_stop(&parent->tell);
	loop_io_stop(&parent->channel);
	parent->serving = NULL;
	parent->state = ZYGOTE_NONE;
	parent->paused = false;
	parent->warned = false;
	runner_free(parent->runner);
	parent->runner = NULL;
	mem_cleanup(&parent->modules);
	parent->modules = NULL;
	parent->next = NULL;
}

bool zygote_wants_ready(const struct zygote *parent)
{
	return parent->next != NULL && parent->next == parent->modules;
}

bool zygote_wants_load(const struct zygote *parent)
{
	return parent->next != NULL;
}

bool zygote_is_starting(const struct zygote *parent)
{
	return parent->state == ZYGOTE_STARTING ||
	       (parent->state == ZYGOTE_LOADING && parent->brief);
}

void zygote_load(struct zygote *parent)
{
	assert(parent->state == ZYGOTE_SERVING && zygote_wants_load(parent));
	parent->serving = NULL;
	parent->state = ZYGOTE_LOADING;
	parent->brief = zygote_wants_ready(parent);
	parent->load_ms = loop_now(parent->host->loop);
	load_next(parent);
}

uint64_t zygote_loading_ms(const struct zygote *parent)
{
	return loop_now(parent->host->loop) - parent->load_ms;
}

void zygote_pause(struct zygote *parent, bool pause)
{
	if (parent->state != ZYGOTE_LOADING || parent->brief || parent->paused == pause)
		return;
	parent->paused = pause;
	runner_pause(parent->runner, pause);
}

const int *zygote_sandbox(const struct zygote *parent)
{
	if (parent == NULL || parent->serving == NULL || sandbox_is_dead(parent->nursery))
		return NULL;
	return sandbox_nursery(parent->nursery);
}

struct interpreter *const *zygote_interpreter(const struct zygote *parent)
{
	return parent != NULL ? &parent->serving : NULL;
}
