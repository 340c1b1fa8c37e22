/* SPDX-License-Identifier: MIT */
/*
 * zygote.c - the interpreter that sessions are forked from, and its sandbox. Init of a session
 * talks to it directly, over the channel `fork`. The server sees only failures there, and the end
 * of the channel, with which an init that got no answer in time ends the zygote.
 */
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
	struct loop_defer report;
	struct workspace *workspace; /* of the zygote sandbox; both exist from the first start on */
	struct sandbox *sandbox;
	struct runner *runner; /* NULL in ZYGOTE_NONE */
	struct interpreter *serving;
	struct loop_io channel; /* the server's end of the channel `fork` */
	enum zygote_state state;
	char *modules;    /* modules to import, separated by commas */
	char *next;       /* the rest of them; NULL: none */
	uint64_t load_ms; /* when the current import began, or the start */
	bool brief;       /* the current step takes milliseconds and is not paused */
	bool paused;
	bool warned; /* a failed fork was logged */
};

static void on_report(struct loop_defer *defer)
{
	struct zygote *zygote = container_of(defer, struct zygote, report);
	bool failed = zygote->state == ZYGOTE_FAILED;

	if (failed)
		zygote_drop(zygote);
	zygote->changed(zygote->data, failed);
}

static void report_change(struct zygote *zygote)
{
	loop_defer_start(zygote->host->loop, &zygote->report, on_report);
}

/* Deferred, because the runner must not be freed within its own call. */
static void fail_zygote(struct zygote *zygote)
{
	zygote->state = ZYGOTE_FAILED;
	zygote->serving = NULL;
	loop_io_stop(&zygote->channel);
	report_change(zygote);
}

/* An init closes the channel when it got no answer in time. */
static void on_channel(struct loop_io *io, uint32_t events)
{
	struct zygote *zygote = container_of(io, struct zygote, channel);
	cleanup_wire struct wire_message message = { 0 };
	struct err err;
	int got = wire_receive(io->fd, &message, &err);

	(void)events;
	if (got < 0 && err.code == ERR_BUSY)
		return;
	if (got != 1 || message.type != WIRE_FAILED) {
		/* the failure was logged before */
		if (zygote->state == ZYGOTE_SERVING)
			log_warn("parent",
				 "what sessions are forked from ended, or did not answer");
		fail_zygote(zygote);
	} else if (!zygote->warned) {
		zygote->warned = true;
		wire_get_err(&message, &err);
		log_warn("parent", "what sessions are forked from makes no copy: %s", err.msg);
	}
}

/* ---- serving and importing ---- */

static void on_serving(const struct query_answer *answer, void *data)
{
	struct zygote *zygote = data;

	if (answer->problem != NULL || zygote->state == ZYGOTE_FAILED)
		return; /* reported otherwise */
	zygote_pause(zygote, false);
	zygote->state = ZYGOTE_SERVING;
	zygote->serving = runner_interpreter(zygote->runner);
	if (!zygote_wants_load(zygote))
		log_info("parent", "%s is ready: sessions are forked from it",
			 zygote->language->name);
	else
		log_debug("parent", "%s serves%s", zygote->language->name,
			  zygote_wants_ready(zygote) ? "" : ", and its driver is ready");
	report_change(zygote);
}

static void on_loaded(const struct query_answer *answer, void *data)
{
	struct zygote *zygote = data;

	if (answer->problem != NULL || zygote->state == ZYGOTE_FAILED)
		return;
	runner_keep_compiled(zygote->runner, answer);
	runner_serve(zygote->runner, zygote->host->zygote_library, on_serving, zygote);
}

static void load_next(struct zygote *zygote)
{
	const char *module = strsep(&zygote->next, ",");

	if (zygote->next != NULL && zygote->next[0] == '\0')
		zygote->next = NULL;
	runner_preload(zygote->runner, module, on_loaded, zygote);
}

static int begin_serving(struct zygote *zygote, struct err *err)
{
	const struct interpreter *interpreter = runner_interpreter(zygote->runner);

	if (loop_io_start(zygote->host->loop, &zygote->channel,
			  interpreter_descriptor(interpreter, "fork"), EPOLLIN, on_channel,
			  err) < 0)
		return -1;
	runner_serve(zygote->runner, zygote->host->zygote_library, on_serving, zygote);
	return 0;
}

/* ---- runner handlers ---- */

static void on_moved(struct runner *runner)
{
	struct zygote *zygote = runner_owner(runner);
	struct err err = { .msg = "" };

	if (runner_state(runner) == RUNNER_STARTING ||
	    (runner_state(runner) == RUNNER_READY && begin_serving(zygote, &err) == 0))
		return;
	if (err.msg[0] != '\0')
		log_warn("parent", "%s", err.msg);
	fail_zygote(zygote);
}

static void on_wrote(struct runner *runner, const char *data, size_t len)
{
	(void)runner;
	(void)data;
	(void)len;
}

static void on_lost(struct runner *runner, const char *why, bool reported)
{
	(void)runner;
	(void)reported;
	log_info("parent", "lost: %s", why);
}

static const struct runner_handlers runner_handlers = { .lost = on_lost,
							.wrote = on_wrote,
							.moved = on_moved };

/* ---- conditions ---- */

/* Returns whether an interpreter or a library reads this variable only once, at its start. */
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

static bool sets_startup_variable(const struct user_env *user_env)
{
	for (size_t i = 0; i < user_env->count; i++)
		if (is_read_at_start(user_env->items[i].name))
			return true;
	return false;
}

/*
 * Returns whether the interpreter is below /usr, where only root writes. Its packages are then
 * there, too, or hidden from it.
 */
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

	return settings->fork && host->zygote_library != NULL && language->preloads &&
	       settings->limits.memory_max >= SLOT_PRELOAD_MEMORY_MIN &&
	       confinement_facts(host->confinement).tier == POLICY_NAMESPACES &&
	       !sets_startup_variable(&settings->user_env) && is_system(host, language);
}

/* ---- life ---- */

struct zygote *zygote_new(const struct session_host *host, const struct language *language,
			  void (*changed)(void *data, bool failed), void *data)
{
	struct zygote *zygote;

	if (!is_possible(host, language))
		return NULL;
	zygote = xcalloc(1, sizeof(*zygote));
	zygote->host = host;
	zygote->language = language;
	zygote->changed = changed;
	zygote->data = data;
	return zygote;
}

static void retire_sandbox(struct zygote *zygote)
{
	if (zygote->workspace == NULL)
		return;
	zygote->host->retire(zygote->host->owner, zygote->sandbox,
			     workspace_name(zygote->workspace), NULL, false);
	workspace_free(zygote->workspace);
	zygote->workspace = NULL;
	zygote->sandbox = NULL;
}

void zygote_free(struct zygote *zygote)
{
	if (zygote == NULL)
		return;
	zygote_drop(zygote);
	retire_sandbox(zygote);
	free(zygote);
}

enum zygote_state zygote_state(const struct zygote *zygote)
{
	return zygote->state;
}

static int make_sandbox(struct zygote *zygote, struct err *err)
{
	const struct session_host *host = zygote->host;

	/* no session is left in a dead one: their sandboxes ended with it */
	if (zygote->workspace != NULL && sandbox_is_dead(zygote->sandbox))
		retire_sandbox(zygote);
	if (zygote->workspace != NULL)
		return 0;
	zygote->workspace = workspace_new(host->home, err);
	if (zygote->workspace == NULL)
		return -1;
	if (confinement_adopt(host->confinement, zygote->workspace, err) < 0) {
		workspace_discard(zygote->workspace);
		zygote->workspace = NULL;
		return -1;
	}
	zygote->sandbox =
		confinement_open_zygote(host->confinement, zygote->workspace, host->zygote_library);
	return 0;
}

int zygote_start(struct zygote *zygote, struct err *err)
{
	/*
	 * A library starts its threads when it is imported, and a fork would lack them. The driver
	 * sets the numbers right in each fork.
	 */
	static char blas[] = "OPENBLAS_NUM_THREADS";
	static char numexpr[] = "NUMEXPR_NUM_THREADS";
	static char one[] = "1";
	static struct user_env_variable variables[] = { { blas, one, false },
							{ numexpr, one, false } };
	static const struct user_env single_thread = { .items = variables,
						       .count = ARRAY_SIZE(variables) };
	const struct session_host *host = zygote->host;
	const struct settings *settings = host->settings;

	assert(zygote->state == ZYGOTE_NONE);
	if (make_sandbox(zygote, err) < 0)
		return -1;
	zygote->runner = runner_new(&(struct runner_context){ .loop = host->loop,
							      .sandbox = zygote->sandbox,
							      .workspace = zygote->workspace,
							      .language = zygote->language,
							      .confinement = host->confinement,
							      .home = host->home,
							      .handlers = &runner_handlers,
							      .owner = zygote,
							      .rules = host->code_rules,
							      /*
							       * not the user's: a forked session
							       * gets its own
							       */
							      .user_env = &single_thread,
							      .is_zygote = true });
	/* the empty name warms up the driver */
	zygote->modules = xasprintf(",%s", settings->preload != NULL ? settings->preload : "");
	zygote->next = zygote->modules;
	zygote->state = ZYGOTE_STARTING;
	zygote->load_ms = loop_now(host->loop);
	if (runner_prepare(zygote->runner, err) == 0)
		return 0;
	zygote_drop(zygote);
	return -1;
}

void zygote_drop(struct zygote *zygote)
{
	loop_defer_stop(&zygote->report);
	loop_io_stop(&zygote->channel);
	zygote->serving = NULL;
	zygote->state = ZYGOTE_NONE;
	zygote->paused = false;
	zygote->warned = false;
	runner_free(zygote->runner);
	zygote->runner = NULL;
	mem_cleanup(&zygote->modules);
	zygote->modules = NULL;
	zygote->next = NULL;
}

bool zygote_wants_ready(const struct zygote *zygote)
{
	return zygote->next != NULL && zygote->next == zygote->modules;
}

bool zygote_wants_load(const struct zygote *zygote)
{
	return zygote->next != NULL;
}

bool zygote_is_starting(const struct zygote *zygote)
{
	return zygote->state == ZYGOTE_STARTING ||
	       (zygote->state == ZYGOTE_LOADING && zygote->brief);
}

void zygote_load(struct zygote *zygote)
{
	assert(zygote->state == ZYGOTE_SERVING && zygote_wants_load(zygote));
	zygote->serving = NULL;
	zygote->state = ZYGOTE_LOADING;
	zygote->brief = zygote_wants_ready(zygote);
	zygote->load_ms = loop_now(zygote->host->loop);
	load_next(zygote);
}

uint64_t zygote_loading_ms(const struct zygote *zygote)
{
	return loop_now(zygote->host->loop) - zygote->load_ms;
}

void zygote_pause(struct zygote *zygote, bool pause)
{
	if (zygote->state != ZYGOTE_LOADING || zygote->brief || zygote->paused == pause)
		return;
	zygote->paused = pause;
	runner_pause(zygote->runner, pause);
}

const int *zygote_sandbox(const struct zygote *zygote)
{
	if (zygote == NULL || zygote->serving == NULL || sandbox_is_dead(zygote->sandbox))
		return NULL;
	return sandbox_zygote_namespaces(zygote->sandbox);
}

struct interpreter *const *zygote_interpreter(const struct zygote *zygote)
{
	return zygote != NULL ? &zygote->serving : NULL;
}
