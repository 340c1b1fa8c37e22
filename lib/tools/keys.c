/* SPDX-License-Identifier: MIT */
/*
 * keys.c - the table of keys. Enter is a line feed, which is what a program that reads lines gets
 * from a terminal.
 */
#include "tools/keys.h"

#include <string.h>
#include <strings.h>

#include "base/chars.h"
#include "base/util.h"

static const struct {
	const char *name;
	const char *bytes;
} keys[] = {
	{ "enter", "\n" },          { "return", "\n" },         { "tab", "\t" },
	{ "escape", "\033" },       { "esc", "\033" },          { "space", " " },
	{ "backspace", "\177" },    { "delete", "\033[3~" },    { "insert", "\033[2~" },
	{ "up", "\033[A" },         { "down", "\033[B" },       { "right", "\033[C" },
	{ "left", "\033[D" },       { "home", "\033[H" },       { "end", "\033[F" },
	{ "page-up", "\033[5~" },   { "page-down", "\033[6~" }, { "shift-tab", "\033[Z" },
	{ "arrow-up", "\033[A" },   { "arrow-down", "\033[B" }, { "arrow-right", "\033[C" },
	{ "arrow-left", "\033[D" }, { "del", "\033[3~" },
};

/* ctrl-a to ctrl-z, ctrl-\, also as ctrl+c, control-c, c-c and ^c. */
static bool find_control(const char *name, const char **ret_bytes)
{
	static const char bytes[] =
		"\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020"
		"\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037";
	static const char *const before[] = { "ctrl-", "ctrl+", "control-", "control+", "c-", "^" };
	size_t i = 0;
	size_t len = strlen(name);
	int letter;

	while (i < ARRAY_SIZE(before) &&
	       (len != strlen(before[i]) + 1 || strncasecmp(name, before[i], len - 1) != 0))
		i++;
	if (i == ARRAY_SIZE(before))
		return false;
	letter = (unsigned char)name[len - 1] & ~0x20;
	if (name[len - 1] == '\\')
		letter = '\\';
	if ((letter < 'A' || letter > 'Z') && letter != '\\')
		return false;
	*ret_bytes = &bytes[letter - 'A'];
	return true;
}

bool keys_find(const char *name, const char **ret_bytes, size_t *ret_len)
{
	if (find_control(name, ret_bytes)) {
		*ret_len = 1;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!chars_alike(name, keys[i].name, "-_ +"))
			continue;
		*ret_bytes = keys[i].bytes;
		*ret_len = strlen(keys[i].bytes);
		return true;
	}
	return false;
}
