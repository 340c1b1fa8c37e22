/* SPDX-License-Identifier: MIT */
/*
 * keys.c - the table of keys. Enter is a line feed, which is what a program that reads lines gets
 * from a terminal.
 */
#include "tools/keys.h"

#include <string.h>
#include <strings.h>

#include "base/util.h"

static const struct {
	const char *name;
	const char *bytes;
} keys[] = {
	{ "enter", "\n" },        { "return", "\n" },         { "tab", "\t" },
	{ "escape", "\033" },     { "esc", "\033" },          { "space", " " },
	{ "backspace", "\177" },  { "delete", "\033[3~" },    { "insert", "\033[2~" },
	{ "up", "\033[A" },       { "down", "\033[B" },       { "right", "\033[C" },
	{ "left", "\033[D" },     { "home", "\033[H" },       { "end", "\033[F" },
	{ "page-up", "\033[5~" }, { "page-down", "\033[6~" }, { "shift-tab", "\033[Z" },
};

/* ctrl-a to ctrl-z, ctrl-\. */
static bool find_control(const char *name, const char **ret_bytes)
{
	static const char bytes[] =
		"\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017\020"
		"\021\022\023\024\025\026\027\030\031\032\033\034\035\036\037";
	int letter;

	if (strncasecmp(name, "ctrl-", 5) != 0 || strlen(name) != 6)
		return false;
	letter = (unsigned char)name[5] & ~0x20;
	if (name[5] == '\\')
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
		if (strcasecmp(name, keys[i].name) != 0)
			continue;
		*ret_bytes = keys[i].bytes;
		*ret_len = strlen(keys[i].bytes);
		return true;
	}
	return false;
}
