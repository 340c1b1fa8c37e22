/* SPDX-License-Identifier: MIT */
/*
 * confinement.c - probes once, chooses the tier, and writes the policy of every sandbox. Control
 * groups are taken before the probe, because a sandbox may be opened during it. A sandbox is made
 * before it is known which languages are used, so its policy has the folders of all of them.
 */
#include "confinement/confinement.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/paths.h"
#include "confinement/confinement_text.h"
#include "confinement/hints.h"
#include "confinement/runtime_dirs.h"
#include "lockdown/landlock_ruleset.h"
#include "proc/cgroups.h"
#include "proc/launcher.h"
#include "proc/sandbox.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/probe/escapes.h"
#include "workspace/workspace.h"

enum {
	GROUP_MEMORY_PART = 8,   /* part of its memory that a group may use beyond it */
	GROUP_TASKS_OURS = 32,   /* an init, and a supervisor for each language */
	INSTALLER_BESIDE = 1024, /* processes that the user may begin meanwhile, tier landlock */
};

enum state {
	UNKNOWN,
	ASKING,
	FAILED, /* known, but it may pass: the next call probes again */
	SETTLED,
};

struct confinement {
	struct loop *loop;
	struct launcher *launcher;
	const struct settings *settings;
	enum state state;
	enum policy_tier tier;
	bool probed;
	bool asked_again;
	struct sandbox_report report;
	time_t verified_at;
	struct shares *shares;
	struct cgroups *groups;   /* NULL: see group_problem */
	struct err group_problem; /* why `groups` is NULL */
	char *refusal;
	char *home; /* the user's, or NULL */
	char *cwd;  /* or NULL */
	struct loop_defer deferred;
	void (*settled)(void *data);
	void *data;
};

struct confinement *confinement_new(struct loop *loop, struct launcher *launcher,
				    const struct settings *settings)
{
	struct confinement *c = xcalloc(1, sizeof(*c));

	c->loop = loop;
	c->launcher = launcher;
	c->settings = settings;
	c->home = paths_user_home(settings->environment, geteuid());
	c->cwd = getcwd(NULL, 0);
	return c;
}

void confinement_free(struct confinement *c)
{
	if (c == NULL)
		return;
	loop_defer_stop(&c->deferred);
	shares_free(c->shares);
	cgroups_free(c->groups);
	free(c->refusal);
	free(c->home);
	free(c->cwd);
	free(c);
}

bool confinement_settled(const struct confinement *c)
{
	return c->state == SETTLED;
}

/* ---- choosing a tier ---- */

static enum policy_tier floor_of(const struct settings *settings)
{
	static const enum policy_tier tiers[] = {
		[FLOOR_LANDLOCK] = POLICY_LANDLOCK,
		[FLOOR_BWRAP] = POLICY_BWRAP,
		[FLOOR_NAMESPACES] = POLICY_NAMESPACES,
	};

	return tiers[settings->floor];
}

static void report_settled(struct confinement *c)
{
	void (*settled)(void *data) = c->settled;

	c->settled = NULL;
	if (settled != NULL)
		settled(c->data);
}

static void on_report_due(struct loop_defer *defer)
{
	report_settled(container_of(defer, struct confinement, deferred));
}

/* Explains why the tier at the floor is not there, and which commands help. */
static char *explain_floor(const struct confinement *c, enum policy_tier floor)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct hints_machine machine;

	buf_putf(&text,
		 "No code runs, because this machine confines it less than PTYCELL_FLOOR=%s asks "
		 "for: %s.\n",
		 policy_tier_name(floor), c->report.reason[floor]);
	if (floor != POLICY_NAMESPACES)
		buf_putf(&text, "The strongest tier, namespaces, failed with: %s.\n",
			 c->report.reason[POLICY_NAMESPACES]);
	hints_inspect("", &machine);
	hints_write(&text, &c->report, &machine);
	if (hints_shortage(c->report.reason[POLICY_NAMESPACES]) != NULL)
		return buf_steal(&text);
	if (c->report.tier >= POLICY_LANDLOCK)
		buf_putf(&text, "Or, if less is enough, set PTYCELL_FLOOR=%s.",
			 policy_tier_name((enum policy_tier)c->report.tier));
	else
		buf_puts(&text, "The flag --unconfined runs code with all of the user's rights.");
	return buf_steal(&text);
}

/* Explains why nothing is known of the tiers. */
static char *explain_unknown(const struct err *err)
{
	const char *advice = hints_shortage(err->msg);

	if (advice == NULL)
		advice = hints_filter();
	return xasprintf(
		"No code runs, because it could not be found out how this machine confines "
		"it: %s.\n%s",
		err->msg, advice != NULL ? advice : "");
}

static char *explain_escapes(const struct confinement *c)
{
	return xasprintf("No code runs, because %d of %u attempts to break out of the sandbox were "
			 "not stopped: one %s. Please report this with what `ptycell doctor` "
			 "prints.",
			 __builtin_popcount(c->report.escaped), c->report.escape_tests,
			 escapes_name((enum escapes)__builtin_ctz(c->report.escaped)));
}

/* Weaker tiers cannot keep names such as .git/hooks from being made. */
static char *explain_writable(const struct confinement *c, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct hints_machine machine;

	buf_putf(
		&text,
		"No code runs: the folder '%s' is shared with :rw, which only tier namespaces can "
		"hold, and this machine gives %s.\nShare it without :rw, and code reads it; or make "
		"the machine give more:\n",
		path, policy_tier_name((enum policy_tier)c->report.tier));
	hints_inspect("", &machine);
	hints_write(&text, &c->report, &machine);
	return buf_steal(&text);
}

static void report_groups(struct confinement *c)
{
	const uint32_t limits = BIT(CGROUP_MEMORY) | BIT(CGROUP_PIDS);

	if (c->groups != NULL && (cgroups_controllers(c->groups) & limits) != 0)
		c->report.layers |= BIT(LAYER_CGROUP_LIMITS);
}

static void choose_tier(struct confinement *c)
{
	enum policy_tier floor = floor_of(c->settings);
	const char *writable = shares_find_writable(c->shares);

	c->state = SETTLED;
	if (c->report.escaped != 0) {
		c->refusal = explain_escapes(c);
	} else if (c->report.tier < (int32_t)floor) {
		c->state = FAILED; /* no session runs whose confinement could change */
		c->refusal = explain_floor(c, floor);
	} else if (c->report.tier < POLICY_NAMESPACES && writable != NULL) {
		c->refusal = explain_writable(c, writable);
	} else {
		c->tier = (enum policy_tier)c->report.tier;
		report_groups(c);
	}
	if (c->report.escape_tests > 0 && c->report.escaped == 0)
		c->verified_at = time(NULL);
}

static void on_probed(void *data, const struct sandbox_report *report, const struct err *err)
{
	struct confinement *c = data;

	c->tier = POLICY_UNCONFINED; /* replaces a tier that was assumed */
	/* A weaker tier is believed only when it is seen twice: a busy machine fails once. */
	if (report != NULL && report->tier < POLICY_NAMESPACES && !c->asked_again) {
		c->asked_again = true;
		launcher_probe(c->launcher, on_probed, c);
		return;
	}
	if (report != NULL) {
		c->probed = true;
		c->report = *report;
		choose_tier(c);
	} else {
		c->state = FAILED;
		c->refusal = explain_unknown(err);
	}
	report_settled(c);
}

static int open_shares(struct confinement *c)
{
	struct err err;

	if (c->shares != NULL)
		return 0;
	c->shares = shares_open(c->settings, &err);
	if (c->shares != NULL)
		return 0;
	c->state = FAILED;
	c->refusal = xasprintf("No code runs: %s. Correct --share or PTYCELL_SHARE and start "
			       "ptycell again.",
			       err.msg);
	return -1;
}

/* Takes control groups, which add to any tier and to none. */
static void take_groups(struct confinement *c)
{
	if (c->groups == NULL)
		c->groups = cgroups_take(&c->group_problem);
}

void confinement_settle(struct confinement *c, void (*settled)(void *data), void *data)
{
	c->settled = settled;
	c->data = data;
	if (c->state == ASKING)
		return;
	if (c->state != SETTLED) {
		mem_cleanup(&c->refusal);
		c->refusal = NULL;
	}
	if (c->state == SETTLED || open_shares(c) < 0) {
		loop_defer_start(c->loop, &c->deferred, on_report_due);
		return;
	}
	take_groups(c);
	if (c->settings->unconfined) {
		c->state = SETTLED;
		loop_defer_start(c->loop, &c->deferred, on_report_due);
	} else {
		c->state = ASKING;
		c->asked_again = false;
		launcher_probe(c->launcher, on_probed, c);
	}
}

/* Shares are excluded, because protecting them depends on more than the tier. */
bool confinement_assume(struct confinement *c)
{
	if (c->state != ASKING || shares_count(c->shares) > 0)
		return false;
	c->tier = POLICY_NAMESPACES;
	return true;
}

bool confinement_foreseen(const struct confinement *c)
{
	return c->refusal == NULL && c->tier == POLICY_NAMESPACES;
}

/* ---- the result ---- */

void confinement_log(const struct confinement *c)
{
	if (c->refusal != NULL)
		log_error("confinement", "%.*s See `ptycell doctor`.",
			  (int)strcspn(c->refusal, "\n"), c->refusal);
	else if (c->tier == POLICY_UNCONFINED)
		log_warn("confinement", "none, as --unconfined asks: code can do what you can");
	else if (c->tier < POLICY_NAMESPACES)
		log_warn("confinement", "tier %s, not namespaces: %s; ptycell doctor says more",
			 policy_tier_name(c->tier), c->report.reason[POLICY_NAMESPACES]);
	else
		log_info("confinement", "tier %s, landlock ABI %d, %u escape tests stopped",
			 policy_tier_name(c->tier), (int)c->report.landlock_abi,
			 c->report.escape_tests);
}

int confinement_check(const struct confinement *c, struct err *err)
{
	if (c->refusal != NULL)
		return err_set(err, ERR_DENIED, "%.*s", (int)strcspn(c->refusal, "\n"), c->refusal);
	if (c->state != SETTLED)
		return err_set(err, ERR_INTERNAL, "it is not known yet how code is confined");
	return 0;
}

static bool is_rooted(const struct confinement *c)
{
	return c->tier >= POLICY_BWRAP;
}

/* Without a network of its own a session has no network, or, unconfined, the user's. */
static bool reaches_hosts(const struct confinement *c)
{
	return c->settings->hosts != NULL && is_rooted(c);
}

/* Code could connect to the user's sockets in a shared folder. */
static bool may_make_sockets(const struct confinement *c)
{
	if (c->tier == POLICY_UNCONFINED || c->report.landlock_abi >= LANDLOCK_ABI_SOCKETS)
		return true;
	return c->tier != POLICY_LANDLOCK && (c->shares == NULL || shares_count(c->shares) == 0);
}

static const char *weakness_of(const struct confinement *c)
{
	const struct sandbox_report *report = c->probed ? &c->report : NULL;

	if (c->refusal != NULL)
		return NULL;
	return c->tier == POLICY_NAMESPACES ? confinement_proc_notice(report)
					    : confinement_tier_notice(c->tier, report);
}

struct confinement_facts confinement_facts(const struct confinement *c)
{
	return (struct confinement_facts){
		.tier = c->tier,
		.floor = floor_of(c->settings),
		.rooted = is_rooted(c),
		.reaches_hosts = reaches_hosts(c),
		.protects_shares =
			c->tier == POLICY_NAMESPACES && shares_find_writable(c->shares) != NULL,
		.unix_sockets = may_make_sockets(c),
		.refusal = c->refusal,
		.verified_at = c->verified_at,
		.report = c->probed ? &c->report : NULL,
		.groups = c->groups,
		.group_problem = c->group_problem.msg,
		.shares = c->shares,
		.notice = weakness_of(c),
	};
}

/* ---- sandboxes ---- */

static int place_folders(const struct confinement *c, struct workspace *workspace, struct err *err)
{
	if (!is_rooted(c))
		return workspace_make_tmp(workspace, err);
	workspace_move_inside(workspace, POLICY_DATA, POLICY_SPOOL, POLICY_PACKAGES);
	return 0;
}

/* The launcher takes the folder's owner for the session's user; the folder is still empty. */
int confinement_adopt(const struct confinement *c, struct workspace *workspace, struct err *err)
{
	struct uid_map map;

	if (c->tier == POLICY_UNCONFINED)
		return 0;
	if (place_folders(c, workspace, err) < 0)
		return -1;
	return uid_map_choose(workspace_data_fd(workspace), &map, err);
}

int confinement_adopt_early(const struct confinement *c, struct workspace *workspace,
			    struct err *err)
{
	if (c->tier == POLICY_UNCONFINED)
		return 0;
	if (place_folders(c, workspace, err) < 0)
		return -1;
	return uid_map_draw(workspace_data_fd(workspace), err);
}

int confinement_check_owner(const struct workspace *workspace, struct err *err)
{
	return uid_map_check(workspace_data_fd(workspace), err);
}

static int locate_inside(const struct confinement *c, const struct language *language,
			 struct runtime_dirs *runtimes, struct interpreter_path *ret_path,
			 struct err *err)
{
	const struct runtime_dirs_bounds bounds = {
		.home = c->home, .cwd = c->cwd, .sessions = c->settings->home, .shares = c->shares
	};
	struct interpreter_path found;
	char *path;

	if (language_locate(language, c->settings->environment, &found, err) < 0)
		return -1;
	if (c->tier == POLICY_UNCONFINED) {
		*ret_path = found;
		return 0;
	}
	path = runtime_dirs_add(runtimes, &bounds, found.path, err);
	if (path == NULL) {
		(void)err_wrap(err, "'%s' cannot run confined", found.path);
		locate_release(&found);
		return -1;
	}
	free(found.path);
	found.path = path;
	*ret_path = found;
	return 0;
}

int confinement_locate(const struct confinement *c, const struct language *language,
		       struct interpreter_path *ret_path, struct err *err)
{
	cleanup_runtimes struct runtime_dirs runtimes = { .count = 0 };
	cleanup_buf struct buf here = BUF_INIT(BUF_UNBOUNDED);
	struct err why;

	if (locate_inside(c, language, &runtimes, ret_path, err) == 0)
		return 0;
	/* A user who named a program must correct a setting. */
	if (err->code != ERR_NOT_FOUND ||
	    paths_getenv(c->settings->environment, language->env_override) != NULL)
		return -1;
	language_list_here(c->settings->environment, &here);
	why = *err;
	return err_set(err, ERR_NOT_FOUND, "%s. What is here: %s", why.msg,
		       here.len > 0 ? buf_str(&here) : "nothing");
}

/* Finds the folders of all languages: a sandbox is made once, before it is known which are used. */
static void find_runtimes(const struct confinement *c, struct runtime_dirs *runtimes)
{
	const struct language *language;

	for (size_t i = 0; (language = language_at(i)) != NULL; i++) {
		struct interpreter_path path;
		struct err err;

		/* An interpreter that cannot run is reported when a session wants it. */
		if (locate_inside(c, language, runtimes, &path, &err) == 0)
			locate_release(&path);
	}
}

static void set_limits(const struct confinement *c, const struct session_limits *limits,
		       struct policy *policy)
{
	policy->memory_max = limits->memory_max;
	policy->open_files_max = limits->open_files_max;
	policy->file_max = limits->file_max;
	policy->tmp_bytes_max = limits->tmp_max;
	if (c->tier != POLICY_UNCONFINED)
		policy->processes_max = limits->processes_max;
}

/*
 * The kernel kills silently at a group's limit. An allocation that fails, or the watchdog, must
 * come first, because both can be explained. The group also counts files in /tmp and /dev/shm:
 * without room for them, it would kill again and again while they exist.
 */
static struct sandbox_group group_of(const struct confinement *c,
				     const struct session_limits *limits)
{
	const uint64_t files = is_rooted(c) ? 2 * limits->tmp_max : 0;

	return (struct sandbox_group){
		.groups = c->groups,
		.memory_max = limits->memory_max + limits->memory_max / GROUP_MEMORY_PART + files,
		.tasks_max = limits->processes_max + GROUP_TASKS_OURS,
	};
}

static void add_runtimes(struct policy *policy, const struct runtime_dirs *runtimes)
{
	for (size_t i = 0; i < runtimes->count; i++)
		policy->runtimes[policy->runtime_count++] = runtimes->paths[i];
}

/* Returns whether the confinement of code is known, or assumed during the probe. */
static bool may_open(const struct confinement *c)
{
	return (c->state == SETTLED && c->refusal == NULL) ||
	       (c->state == ASKING && c->tier == POLICY_NAMESPACES);
}

struct sandbox *confinement_open(const struct confinement *c, const struct workspace *workspace,
				 const struct session_limits *limits, const int *zygote_fds)
{
	cleanup_runtimes struct runtime_dirs runtimes = { .count = 0 };
	struct sandbox_folders folders = { .data = workspace_data_fd(workspace),
					   .spool = workspace_spool_fd(workspace),
					   .packages = workspace_packages_fd(workspace),
					   .zygote_sandbox = zygote_fds };
	const struct sandbox_group group = group_of(c, limits);
	struct policy policy;

	assert(may_open(c));
	policy_init(&policy);
	policy.tier = c->tier;
	policy.data_path = workspace_host_data_path(workspace);
	policy.spool_path = workspace_host_spool_path(workspace);
	policy.packages_path = workspace_host_packages_path(workspace);
	policy.unix_sockets = may_make_sockets(c);
	policy.proxy = reaches_hosts(c);
	policy.nested = zygote_fds != NULL;
	set_limits(c, limits, &policy);
	find_runtimes(c, &runtimes);
	add_runtimes(&policy, &runtimes);
	for (size_t i = 0; i < shares_count(c->shares); i++) {
		if (!shares_there(c->shares, i))
			continue;
		folders.shares[policy.share_count] = shares_fd(c->shares, i);
		policy.shares[policy.share_count++] = *shares_at(c->shares, i);
	}
	return sandbox_open(c->launcher, &policy, &folders, c->groups != NULL ? &group : NULL);
}

struct sandbox *confinement_open_installer(const struct confinement *c,
					   const struct workspace *workspace,
					   const struct confinement_installer *installer)
{
	cleanup_runtimes struct runtime_dirs runtimes = { .count = 0 };
	struct sandbox_folders folders = { .data = workspace_data_fd(workspace),
					   .spool = -1,
					   .packages = -1 };
	const struct sandbox_group group = group_of(c, &c->settings->limits);
	struct policy policy;

	assert(may_open(c));
	policy_init(&policy);
	policy.tier = c->tier;
	policy.data_path = workspace_host_data_path(workspace);
	policy.unix_sockets = false;
	policy.proxy = installer->network && is_rooted(c);
	set_limits(c, &c->settings->limits, &policy);
	/* the limit of the whole folder must be met first, as it can be explained */
	policy.file_max = 2 * c->settings->install_max;
	/* It is not measured, so its limit does not follow the user's other processes. */
	if (c->tier == POLICY_LANDLOCK)
		policy.processes_max += INSTALLER_BESIDE;
	find_runtimes(c, &runtimes);
	add_runtimes(&policy, &runtimes);
	for (size_t i = 0; i < installer->folder_count; i++) {
		policy.shares[policy.share_count++] =
			(struct policy_share){ .path = installer->folders[i] };
		folders.shares[i] = installer->folder_fds[i];
	}
	return sandbox_open(c->launcher, &policy, &folders, c->groups != NULL ? &group : NULL);
}

/* Its limits are the maxima for forked sessions; each of these has its own. */
struct sandbox *confinement_open_zygote(const struct confinement *c,
					const struct workspace *workspace, const char *library)
{
	const struct sandbox_folders folders = { .data = workspace_data_fd(workspace),
						 .spool = -1,
						 .packages = -1 };
	struct policy policy;

	policy_init(&policy);
	policy.tier = c->tier;
	policy.zygote_sandbox = true;
	policy.open_files_max = c->settings->limits.open_files_max;
	policy.data_path = workspace_host_data_path(workspace);
	policy.runtimes[policy.runtime_count++] = library;
	return sandbox_open(c->launcher, &policy, &folders, NULL);
}
