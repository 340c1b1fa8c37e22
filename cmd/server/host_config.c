/* SPDX-License-Identifier: MIT */
/*
 * host_config.c - the command line of `ptycell config`. FLAGs are checked as the server will read
 * them before they become part of an entry, because a host shows errors of a server badly.
 */
#include "host_config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apparmor.h"
#include "base/mem.h"
#include "config/paths.h"
#include "config/settings.h"
#include "confinement/shares.h"
#include "host_entry.h"
#include "host_python.h"
#include "hosts.h"
#include "json_merge.h"
#include "text/sanitize.h"
#include "text/utf8.h"

/* The parsed command line. */
struct invocation {
	struct host_entry entry;
	const char *file; /* of --file; may be NULL */
	bool write;
};

static void print_usage(FILE *out)
{
	fputs("Usage: ptycell config HOST [--write] [--file FILE] [--ssh USER@MACHINE | --wsl] [FLAG...]\n"
	      "  prints the entry that makes HOST start this ptycell; FLAGs (ptycell help settings)\n"
	      "  become part of it.\n"
	      "  --write             put it into the host's file, keeping a copy of what was there\n"
	      "  --file FILE         that file, where it is not at its usual place\n"
	      "  --ssh USER@MACHINE  for a host on another machine: it starts ptycell here, by ssh\n"
	      "  --wsl               for a host on Windows: it starts ptycell in WSL\n"
	      "  HOST is one of\n",
	      out);
	for (size_t i = 0; hosts_at(i); i++)
		fprintf(out, "    %-15s %s\n", hosts_at(i)->name, hosts_at(i)->title);
	fputs("Usage: ptycell config settings\n"
	      "  prints the table of settings as Markdown.\n"
	      "Usage: ptycell config apparmor\n"
	      "  prints the AppArmor profile that Ubuntu asks for.\n",
	      out);
}

/*
 * Takes an argument of the command itself. Returns how many it took: none of a server's flag. Says
 * that a value is missing, and returns -1.
 */
static int take_own(struct invocation *invocation, int left, char **argv)
{
	if (str_eq(argv[0], "--write")) {
		invocation->write = true;
	} else if (str_eq(argv[0], "--wsl")) {
		invocation->entry.wsl = true;
	} else if (str_eq(argv[0], "--file") && left > 1) {
		invocation->file = argv[1];
		return 2;
	} else if (str_eq(argv[0], "--ssh") && left > 1) {
		invocation->entry.ssh = argv[1];
		return 2;
	} else if (str_eq(argv[0], "--file") || str_eq(argv[0], "--ssh")) {
		fprintf(stderr, "The flag %s needs a value behind it.\n", argv[0]);
		return -1;
	} else {
		return 0;
	}
	return 1;
}

/* Returns 0 or the exit code. */
static int parse_invocation(struct invocation *invocation, int argc, char **argv)
{
	struct host_entry *entry = &invocation->entry;

	for (int i = 2; i < argc;) {
		int taken = take_own(invocation, argc - i, argv + i);

		if (taken < 0)
			return 2;
		if (taken == 0)
			entry->flags[entry->flag_count++] = argv[i++];
		i += taken;
	}
	entry->host = hosts_find(argv[1]);
	if (!entry->host) {
		cleanup_free char *quoted = sanitize_quote(argv[1]);

		fprintf(stderr, "ptycell config knows no host '%s'.\n", quoted);
		print_usage(stderr);
		return 2;
	}
	if (entry->ssh && (entry->wsl || entry->ssh[0] == '-' || entry->ssh[0] == '\0')) {
		fputs("--ssh takes USER@MACHINE, and no --wsl beside it.\n", stderr);
		return 2;
	}
	return 0;
}

/* Refuses a flag that is not UTF-8: JSON cannot have it, so the entry would name another file. */
static int check_text(const struct invocation *invocation)
{
	const struct host_entry *entry = &invocation->entry;

	for (int i = 0; i < entry->flag_count; i++) {
		cleanup_free char *quoted = sanitize_quote(entry->flags[i]);

		if (utf8_valid(entry->flags[i], strlen(entry->flags[i])))
			continue;
		fprintf(stderr,
			"'%s' is not UTF-8, so no host's file can hold it: give the file or folder "
			"another name.\n",
			quoted);
		return 2;
	}
	return 0;
}

/*
 * Prints a note on missing shares. They are no mistake: a disk or a network folder may appear
 * later.
 */
static void note_absent_shares(const struct settings *settings)
{
	for (size_t i = 0; i < settings->share_count; i++) {
		cleanup_buf struct buf path = BUF_INIT(BUF_UNBOUNDED);

		if (access(settings->shares[i].path, F_OK) == 0)
			continue;
		sanitize_line(&path, settings->shares[i].path, strlen(settings->shares[i].path),
			      PATH_MAX);
		fprintf(stderr,
			"The share '%s' is not there now. Make it before the host starts ptycell: a "
			"server looks for its shares once.\n",
			buf_str(&path));
	}
}

/* Refuses shares that the server would refuse. Returns 0 or the exit code. */
static int check_shares(const struct settings *settings)
{
	struct err err = { 0 };
	struct shares *shares = shares_open(settings, &err);

	if (!shares) {
		fprintf(stderr, "A server would run no code: %s.\n", err.msg);
		return 2;
	}
	shares_free(shares);
	note_absent_shares(settings);
	return 0;
}

/*
 * Checks the flags as the server will read them. Its environment will differ from ours. Sets
 * *ret_python if they name a Python. Returns 0 or the exit code.
 */
static int check_flags(const struct invocation *invocation, bool *ret_python)
{
	const struct host_entry *entry = &invocation->entry;
	const char *home = getenv("HOME");
	cleanup_free char *variable = xasprintf("HOME=%s", home ? home : "");
	char *const env[] = { variable, NULL };
	struct settings *settings = settings_load(entry->flag_count, entry->flags, env);
	int code = 2;

	if (settings->problem)
		fprintf(stderr, "%s\n", settings->problem);
	else
		code = check_shares(settings);
	*ret_python = paths_getenv(settings->environment, "PTYCELL_PYTHON") != NULL;
	settings_free(settings);
	return code;
}

/* Returns NULL for a host without a file of its own. */
static char *find_file(const struct invocation *invocation)
{
	return invocation->file ? xstrdup(invocation->file) : hosts_file(invocation->entry.host);
}

/* Returns whether the host's file is on another machine or system than this one. */
static bool is_elsewhere(const struct invocation *invocation)
{
	return invocation->entry.wsl || invocation->entry.ssh;
}

/* Prints the advice. Some hosts need the command at its end. */
static void print_advice(const struct invocation *invocation, json_t *made)
{
	const struct host *host = invocation->entry.host;
	cleanup_free char *command = host_entry_command(made);
	bool whole = host->advice[strlen(host->advice) - 1] == '.';

	fprintf(stderr, "%s%s%s\n", host->advice, whole ? "" : " ", whole ? "" : command);
	if (invocation->entry.wsl)
		fputs("An entry's \"env\" does not cross into WSL: put settings into a file and add "
		      "--env-file FILE to this command.\n",
		      stderr);
	if (invocation->entry.ssh)
		fprintf(stderr, "ssh must log in without asking: try ssh -T '%s' true there.\n",
			invocation->entry.ssh);
}

static int print_only(const struct invocation *invocation, json_t *made)
{
	const struct host *host = invocation->entry.host;
	cleanup_free char *file = find_file(invocation);

	host_entry_print(host, made);
	fflush(stdout);
	if (file && !is_elsewhere(invocation))
		fprintf(stderr, "For %s this goes into %s%s\n", host->title, file,
			host->form == HOST_JSON ? "; --write puts it there." : ".");
	else
		fprintf(stderr, "This is for %s.\n", host->title);
	print_advice(invocation, made);
	return 0;
}

static int write_entry(const struct invocation *invocation, json_t *made)
{
	const struct host *host = invocation->entry.host;
	cleanup_free char *file = find_file(invocation);
	struct json_merge_result result;
	struct err err = { 0 };

	if (host->form != HOST_JSON) {
		fprintf(stderr, "The file of %s is not JSON: add the entry to it yourself.\n",
			host->title);
		print_only(invocation, made);
		return 1;
	}
	if (!file || (is_elsewhere(invocation) && !invocation->file)) {
		fprintf(stderr,
			"ptycell does not know where the file of %s is: name it with --file FILE.\n",
			host->title);
		return 2;
	}
	if (json_merge_file(file, host->servers, host_entry_server, made, &result, &err) < 0) {
		fprintf(stderr, "%s was not changed: %s. This is the entry:\n", file, err.msg);
		host_entry_print(host, made);
		return 1;
	}
	if (!result.changed)
		fprintf(stderr, "%s has this entry already.\n", file);
	else if (result.backup)
		fprintf(stderr, "Changed %s; what was there is in %s.\n", file, result.backup);
	else
		fprintf(stderr, "Created %s.\n", file);
	print_advice(invocation, made);
	json_merge_result_release(&result);
	return 0;
}

static int print_settings(void)
{
	cleanup_buf struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	settings_markdown(&out);
	printf("%s", buf_str(&out));
	return 0;
}

static int run_invocation(struct invocation *invocation, int argc, char **argv)
{
	cleanup_json json_t *made = NULL;
	cleanup_free char *python = NULL;
	bool named = false;
	int code = parse_invocation(invocation, argc, argv);

	if (code == 0)
		code = check_text(invocation);
	if (code == 0)
		code = check_flags(invocation, &named);
	if (code != 0)
		return code;
	if (!named)
		python = host_python_choose(environ);
	invocation->entry.python = python;
	made = host_entry_make(&invocation->entry);
	return invocation->write ? write_entry(invocation, made) : print_only(invocation, made);
}

int host_config_main(int argc, char **argv)
{
	struct invocation invocation = { 0 };
	int code;

	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	for (int i = 1; i < argc; i++) {
		if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
			print_usage(stdout);
			return 0;
		}
	}
	if (str_eq(argv[1], "settings") && argc == 2)
		return print_settings();
	if (str_eq(argv[1], "apparmor") && argc == 2)
		return apparmor_main();
	invocation.entry.flags = xcalloc((size_t)argc, sizeof(*invocation.entry.flags));
	code = run_invocation(&invocation, argc, argv);
	free(invocation.entry.flags);
	return code;
}
