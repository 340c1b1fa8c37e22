/* SPDX-License-Identifier: MIT */
/*
 * host_config.c - a table of hosts, and the entry for each. A table describes the hosts: where
 * their file is and what its entries look like. FLAGs are checked as the server will read them
 * before they become part of an entry, because a host shows errors of a server badly. File names in
 * the entry become absolute: a host may start the server in any folder.
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
#include "json/make.h"
#include "json/write.h"
#include "json_merge.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum place { PLACE_CONFIG, PLACE_HOME, PLACE_PROJECT, PLACE_NONE };

struct host {
	const char *name;    /* on the command line */
	const char *title;   /* for users */
	const char *servers; /* the member that holds the entries */
	const char *file;    /* below `place` */
	const char *advice;  /* what the user must do then, and other ways */
	enum place place;
	bool typed; /* entries have "type": "stdio" */
};

static const struct host hosts[] = {
	{ "claude-desktop", "Claude Desktop", "mcpServers", "Claude/claude_desktop_config.json",
	  "On macOS the file is ~/Library/Application Support/Claude/claude_desktop_config.json, on Windows "
	  "%APPDATA%\\Claude\\claude_desktop_config.json (there use --wsl). Then quit Claude Desktop "
	  "and start it again.",
	  PLACE_CONFIG, false },
	{ "claude-code", "Claude Code", "mcpServers", ".mcp.json",
	  "That is for one project, started in its folder. For all of yours instead: claude mcp add "
	  "--scope user ptycell --",
	  PLACE_PROJECT, true },
	{ "vscode", "VS Code", "servers", ".vscode/mcp.json",
	  "That is for one workspace; for all of yours use the command \"MCP: Open User "
	  "Configuration\". Then start it from the code lens above the entry.",
	  PLACE_PROJECT, true },
	{ "cursor", "Cursor", "mcpServers", ".cursor/mcp.json",
	  "A project's own is .cursor/mcp.json in its folder. Then enable it in Cursor's settings "
	  "under MCP.",
	  PLACE_HOME, false },
	{ "inspector", "the MCP Inspector", "mcpServers", NULL,
	  "Save it as mcp.json, then: npx @modelcontextprotocol/inspector --config mcp.json --server "
	  "ptycell. Without a file: npx @modelcontextprotocol/inspector",
	  PLACE_NONE, true },
};

static const char server_name[] = "ptycell";

/* The parsed command line. */
struct invocation {
	const struct host *host;
	const char *file; /* of --file; may be NULL */
	char **flags;     /* for the entry; an array of borrowed strings */
	int flag_count;
	bool write;
	bool wsl;
};

static const struct host *find_host(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		if (str_eq(hosts[i].name, name))
			return &hosts[i];
	}
	return NULL;
}

static void print_usage(FILE *out)
{
	fputs("Usage: ptycell config HOST [--write] [--wsl] [--file FILE] [FLAG...]\n"
	      "  prints the entry that makes HOST start this ptycell; FLAGs (ptycell --help) become "
	      "part of it.\n"
	      "  HOST is one of",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		fprintf(out, " %s", hosts[i].name);
	fputs("\n"
	      "  --write      put it into the host's file, keeping a copy of what was there\n"
	      "  --file FILE  that file, where it is not at its usual place\n"
	      "  --wsl        for a host on Windows, with ptycell in WSL\n"
	      "Usage: ptycell config settings\n"
	      "  prints the table of settings as Markdown.\n",
	      out);
}

/* Returns 0 or the exit code. */
static int parse_invocation(struct invocation *invocation, int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (str_eq(argv[i], "--write")) {
			invocation->write = true;
		} else if (str_eq(argv[i], "--wsl")) {
			invocation->wsl = true;
		} else if (str_eq(argv[i], "--file") && i + 1 < argc) {
			invocation->file = argv[++i];
		} else {
			invocation->flags[invocation->flag_count++] = argv[i];
		}
	}
	invocation->host = find_host(argv[1]);
	if (!invocation->host) {
		cleanup_free char *quoted = sanitize_quote(argv[1]);

		fprintf(stderr, "ptycell config knows no host '%s'.\n", quoted);
		print_usage(stderr);
		return 2;
	}
	return 0;
}

/* Refuses a flag that is not UTF-8: JSON cannot have it, so the entry would name another file. */
static int check_text(const struct invocation *invocation)
{
	for (int i = 0; i < invocation->flag_count; i++) {
		cleanup_free char *quoted = sanitize_quote(invocation->flags[i]);

		if (utf8_valid(invocation->flags[i], strlen(invocation->flags[i])))
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
			"The share '%s' is not there now; a server that starts without it has no "
			"such share.\n",
			buf_str(&path));
	}
}

/* Checks the flags as the server will read them. Its environment will differ from ours. */
static int check_flags(const struct invocation *invocation)
{
	const char *home = getenv("HOME");
	cleanup_free char *entry = xasprintf("HOME=%s", home ? home : "");
	char *const env[] = { entry, NULL };
	struct settings *settings = settings_load(invocation->flag_count, invocation->flags, env);
	int code = settings->problem ? 2 : 0;

	if (settings->problem)
		fprintf(stderr, "%s\n", settings->problem);
	note_absent_shares(settings);
	settings_free(settings);
	return code;
}

/* Adds a file's absolute path, since a host may start the server in any folder. */
static void add_path(json_t *args, const char *prefix, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);

	json_append(args, json_make_fmt("%s%s", prefix, real ? real : path));
}

static void add_flags(json_t *args, const struct invocation *invocation)
{
	static const char flag[] = "--env-file";
	static const char joined[] = "--env-file=";
	bool is_path = false;

	for (int i = 0; i < invocation->flag_count; i++) {
		const char *arg = invocation->flags[i];

		if (is_path)
			add_path(args, "", arg);
		else if (strncmp(arg, joined, sizeof(joined) - 1) == 0)
			add_path(args, joined, arg + sizeof(joined) - 1);
		else
			json_append(args, json_make_str(arg));
		is_path = !is_path && str_eq(arg, flag);
	}
}

static char *own_path(void)
{
	char *path = realpath("/proc/self/exe", NULL);

	return path ? path : xstrdup("/usr/local/bin/ptycell");
}

/*
 * Returns the entry. wsl.exe passes no environment on. With --exec no shell splits the arguments.
 */
static json_t *make_entry(const struct invocation *invocation)
{
	cleanup_free char *path = own_path();
	const char *distribution = paths_getenv(environ, "WSL_DISTRO_NAME");
	json_t *entry = json_object();
	json_t *args = json_array();

	if (invocation->host->typed)
		json_put_str(entry, "type", "stdio");
	json_put_str(entry, "command", invocation->wsl ? "wsl.exe" : path);
	if (invocation->wsl && distribution) {
		json_append(args, json_make_str("-d"));
		json_append(args, json_make_str(distribution));
	}
	if (invocation->wsl) {
		json_append(args, json_make_str("--exec"));
		json_append(args, json_make_str(path));
	}
	add_flags(args, invocation);
	json_put(entry, "args", args);
	return entry;
}

/* Returns NULL for a host without a file of its own. */
static char *find_file(const struct invocation *invocation)
{
	const char *config = paths_getenv(environ, "XDG_CONFIG_HOME");
	cleanup_free char *home = paths_user_home(environ, geteuid());

	if (invocation->file)
		return xstrdup(invocation->file);
	switch (invocation->host->place) {
	case PLACE_CONFIG:
		if (config && config[0] == '/')
			return xasprintf("%s/%s", config, invocation->host->file);
		return home ? xasprintf("%s/.config/%s", home, invocation->host->file) : NULL;
	case PLACE_HOME:
		return home ? xasprintf("%s/%s", home, invocation->host->file) : NULL;
	case PLACE_PROJECT:
		return xstrdup(invocation->host->file);
	case PLACE_NONE:
		break;
	}
	return NULL;
}

static void print_entry(const struct invocation *invocation, json_t *entry)
{
	cleanup_json json_t *root = json_object();
	json_t *servers = json_object();
	cleanup_buf struct buf text;
	struct err err = { 0 };

	buf_init(&text, BUF_UNBOUNDED);
	json_put(servers, server_name, json_incref(entry));
	json_put(root, invocation->host->servers, servers);
	if (json_write_indented(&text, root, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
	printf("%s\n", buf_str(&text));
}

/* Prints the advice. Some hosts need our path at its end, where it is a command. */
static void print_advice(const struct invocation *invocation)
{
	cleanup_free char *path = own_path();
	size_t len = strlen(invocation->host->advice);

	fprintf(stderr, "%s", invocation->host->advice);
	if (invocation->host->advice[len - 1] != '.')
		fprintf(stderr, " %s", path);
	fputs("\n", stderr);
	if (invocation->wsl)
		fputs("An entry's \"env\" does not cross into WSL: put settings into a file and add "
		      "--env-file FILE to this command.\n",
		      stderr);
}

static int print_only(const struct invocation *invocation, json_t *entry)
{
	cleanup_free char *file = find_file(invocation);

	print_entry(invocation, entry);
	fflush(stdout);
	if (file && !invocation->wsl)
		fprintf(stderr, "For %s this goes into %s; --write puts it there.\n",
			invocation->host->title, file);
	else
		fprintf(stderr, "This is for %s.\n", invocation->host->title);
	print_advice(invocation);
	return 0;
}

static int write_entry(const struct invocation *invocation, json_t *entry)
{
	cleanup_free char *file = find_file(invocation);
	struct json_merge_result result;
	struct err err = { 0 };

	if (!file || (invocation->wsl && !invocation->file)) {
		fprintf(stderr, "Where is the file of %s? Say --file FILE.\n",
			invocation->host->title);
		return 2;
	}
	if (json_merge_file(file, invocation->host->servers, server_name, entry, &result, &err) <
	    0) {
		fprintf(stderr, "%s was not changed: %s. This is the entry:\n", file, err.msg);
		print_entry(invocation, entry);
		return 1;
	}
	if (!result.changed)
		fprintf(stderr, "%s has this entry already.\n", file);
	else if (result.backup)
		fprintf(stderr, "%s is changed; what was there is in %s.\n", file, result.backup);
	else
		fprintf(stderr, "%s is made.\n", file);
	print_advice(invocation);
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
	cleanup_json json_t *entry = NULL;
	int code = parse_invocation(invocation, argc, argv);

	if (code == 0)
		code = check_text(invocation);
	if (code == 0)
		code = check_flags(invocation);
	if (code != 0)
		return code;
	entry = make_entry(invocation);
	return invocation->write ? write_entry(invocation, entry) : print_only(invocation, entry);
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
	invocation.flags = xcalloc((size_t)argc, sizeof(*invocation.flags));
	code = run_invocation(&invocation, argc, argv);
	free(invocation.flags);
	return code;
}
