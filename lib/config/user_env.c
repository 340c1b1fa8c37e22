/* SPDX-License-Identifier: MIT */
/*
 * user_env.c - checks and stores the user environment. Values may be secrets, so each is wiped
 * before it is freed. Names with PTYCELL_ are refused, because the server passes such variables to
 * its drivers.
 */
#include "config/user_env.h"

#include <stdlib.h>
#include <strings.h>

#include "base/chars.h"
#include "base/mem.h"
#include "text/sanitize.h"

static void drop_value(struct user_env_variable *item)
{
	explicit_bzero(item->value, strlen(item->value));
	free(item->value);
}

void user_env_release(struct user_env *user_env)
{
	for (size_t i = 0; i < user_env->count; i++) {
		drop_value(&user_env->items[i]);
		free(user_env->items[i].name);
	}
	free(user_env->items);
	*user_env = (struct user_env){ .items = NULL };
}

/* Returns whether POSIX allows the name, and it is not one of ours. */
static bool may_pass(const char *name)
{
	if (!(char_is_letter(name[0]) || name[0] == '_') || strncmp(name, "PTYCELL_", 8) == 0)
		return false;
	for (size_t i = 1; name[i] != '\0'; i++)
		if (!char_is_letter(name[i]) && name[i] != '_' && !char_is_digit(name[i]))
			return false;
	return true;
}

/*
 * Drivers, terminals and files of sessions use UTF-8, so a variable that selects another encoding
 * is not passed. LANG does not select it, because we set LC_ALL.
 */
static bool is_other_encoding(const char *name, const char *value)
{
	const char *encoding = strchr(value, '.');

	if (!str_eq(name, "LC_ALL") && !str_eq(name, "LC_CTYPE"))
		return false;
	return encoding == NULL ||
	       (strncasecmp(encoding, ".UTF-8", 6) != 0 && strncasecmp(encoding, ".UTF8", 5) != 0);
}

static struct user_env_variable *find_variable(struct user_env *user_env, const char *name)
{
	for (size_t i = 0; i < user_env->count; i++)
		if (str_eq(user_env->items[i].name, name))
			return &user_env->items[i];
	return NULL;
}

static void put_variable(struct user_env *user_env, const char *name, const char *value,
			 bool secret)
{
	struct user_env_variable *item = find_variable(user_env, name);

	if (item != NULL && item->secret && !secret)
		return;
	if (item == NULL) {
		user_env->items =
			xrealloc(user_env->items, (user_env->count + 1) * sizeof(*user_env->items));
		item = &user_env->items[user_env->count++];
		item->name = xstrdup(name);
		user_env->bytes += strlen(name) + 2;
	} else {
		user_env->bytes -= strlen(item->value);
		drop_value(item);
	}
	item->value = xstrdup(value);
	item->secret = secret;
	user_env->bytes += strlen(value);
}

bool user_env_take(struct user_env *user_env, const char *variable, const char *value,
		   struct buf *notices)
{
	bool plain = strncmp(variable, USER_ENV_PREFIX, sizeof(USER_ENV_PREFIX) - 1) == 0;
	bool secret =
		strncmp(variable, USER_ENV_SECRET_PREFIX, sizeof(USER_ENV_SECRET_PREFIX) - 1) == 0;
	const char *name =
		variable + (secret ? sizeof(USER_ENV_SECRET_PREFIX) : sizeof(USER_ENV_PREFIX)) - 1;

	if (!plain && !secret)
		return false;
	if (!may_pass(name)) {
		cleanup_free char *quoted = sanitize_quote(variable);

		buf_putf(notices,
			 "%s has no effect: code can be given names of letters, digits and _, but "
			 "none that begins with PTYCELL_.\n",
			 quoted);
	} else if (value[0] != '\0' && is_other_encoding(name, value)) {
		cleanup_free char *quoted = sanitize_quote(value);

		buf_putf(notices,
			 "%s has no effect: '%s' is no locale of UTF-8, which sessions are in, as "
			 "C.UTF-8 is.\n",
			 variable, quoted);
	} else if (value[0] != '\0') {
		put_variable(user_env, name, value, secret);
	}
	return true;
}
