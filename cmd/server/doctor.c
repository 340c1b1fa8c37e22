/* SPDX-License-Identifier: MIT */
/*
 * doctor.c - runs all checks and sums them up. The checks print their lines at once and collect in
 * a struct report what is missing, so that the last lines can name one apt command for everything.
 * A check that decides whether ptycell works sets `broken`. Interpreters are tried with settings of
 * their own, because a trial changes settings.
 */
#include "doctor.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"
#include "config/room.h"
#include "config/settings.h"
#include "doctor_connect.h"
#include "doctor_languages.h"
#include "doctor_packages.h"
#include "doctor_sandbox.h"
#include "doctor_sql.h"
#include "event/loop.h"
#include "helper/helper.h"
#include "host_entry.h"
#include "host_python.h"
#include "journal/audit.h"
#include "kernel.h"
#include "lockdown/landlock_ruleset.h"
#include "policy/policyfile.h"
#include "report_lines.h"
#include "runtime/language.h"
#include "runtime/python/packages.h"
#include "text/sanitize.h"
#include "usable_settings.h"
#include "workspace/keeproom.h"
#include "workspace/kept_size.h"

enum { OLDEST_PYTHON_MINOR = 9 };

/* The sum of the checks, printed at the end. */
struct report {
	const struct settings *settings;
	struct buf apt;     /* packages for the apt command, each with a blank before it */
	struct buf todo;    /* other advice, a line each */
	bool broken;        /* something is missing without which no cell runs */
	char *home_problem; /* why no session can be made, found by making one; may be NULL */
};

struct recommendation {
	const char *distribution; /* the name in Python's packaging */
	const char *package;      /* the name in Debian */
	const char *use;
};

/* The packages that users expect of a code interpreter. */
static const struct recommendation recommendations[] = {
	{ "numpy", "python3-numpy", "arrays" },
	{ "pandas", "python3-pandas", "tables" },
	{ "matplotlib", "python3-matplotlib", "plots" },
	{ "pillow", "python3-pil", "pictures" },
};

/* ---- interpreters ---- */

/*
 * Compares two names of distributions: case does not count, and - _ . are equal (PyPA, "Name
 * normalization").
 */
static bool same_distribution(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		bool a_mark = strchr("-_.", *a) != NULL;
		bool b_mark = strchr("-_.", *b) != NULL;

		if (a_mark != b_mark || (!a_mark && (*a | 0x20) != (*b | 0x20)))
			return false;
	}
	return *a == *b;
}

static const struct python_package *find_package(const struct python_package *packages,
						 size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (same_distribution(packages[i].name, name))
			return &packages[i];
	}
	return NULL;
}

/* Recommends packages. Debian's serve Debian's Python only; any other Python has its own pip. */
static void recommend_packages(struct report *r, const char *interpreter, const struct buf *apt,
			       const struct buf *names)
{
	if (strncmp(interpreter, "/usr/bin/", strlen("/usr/bin/")) == 0)
		buf_puts(&r->apt, buf_str(apt));
	else
		buf_putf(&r->todo, "  '%s' -m pip install%s\n", interpreter, buf_str(names));
}

/* Returns whether `ptycell config` names another Python, which has what this one lacks. */
static bool report_better(const struct report *r, const char *interpreter)
{
	cleanup_free char *better = NULL;

	if (paths_getenv(r->settings->environment, "PTYCELL_PYTHON") != NULL)
		return false;
	better = host_python_better(interpreter);
	if (better != NULL)
		report_line(
			"",
			"%s has pandas and matplotlib: set PTYCELL_PYTHON to it, or let ptycell config HOST name it",
			better);
	return better != NULL;
}

static void report_packages(struct report *r, const char *interpreter, const char *quoted)
{
	size_t count = 0;
	struct python_package *packages = python_packages(interpreter, &count);
	cleanup_buf struct buf there;
	cleanup_buf struct buf missing;
	cleanup_buf struct buf names;
	cleanup_buf struct buf apt;

	buf_init(&there, BUF_UNBOUNDED);
	buf_init(&missing, BUF_UNBOUNDED);
	buf_init(&names, BUF_UNBOUNDED);
	buf_init(&apt, BUF_UNBOUNDED);
	for (size_t i = 0; i < ARRAY_SIZE(recommendations); i++) {
		const struct recommendation *recommendation = &recommendations[i];
		const struct python_package *found =
			find_package(packages, count, recommendation->distribution);

		if (found) {
			cleanup_free char *version = sanitize_quote(found->version);

			buf_putf(&there, "%s%s %s", there.len > 0 ? ", " : "",
				 recommendation->distribution, version);
			continue;
		}
		buf_putf(&missing, "%s%s (%s)", missing.len > 0 ? ", " : "",
			 recommendation->distribution, recommendation->use);
		buf_putf(&names, " %s", recommendation->distribution);
		buf_putf(&apt, " %s", recommendation->package);
	}
	if (there.len > 0)
		report_line("", "with %s", buf_str(&there));
	if (missing.len > 0) {
		report_line("", "without %s", buf_str(&missing));
		if (!report_better(r, interpreter))
			recommend_packages(r, quoted, &apt, &names);
	}
	python_packages_free(packages, count);
}

/*
 * Returns the N of Python 3.N, from the name of the binary that the links lead to. Returns -1 when
 * the name has no version.
 */
static int python_minor(const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	const char *name = real ? strrchr(real, '/') : NULL;
	int minor = -1;

	if (!name || sscanf(name, "/python3.%d", &minor) != 1)
		return -1;
	return minor;
}

static void report_python(struct report *r, const char *path, const char *quoted)
{
	int minor = python_minor(path);

	if (minor >= 0 && minor < OLDEST_PYTHON_MINOR) {
		report_line("", "this is Python 3.%d; ptycell needs 3.%d or later", minor,
			    OLDEST_PYTHON_MINOR);
		r->broken = true;
	}
	report_packages(r, path, quoted);
}

/* Recommends the language with everything that would be missing next: one command installs all. */
static void recommend_debian(struct report *r, const struct language *language, const char *names)
{
	buf_putf(&r->apt, " %s", names);
	if (!str_eq(language->name, "python"))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(recommendations); i++)
		buf_putf(&r->apt, " %s", recommendations[i].package);
}

/*
 * Recommends how to get the language. A user who named a missing interpreter must correct a
 * setting, not install anything.
 */
static void recommend_language(struct report *r, const struct language *language)
{
	static const char apt[] = "apt install ";
	bool named = paths_getenv(r->settings->environment, language->env_override) != NULL;

	/* Without the other languages ptycell still works. */
	if (named || str_eq(language->name, "python"))
		r->broken = true;
	if (named)
		report_line("", "correct %s, or leave it out to have one found",
			    language->env_override);
	else if (strncmp(language->install_hint, apt, sizeof(apt) - 1) == 0)
		recommend_debian(r, language, language->install_hint + sizeof(apt) - 1);
	else
		buf_putf(&r->todo, "  %s\n", language->install_hint);
}

/* Reports the trial: a located file may still not be an interpreter. */
static void report_trial(struct report *r, const struct language *language,
			 const struct interpreter_path *path, const struct doctor_trial *trial)
{
	if (trial->problem == NULL)
		return;
	report_text("", trial->problem);
	if (str_eq(language->name, "python") || str_eq(path->reason, language->env_override))
		r->broken = true;
}

static void report_language(struct report *r, const struct language *language,
			    const struct doctor_trial *trial)
{
	struct interpreter_path path = { 0 };
	struct err err = { 0 };
	cleanup_free char *quoted = NULL;

	if (language_locate(language, r->settings->environment, &path, &err) < 0) {
		report_line(language->name, "none: %s", err.msg);
		recommend_language(r, language);
		return;
	}
	quoted = report_quote_path(path.path);
	report_line(language->name, "%s (from %s)%s%s", quoted, path.reason,
		    trial->version != NULL ? ", version " : "",
		    trial->version != NULL ? trial->version : "");
	report_trial(r, language, &path, trial);
	if (str_eq(language->name, "python"))
		report_python(r, path.path, quoted);
	locate_release(&path);
}

/* Reports the languages, with settings of its own, since a trial changes them. */
static void report_languages(struct report *r, int argc, char **argv)
{
	struct settings *settings = usable_settings_load(argc, argv);
	struct doctor_trials trials;

	doctor_languages(settings, &trials);
	for (size_t i = 0; language_at(i); i++)
		report_language(r, language_at(i), &trials.languages[i]);
	r->home_problem = mem_steal(&trials.home_problem);
	doctor_languages_release(&trials);
	settings_free(settings);
}

/* ---- settings, limits ---- */

static void report_settings(struct report *r)
{
	const char *rest = r->settings->notices;
	const char *audit = r->settings->audit;
	cleanup_free char *refusal = audit != NULL ? audit_refusal(audit) : NULL;
	const char *problem = r->settings->problem != NULL ? r->settings->problem : refusal;

	if (problem != NULL) {
		report_line("settings", "%s", problem);
		r->broken = true;
	} else {
		report_line("settings", "OK");
	}
	while (rest && *rest) {
		size_t len = strcspn(rest, "\n");

		report_line("", "%.*s", (int)len, rest);
		rest += len + (rest[len] == '\n');
	}
}

static void put_bytes(struct buf *out, uint64_t bytes)
{
	static const char units[] = " KMGTP";
	double amount = (double)bytes;
	size_t unit = 0;

	for (; amount >= 1024 && unit + 2 < sizeof(units); unit++)
		amount /= 1024;
	buf_putf(out, unit > 0 && amount < 10 ? "%.1f%c" : "%.0f%c", amount,
		 unit > 0 ? units[unit] : 'B');
}

/* Appends "4 h" or "90 s": the largest unit that divides the time. */
static void put_time(struct buf *out, uint64_t seconds)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = { { "days", 86400 }, { "h", 3600 }, { "min", 60 }, { "s", 1 } };
	size_t i = 0;

	while (seconds % units[i].seconds != 0 || seconds / units[i].seconds < 2) {
		if (++i == ARRAY_SIZE(units) - 1)
			break;
	}
	buf_putf(out, "%llu %s", (unsigned long long)(seconds / units[i].seconds), units[i].name);
}

static void report_limits(const struct settings *s)
{
	cleanup_buf struct buf ends;
	cleanup_buf struct buf cells;
	struct rlimit files = { 0 };

	buf_init(&ends, BUF_UNBOUNDED);
	buf_init(&cells, BUF_UNBOUNDED);
	put_time(&ends, s->limits.session_ttl);
	buf_puts(&ends, ", or ");
	put_time(&ends, s->limits.idle_timeout);
	buf_puts(&ends, " without use");
	put_time(&cells, s->limits.exec_timeout);
	buf_puts(&cells, " unless its call says otherwise, with ");
	put_bytes(&cells, s->limits.memory_max);
	report_line("limits", "%llu sessions; one ends after %s",
		    (unsigned long long)s->max_sessions, buf_str(&ends));
	report_line("", "a cell may run %s of memory", buf_str(&cells));
	if (getrlimit(RLIMIT_NOFILE, &files) == 0 &&
	    room_sessions(files.rlim_max) < s->max_sessions)
		report_line(
			"",
			"only %zu sessions fit: this user may open %llu files at once (ulimit -n)",
			room_sessions(files.rlim_max), (unsigned long long)files.rlim_max);
}

/* ---- folders ---- */

/*
 * Returns `path`, or what is closest above it and exists, also a link that leads nowhere: no folder
 * can be made there. The caller frees the result.
 */
static char *existing_part(const char *path)
{
	char *part = xstrdup(path);
	struct stat st;

	while (lstat(part, &st) < 0 && part[1]) {
		char *slash = strrchr(part, '/');

		slash[slash == part] = '\0';
	}
	return part;
}

/* Returns false when the folder cannot be written, which it reports. */
static bool report_folder(struct report *r, const char *topic, const char *path, const char *use,
			  const char *setting)
{
	cleanup_free char *part = existing_part(path);
	cleanup_free char *quoted = report_quote_path(path);
	cleanup_buf struct buf room;
	struct statvfs vfs;
	struct stat st;

	buf_init(&room, BUF_UNBOUNDED);
	if (stat(part, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    faccessat(AT_FDCWD, part, W_OK | X_OK, AT_EACCESS) < 0) {
		report_line(topic, "%s cannot be written (%s); set %s to a folder of yours", quoted,
			    use, setting);
		r->broken = true;
		return false;
	}
	if (statvfs(part, &vfs) == 0)
		put_bytes(&room, (uint64_t)vfs.f_bavail * vfs.f_frsize);
	report_line(topic, "%s: %s%s, %s free", quoted, use,
		    str_eq(part, path) ? "" : " (made when first needed)", buf_str(&room));
	return true;
}

/* Says how much of PTYCELL_KEEP_TOTAL is used. */
static void report_kept(const struct settings *s)
{
	cleanup_buf struct buf used = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf most = BUF_INIT(BUF_UNBOUNDED);
	const char *advice = "";
	uint64_t bytes;
	struct err err;

	if (kept_size_measure(s->keep, NULL, &bytes, &err) < 0) {
		report_line("", "%s", err.msg);
		return;
	}
	put_bytes(&used, bytes);
	put_bytes(&most, s->keep_total);
	if (bytes >= s->keep_total)
		advice = "; new ones are not saved: delete folders there";
	else if (keeproom_is_nearly_full(bytes, s->keep_total))
		advice = "; at the limit new ones are not saved: delete folders there";
	report_line("", "results take %s of %s (PTYCELL_KEEP_TOTAL)%s", buf_str(&used),
		    buf_str(&most), advice);
}

static void report_folders(struct report *r)
{
	const struct settings *s = r->settings;

	if (report_folder(r, "folders", s->home, "live sessions", "PTYCELL_HOME") &&
	    r->home_problem != NULL) {
		report_text("", r->home_problem);
		r->broken = true;
	}
	if (s->keep) {
		if (report_folder(r, "", s->keep, "results kept for you", "PTYCELL_KEEP"))
			report_kept(s);
	} else
		report_line(
			"",
			"results are not kept (PTYCELL_KEEP is off, or there is no home folder)");
}

/* ---- programs, kernel ---- */

/* Does not connect to the storage: doctor sends nothing to other machines. */
static void report_storage(const struct settings *settings)
{
	const struct storage_target *target = &settings->storage;
	cleanup_buf struct buf endpoint = BUF_INIT(BUF_UNBOUNDED);

	if (target->kind == STORAGE_NONE) {
		report_line("storage", "none; results are only kept on this machine");
		return;
	}
	storage_target_endpoint(target, &endpoint);
	report_line("storage", "%s '%s' at %s, links good for %ju h",
		    target->kind == STORAGE_AZURE ? "Azure Blob container" : "S3 bucket",
		    storage_target_container(target), buf_str(&endpoint),
		    (uintmax_t)storage_target_hours(target, settings->limits.link_hours));
}

static void report_helpers(struct report *r)
{
	static const char *const helpers[] = { "ptycell-launcher", "ptycell-files", "ptycell-sql",
					       "ptycell-fetch", "ptycell-proxy" };

	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++) {
		struct err err = { 0 };
		cleanup_free char *path = helper_locate(helpers[i], &err);

		if (path)
			continue;
		report_line("programs", "%s; install ptycell whole", err.msg);
		r->broken = true;
	}
}

static void report_kernel(void)
{
	int abi = landlock_abi(INT_MAX);
	cleanup_free char *landlock = abi > 0 ? xasprintf("ABI %d", abi) : xstrdup("no");
	struct utsname name;

	if (uname(&name) < 0)
		return;
	report_line("kernel", "Linux %s: landlock %s, pidfd %s, openat2 %s", name.release, landlock,
		    kernel_has_pidfd() ? "yes" : "no", kernel_has_openat2() ? "yes" : "no");
}

/* Returns whether a folder on PATH has `program`, itself or by a link. */
static bool is_on_path(const char *program)
{
	cleanup_free char *copy = xstrdup(getenv("PATH") ? getenv("PATH") : "");
	char *rest = copy;
	char *folder;

	while ((folder = strsep(&rest, ":")) != NULL) {
		cleanup_free char *path = xasprintf("%s/ptycell", folder[0] ? folder : ".");
		cleanup_free char *real = realpath(path, NULL);

		if (real && str_eq(real, program))
			return true;
	}
	return false;
}

/* Returns how the user's shell starts this program. The caller frees it. */
static char *report_path(void)
{
	cleanup_free char *program = host_entry_program();
	cleanup_free char *folder = xstrdup(program);
	cleanup_free char *quoted = NULL;

	if (is_on_path(program))
		return xstrdup("ptycell");
	*strrchr(folder, '/') = '\0';
	quoted = report_quote_path(folder);
	report_line("PATH", "does not have %s, so `ptycell` alone is not found: put the line",
		    quoted);
	report_line("", "  export PATH=\"%s:$PATH\"", quoted);
	report_line("", "into ~/.profile and log in again");
	return report_quote_path(program);
}

static void report_verdict(const struct report *r)
{
	cleanup_free char *command = report_path();

	puts(r->apt.len + r->todo.len > 0 ? "\nTo install what is missing:" : "");
	if (r->apt.len > 0)
		printf("  %sapt install%s\n", geteuid() == 0 ? "" : "sudo ", buf_str(&r->apt));
	printf("%s", buf_str(&r->todo));
	if (r->broken)
		puts("It does not work yet: see above.");
	else
		printf("It works. Next: %s config claude-desktop (or another host).\n", command);
}

/* Runs "doctor databases", which connects to them. Plain "doctor" must not. */
static int check_databases(int argc, char **argv)
{
	struct settings *settings = usable_settings_load(argc, argv);
	struct report r = { .settings = settings };

	puts("ptycell " PTYCELL_VERSION "\n");
	report_settings(&r);
	doctor_sql(settings);
	r.broken = !doctor_connect(settings) || r.broken;
	settings_free(settings);
	return r.broken ? 1 : 0;
}

/* Runs "doctor packages", which connects to the indexes, as an installation would. */
static int check_packages(int argc, char **argv)
{
	struct settings *settings = usable_settings_load(argc, argv);
	struct report r = { .settings = settings };

	puts("ptycell " PTYCELL_VERSION "\n");
	report_settings(&r);
	r.broken = r.broken || !doctor_packages(settings);
	settings_free(settings);
	return r.broken ? 1 : 0;
}

int doctor_main(int argc, char **argv)
{
	struct settings *settings;
	struct report r = { .broken = false };

	/* Without these signals a write to a closed pipe, or beyond `ulimit -f`, returns an error.
	 */
	(void)sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	(void)sigaction(SIGXFSZ, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	if (argc > 1 && str_eq(argv[1], "databases"))
		return check_databases(argc - 1, argv + 1);
	if (argc > 1 && str_eq(argv[1], "packages"))
		return check_packages(argc - 1, argv + 1);
	settings = usable_settings_load(argc, argv);
	policyfile_free(usable_policy_load(settings));
	r.settings = settings;
	buf_init(&r.apt, BUF_UNBOUNDED);
	buf_init(&r.todo, BUF_UNBOUNDED);
	puts("ptycell " PTYCELL_VERSION "\n");
	report_languages(&r, argc, argv);
	report_settings(&r);
	report_limits(settings);
	report_folders(&r);
	report_helpers(&r);
	r.broken = !doctor_sandbox(settings) || r.broken;
	doctor_sql(settings);
	report_storage(settings);
	report_kernel();
	report_verdict(&r);
	free(r.home_problem);
	buf_release(&r.apt);
	buf_release(&r.todo);
	settings_free(settings);
	return r.broken ? 1 : 0;
}

void doctor_note_end(void *data)
{
	*(bool *)data = true;
}

void doctor_turn_until(struct loop *loop, const bool *over)
{
	while (!*over)
		loop_turn(loop, -1);
}
