/* SPDX-License-Identifier: MIT */
/*
 * host_entry.c - makes and prints an entry. File names in it become absolute, because a host may
 * start the server in any folder. wsl.exe passes no environment on, and with --exec no shell splits
 * the arguments. The program ssh joins its arguments with blanks for the shell of the other side,
 * so each is quoted. A JSON string is also valid in TOML and in YAML.
 */
#include "host_entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"
#include "json/write.h"

const char host_entry_server[] = "ptycell";

char *host_entry_program(void)
{
	char *path = realpath("/proc/self/exe", NULL);

	return path ? path : xstrdup("/usr/local/bin/ptycell");
}

/* Appends a word as a shell reads it. */
static void put_word(struct buf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@%";

	if (word[0] && word[strspn(word, plain)] == '\0') {
		buf_puts(out, word);
		return;
	}
	buf_puts(out, "'");
	for (; *word; word++)
		buf_putf(out, *word == '\'' ? "'\\%c'" : "%c", *word);
	buf_puts(out, "'");
}

/* Appends an argument for the shell of the other side. */
static void append_quoted(json_t *args, const char *text)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	put_word(&out, text);
	json_append(args, json_make_str(buf_str(&out)));
}

static void add(json_t *args, const struct host_entry *entry, const char *text)
{
	if (entry->ssh)
		append_quoted(args, text);
	else
		json_append(args, json_make_str(text));
}

/* Adds a file's absolute path. */
static void add_path(json_t *args, const struct host_entry *entry, const char *prefix,
		     const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	cleanup_free char *text = xasprintf("%s%s", prefix, real ? real : path);

	add(args, entry, text);
}

static void add_flags(json_t *args, const struct host_entry *entry)
{
	static const char flag[] = "--env-file";
	static const char joined[] = "--env-file=";
	bool is_path = false;

	if (entry->python) {
		add(args, entry, "--python");
		add(args, entry, entry->python);
	}
	for (int i = 0; i < entry->flag_count; i++) {
		const char *arg = entry->flags[i];

		if (is_path)
			add_path(args, entry, "", arg);
		else if (strncmp(arg, joined, sizeof(joined) - 1) == 0)
			add_path(args, entry, joined, arg + sizeof(joined) - 1);
		else
			add(args, entry, arg);
		is_path = !is_path && str_eq(arg, flag);
	}
}

/* Adds the program to what starts it from elsewhere. Returns the command. */
static const char *add_way(json_t *args, const struct host_entry *entry, const char *program)
{
	const char *distribution = paths_getenv(environ, "WSL_DISTRO_NAME");

	if (entry->ssh) {
		json_append(args, json_make_str("-T"));
		json_append(args, json_make_str(entry->ssh));
		append_quoted(args, program);
		return "ssh";
	}
	if (!entry->wsl)
		return program;
	if (distribution) {
		json_append(args, json_make_str("-d"));
		json_append(args, json_make_str(distribution));
	}
	json_append(args, json_make_str("--exec"));
	json_append(args, json_make_str(program));
	return "wsl.exe";
}

json_t *host_entry_make(const struct host_entry *entry)
{
	cleanup_free char *program = host_entry_program();
	json_t *made = json_object();
	json_t *args = json_array();

	if (entry->host->key)
		json_put_str(made, entry->host->key, entry->host->value);
	json_put_str(made, "command", add_way(args, entry, program));
	add_flags(args, entry);
	json_put(made, "args", args);
	return made;
}

char *host_entry_command(const json_t *made)
{
	const json_t *args = json_object_get(made, "args");
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	put_word(&out, json_string_value(json_object_get(made, "command")));
	for (size_t i = 0; i < json_array_size(args); i++) {
		buf_puts(&out, " ");
		put_word(&out, json_string_value(json_array_get(args, i)));
	}
	return buf_steal(&out);
}

static void print_json(const struct host *host, json_t *made)
{
	cleanup_json json_t *root = json_object();
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	json_t *servers = json_object();
	struct err err = { 0 };

	json_put(servers, host_entry_server, json_incref(made));
	json_put(root, host->servers, servers);
	if (json_write_indented(&text, root, &err) < 0)
		fprintf(stderr, "%s\n", err.msg);
	printf("%s\n", buf_str(&text));
}

void host_entry_print(const struct host *host, json_t *made)
{
	cleanup_free char *command = json_write_text(json_object_get(made, "command"));
	cleanup_free char *args = json_write_text(json_object_get(made, "args"));

	if (host->form == HOST_JSON)
		print_json(host, made);
	else if (host->form == HOST_TOML)
		printf("[%s.%s]\ncommand = %s\nargs = %s\n", host->servers, host_entry_server,
		       command, args);
	else
		printf("%s:\n  %s:\n    name: %s\n    description: Runs Python, JavaScript, bash and R\n"
		       "    enabled: true\n    type: stdio\n    cmd: %s\n    args: %s\n    timeout: 300\n",
		       host->servers, host_entry_server, host_entry_server, command, args);
}
