/* SPDX-License-Identifier: MIT */
/*
 * user_path.c - turns the forms of a path into an absolute path of this machine.
 *
 * Under WSL the drives of Windows are mounted below `root` of /etc/wsl.conf, and
 * \\wsl.localhost\NAME is the root of the distribution NAME. Only this distribution is known here.
 */
#include "tools/user_path.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/chars.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "text/percent.h"

enum { CONF_MAX = 64 << 10, RELEASE_MAX = 1024 };

static const char default_drives[] = "/mnt";

/* ---- the machine ---- */

static char *take_root(const char *line, size_t len)
{
	const char *equals = memchr(line, '=', len);
	const char *end = line + len;
	const char *value;
	size_t name_len;
	size_t value_len;

	if (equals == NULL)
		return NULL;
	name_len = (size_t)(equals - line);
	chars_trim(&line, &name_len);
	if (name_len != 4 || strncasecmp(line, "root", 4) != 0)
		return NULL;
	value = equals + 1;
	value_len = (size_t)(end - value);
	chars_trim(&value, &value_len);
	if (value_len > 1 && value[0] == '"' && value[value_len - 1] == '"') {
		value++;
		value_len -= 2;
	}
	while (value_len > 0 && value[value_len - 1] == '/')
		value_len--;
	return value_len == 0 || value[0] == '/' ? xmemdup(value, value_len) : NULL;
}

char *user_path_drives(const char *conf)
{
	bool ours = false;

	while (*conf != '\0') {
		size_t len = strcspn(conf, "\n");
		size_t trimmed_len = len;
		const char *line = conf;
		char *root;

		chars_trim(&line, &trimmed_len);
		if (trimmed_len > 0 && line[0] == '[')
			ours = trimmed_len == 11 && strncasecmp(line, "[automount]", 11) == 0;
		root = ours ? take_root(line, trimmed_len) : NULL;
		if (root != NULL)
			return root;
		conf += len + (conf[len] == '\n');
	}
	return xstrdup(default_drives);
}

static bool release_is_wsl(void)
{
	struct err err;
	size_t len;
	cleanup_free char *release =
		fd_read_file(AT_FDCWD, "/proc/sys/kernel/osrelease", RELEASE_MAX, &len, &err);

	return release != NULL && strcasestr(release, "microsoft") != NULL;
}

void user_path_inspect(struct user_path_machine *ret_machine, char *const *environment)
{
	struct err err;
	size_t len;
	cleanup_free char *conf = NULL;
	bool wsl = paths_getenv(environment, "WSL_DISTRO_NAME") != NULL || release_is_wsl();

	if (wsl)
		conf = fd_read_file(AT_FDCWD, "/etc/wsl.conf", CONF_MAX, &len, &err);
	*ret_machine = (struct user_path_machine){
		.environment = environment,
		.uid = geteuid(),
		.wsl = wsl,
		.drives = user_path_drives(conf != NULL ? conf : ""),
	};
}

void user_path_release(struct user_path_machine *machine)
{
	free(machine->drives);
	machine->drives = NULL;
}

/* ---- the forms ---- */

static bool is_drive(const char *text)
{
	return ((text[0] | 0x20) >= 'a' && (text[0] | 0x20) <= 'z') && text[1] == ':' &&
	       (text[2] == '\\' || text[2] == '/');
}

static char *with_slashes(const char *text)
{
	char *path = xstrdup(text);

	for (char *c = path; *c != '\0'; c++)
		if (*c == '\\')
			*c = '/';
	return path;
}

static char *from_drive(const struct user_path_machine *machine, const char *text, struct err *err)
{
	cleanup_free char *rest = with_slashes(text + 2);

	if (!machine->wsl) {
		(void)err_set(err, ERR_INVALID, "Windows paths are understood under WSL only");
		return NULL;
	}
	return xasprintf("%s/%c%s", machine->drives, text[0] | 0x20, rest);
}

static bool skip_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncasecmp(*text, word, len) != 0)
		return false;
	*text += len;
	return true;
}

/* Reads the text behind the slashes of "//wsl.localhost/Ubuntu/home/me". */
static char *from_distribution(const struct user_path_machine *machine, const char *text,
			       struct err *err)
{
	const char *name = paths_getenv(machine->environment, "WSL_DISTRO_NAME");
	size_t len;

	if (skip_word(&text, "wsl.localhost/") || skip_word(&text, "wsl$/")) {
		len = strcspn(text, "/");
		if (name != NULL && strlen(name) == len && strncasecmp(text, name, len) == 0)
			return xstrdup(text[len] != '\0' ? text + len : "/");
	}
	(void)err_set(err, ERR_INVALID, "it lies on another machine: name a file of this one");
	return NULL;
}

/* Reads the text behind "file://". */
static char *from_url(const struct user_path_machine *machine, const char *rest, struct err *err)
{
	cleanup_free char *path = percent_decode(rest, strcspn(rest, "?#"));
	const char *at = path;

	if (path == NULL) {
		(void)err_set(err, ERR_INVALID, "the path has a %%00");
		return NULL;
	}
	if (path[0] != '/' && !skip_word(&at, "localhost/"))
		return from_distribution(machine, at, err);
	if (at != path)
		at--;
	if (is_drive(at + 1))
		return from_drive(machine, at + 1, err);
	return xstrdup(at);
}

static char *from_text(const struct user_path_machine *machine, const char *text, struct err *err)
{
	cleanup_free char *slashes = NULL;
	const char *url = text;
	char *path;

	if (skip_word(&url, "file://"))
		return from_url(machine, url, err);
	if (is_drive(text))
		return from_drive(machine, text, err);
	if (text[0] == '\\' && text[1] == '\\') {
		slashes = with_slashes(text + 2);
		return from_distribution(machine, slashes, err);
	}
	path = paths_absolute(machine->environment, machine->uid, text);
	if (path == NULL)
		(void)err_set(err, ERR_INVALID,
			      "it must be an absolute path, or begin with ~/ or file://; pass "
			      "what is attached to the chat as content, with filename");
	return path;
}

char *user_path_read(const struct user_path_machine *machine, const char *text, struct err *err)
{
	size_t len = strlen(text);
	cleanup_free char *bare = NULL;

	if (len < 2 || text[0] != '"' || text[len - 1] != '"')
		return from_text(machine, text, err);
	bare = xmemdup(text + 1, len - 2);
	return from_text(machine, bare, err);
}
