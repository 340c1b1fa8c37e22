/* SPDX-License-Identifier: MIT */
/*
 * indexes.c - reads the indexes of a language from the settings, or from the user's configuration.
 * The hosts are collected from the URLs, and their number is checked only at the end: each URL is
 * valid alone, but all together may exceed HOST_LIST_MAX.
 */
#include "install/indexes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "confinement/shares.h"
#include "install/netrc.h"
#include "install/npmrc.h"
#include "install/pipconf.h"
#include "install/trusted_config.h"
#include "json/make.h"
#include "net/host.h"
#include "net/host_list.h"
#include "text/sanitize.h"

/* Returns the URL without user and password; another word as it is. The caller frees it. */
static char *hide_login(const char *word)
{
	const char *scheme = strstr(word, "://");
	const char *start = scheme != NULL ? scheme + 3 : word;
	const char *at = memrchr(start, '@', strcspn(start, "/?#\\"));

	return scheme != NULL && at != NULL ? xasprintf("%.*s%s", (int)(start - word), word, at + 1)
					    : xstrdup(word);
}

/*
 * Returns a word that is no index without all that may be a login: a password may have a slash, and
 * the scheme may be missing. The caller frees it.
 */
static char *hide_any_login(const char *word)
{
	const char *at = strrchr(word, '@');
	bool folder = word[0] == '/' || strncasecmp(word, "file:", 5) == 0;

	return at != NULL && !folder ? xstrdup(at + 1) : xstrdup(word);
}

static int refuse(const char *word, const char *why, struct err *err)
{
	cleanup_free char *shown = hide_any_login(word);
	cleanup_free char *quoted = sanitize_quote(shown);

	return err_set(err, ERR_INVALID, "the package index '%s' %s", quoted, why);
}

/* Parses the host and port of "https://user:word@host:port/path". */
static int read_authority(const char *url, struct host_port *ret_to, struct err *err)
{
	const char *start = strstr(url, "://") + 3;
	size_t len = strcspn(start, "/?#\\");
	const char *at = memrchr(start, '@', len);
	const char *host = at != NULL ? at + 1 : start;
	uint16_t port = strncasecmp(url, "https", 5) == 0 ? 443 : 80;

	return host_parse_authority(host, len - (size_t)(host - start), port, ret_to, err);
}

/* Returns true if the URL has an address where a host is expected. */
static bool is_address(const char *url)
{
	const char *start = strstr(url, "://") + 3;
	size_t len = strcspn(start, "/?#\\");
	const char *at = memrchr(start, '@', len);
	const char *host = at != NULL ? at + 1 : start;
	size_t digits = strspn(host, "0123456789.");

	return host[0] == '[' || (digits > 0 && strchr("/?#\\:", host[digits]) != NULL);
}

static void add_hosts(struct indexes *indexes, const char *text)
{
	char *joined =
		indexes->hosts != NULL ? xasprintf("%s,%s", indexes->hosts, text) : xstrdup(text);

	free(indexes->hosts);
	indexes->hosts = joined;
}

/*
 * Returns the URL with the login that .netrc has for its host, unless it has one itself or the
 * login would be readable on the way. The caller frees it.
 */
static char *add_login(const struct indexes *indexes, const char *url, const char *host)
{
	const char *start = strstr(url, "://") + 3;
	bool has_login = memchr(start, '@', strcspn(start, "/?#\\")) != NULL;
	bool readable = strncasecmp(url, "https:", 6) != 0 && !str_eq(host, "localhost");
	cleanup_free char *login = has_login || readable ? NULL : netrc_find(indexes->netrc, host);

	return login != NULL ? xasprintf("%.*s%s@%s", (int)(start - url), url, login, start)
			     : xstrdup(url);
}

static int add_url(struct indexes *indexes, const char *url, struct err *err)
{
	cleanup_free char *authority = NULL;
	cleanup_free char *whole = NULL;
	struct host_port to;

	if (is_address(url))
		return refuse(
			url,
			"has an IP address for a host, which installers do not reach. Give it "
			"a name, for example in /etc/hosts, and use that",
			err);
	if (read_authority(url, &to, err) < 0)
		return refuse(url, "has no host that can be reached by name", err);
	authority = xasprintf("%s:%u", to.host, (unsigned int)to.port);
	add_hosts(indexes, authority);
	whole = add_login(indexes, url, to.host);
	json_append(indexes->urls, json_make_str(whole));
	return 0;
}

static int add_folder(struct indexes *indexes, const char *path, struct err *err)
{
	cleanup_free char *real = realpath(path, NULL);
	int fd;

	if (shares_may_change(indexes->shares, path))
		return refuse(
			path,
			"lies in a folder that is shared with :rw: code in a session could put "
			"packages there. Name one elsewhere, or share it without :rw",
			err);
	if (indexes->folder_count == INDEXES_FOLDERS_MAX)
		return refuse(path, "is one folder too many", err);
	fd = real == NULL ? -1 : open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return refuse(path, "is no folder", err);
	indexes->folder_fds[indexes->folder_count] = fd;
	indexes->folders[indexes->folder_count++] = mem_steal(&real);
	return 0;
}

static bool is_url(const char *word)
{
	return strncasecmp(word, "https://", 8) == 0 || strncasecmp(word, "http://", 7) == 0;
}

/* Returns the length of "NAME*@" before a URL, or 0. */
static size_t pattern_length(const char *word)
{
	size_t n =
		strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	if (n == 0)
		return 0;
	n += word[n] == '*';
	return word[n] == '@' && is_url(word + n + 1) ? n + 1 : 0;
}

/* Adds an index that serves only the names of the pattern, which stays before its URL. */
static int add_reserved(struct indexes *indexes, const char *word, size_t pattern, struct err *err)
{
	size_t at = json_array_size(indexes->urls);

	if (add_url(indexes, word + pattern, err) < 0)
		return -1;
	(void)json_array_set_new(
		indexes->urls, at,
		json_make_fmt("%.*s%s", (int)pattern, word,
			      json_string_value(json_array_get(indexes->urls, at))));
	return 0;
}

static int add_word(struct indexes *indexes, const char *word, struct err *err)
{
	size_t pattern = indexes->takes_patterns ? pattern_length(word) : 0;

	if (pattern > 0)
		return add_reserved(indexes, word, pattern, err);
	if (is_url(word))
		return add_url(indexes, word, err);
	if (strncasecmp(word, "file:///", 8) == 0)
		return add_folder(indexes, word + 7, err);
	if (word[0] == '/')
		return add_folder(indexes, word, err);
	return refuse(word, "is neither an http(s) URL nor an absolute path", err);
}

static int add_words(struct indexes *indexes, const char *text, struct err *err)
{
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	const char *word;

	while ((word = strsep(&rest, " \t,\n")) != NULL)
		if (word[0] != '\0' && add_word(indexes, word, err) < 0)
			return -1;
	return 0;
}

static int read_certificates(struct indexes *indexes, const char *path, struct err *err)
{
	size_t len;

	if (path == NULL || path[0] == '\0' || !trusted_config_holds(indexes->shares, path))
		return 0;
	indexes->certificates = fd_read_regular(path, INDEXES_CERTIFICATES_MAX, &len, err);
	return indexes->certificates != NULL ? 0 : err_wrap(err, "the certificates for packages");
}

/* Adds pip's find-links. pip ignores missing folders; pages of links are not supported. */
static int add_links(struct indexes *indexes, const char *text, struct err *err)
{
	cleanup_free char *copy = xstrdup(text != NULL ? text : "");
	char *rest = copy;
	const char *word;

	while ((word = strsep(&rest, " \t,\n")) != NULL)
		if (word[0] == '/' && access(word, R_OK | X_OK) == 0 &&
		    trusted_config_holds(indexes->shares, word) &&
		    add_folder(indexes, word, err) < 0)
			return -1;
	return 0;
}

static bool is_on(const char *value)
{
	static const char *const words[] = { "1", "true", "yes", "on" };

	for (size_t i = 0; value != NULL && i < ARRAY_SIZE(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

static int read_pip_configuration(struct indexes *indexes, const json_t *found, struct err *err)
{
	const char *index = json_string_value(json_object_get(found, "index-url"));
	const char *more = json_string_value(json_object_get(found, "extra-index-url"));
	bool offline = is_on(json_string_value(json_object_get(found, "no-index")));

	indexes->wants_default = index == NULL && !offline;
	if (!offline && (index != NULL || more != NULL))
		indexes->allow_private = true;
	/* The main index is mostly the public one, which must not serve names of the others. */
	if (!offline && more != NULL && add_words(indexes, more, err) < 0)
		return -1;
	if (!offline && index != NULL && add_words(indexes, index, err) < 0)
		return -1;
	indexes->default_last = true;
	return add_links(indexes, json_string_value(json_object_get(found, "find-links")), err);
}

static json_t *words_of(const char *text)
{
	json_t *words = json_array();
	cleanup_free char *copy = xstrdup(text);
	char *rest = copy;
	const char *word;

	while ((word = strsep(&rest, " \t,\n")) != NULL)
		if (word[0] != '\0' && word[0] != '-')
			json_append(words, json_make_str(word));
	return words;
}

/* Adds the words of a setting, or reports that it is "off". */
static int add_setting(struct indexes *indexes, const char *text, const char *name, struct err *err)
{
	if (text == NULL || text[0] == '\0')
		return 0;
	if (strcasecmp(text, "off") == 0)
		return err_set(err, ERR_DENIED, "installing packages is turned off (%s=off)", name);
	indexes->allow_private = true;
	return add_words(indexes, text, err);
}

/* Returns true if all that is set are indexes for some packages. */
static bool serves_some_only(const struct indexes *indexes)
{
	size_t n;
	json_t *word;

	json_array_foreach (indexes->urls, n, word)
		if (is_url(json_string_value(word)))
			return false;
	return json_array_size(indexes->urls) > 0 && indexes->folder_count == 0;
}

static int read_python(const struct settings *settings, struct indexes *indexes, struct err *err)
{
	const char *text = settings->pip_index;
	cleanup_json json_t *found = pipconf_read(settings->environment, indexes->shares);
	const char *trusted = json_string_value(json_object_get(found, "trusted-host"));

	indexes->netrc = netrc_read(settings->environment, indexes->shares);
	if (trusted != NULL)
		indexes->trusted = words_of(trusted);
	if (read_certificates(indexes, json_string_value(json_object_get(found, "cert")), err) < 0)
		return -1;
	indexes->takes_patterns = true;
	indexes->wants_default = text != NULL && text[0] == '\0';
	if (add_setting(indexes, text, "PTYCELL_PIP_INDEX", err) < 0)
		return -1;
	indexes->takes_patterns = false;
	return text == NULL || serves_some_only(indexes)
		       ? read_pip_configuration(indexes, found, err)
		       : 0;
}

/*
 * Adds the hosts of "@scope:registry". npm reports a scope that cannot be used to the user who
 * requests it.
 */
static void add_scopes(struct indexes *indexes)
{
	const char *name;
	json_t *value;
	struct err err;

	json_object_foreach (indexes->options, name, value) {
		const char *url = json_string_value(value);

		if (name[0] == '@' && is_url(url) && add_url(indexes, url, &err) == 0)
			indexes->allow_private = true;
	}
}

static int read_javascript(const struct settings *settings, struct indexes *indexes,
			   struct err *err)
{
	const char *registry;

	indexes->options = npmrc_read(settings->environment, indexes->shares);
	registry = json_string_value(json_object_get(indexes->options, "registry"));
	indexes->allow_private = registry != NULL;
	indexes->wants_default = registry == NULL;
	if (read_certificates(indexes,
			      json_string_value(json_object_get(indexes->options, "cafile")),
			      err) < 0)
		return -1;
	json_object_del(indexes->options, "cafile"); /* its path is outside of the sandbox */
	if (registry != NULL && add_word(indexes, registry, err) < 0)
		return -1;
	add_scopes(indexes);
	return 0;
}

static int read_r(const struct settings *settings, struct indexes *indexes, struct err *err)
{
	indexes->wants_default = settings->r_repos == NULL || settings->r_repos[0] == '\0';
	return add_setting(indexes, settings->r_repos, "PTYCELL_R_REPOS", err);
}

static int read_for(const struct settings *settings, const struct language *language,
		    struct indexes *indexes, struct err *err)
{
	if (str_eq(language->name, "javascript"))
		return read_javascript(settings, indexes, err);
	if (str_eq(language->name, "r"))
		return read_r(settings, indexes, err);
	return read_python(settings, indexes, err);
}

/* Checks the total number of hosts: each was valid alone. */
static int check_hosts(const struct indexes *indexes, struct err *err)
{
	struct host_list *hosts =
		indexes->hosts != NULL ? host_list_parse(indexes->hosts, err) : NULL;

	if (indexes->hosts != NULL && hosts == NULL)
		return err_wrap(err, "the hosts of packages (indexes, PTYCELL_INSTALL_HOSTS)");
	host_list_free(hosts);
	return 0;
}

int indexes_read(const struct settings *settings, const struct shares *shares,
		 const struct language *language, struct indexes *ret_indexes, struct err *err)
{
	struct indexes indexes = { .urls = json_array(), .shares = shares };
	int result = read_for(settings, language, &indexes, err);

	if (result == 0 && settings->install_hosts != NULL)
		add_hosts(&indexes, settings->install_hosts);
	if (result < 0 || check_hosts(&indexes, err) < 0) {
		indexes_release(&indexes);
		return -1;
	}
	*ret_indexes = indexes;
	return 0;
}

static void move_last_to_front(json_t *list)
{
	size_t last = json_array_size(list) - 1;
	json_t *value = json_incref(json_array_get(list, last));

	(void)json_array_remove(list, last);
	(void)json_array_insert_new(list, 0, value);
}

int indexes_take_default(struct indexes *indexes, const json_t *reply, struct err *err)
{
	const char *url = json_string_value(json_object_get(reply, "url"));
	const json_t *hosts = json_object_get(reply, "hosts");
	size_t n;
	json_t *host;

	if (url == NULL || !is_url(url) || !json_is_array(hosts))
		return err_set(err, ERR_INVALID, "the installer does not tell its index");
	if (add_url(indexes, url, err) < 0)
		return -1;
	if (!indexes->default_last)
		move_last_to_front(indexes->urls);
	json_array_foreach (hosts, n, host) {
		char name[HOST_MAX + 1];

		if (!json_is_string(host) ||
		    host_canonicalise(json_string_value(host), json_string_length(host), name,
				      err) < 0)
			return err_set(err, ERR_INVALID, "the installer tells a host that is none");
		add_hosts(indexes, name);
	}
	return check_hosts(indexes, err);
}

json_t *indexes_public(const struct indexes *indexes)
{
	json_t *list = json_array();
	const char *name;
	size_t n;
	json_t *url;

	json_array_foreach (indexes->urls, n, url) {
		cleanup_free char *shown = hide_login(json_string_value(url));

		json_append(list, json_make_str(shown));
	}
	json_object_foreach (indexes->options, name, url) {
		cleanup_free char *shown = hide_login(json_string_value(url));

		if (name[0] == '@')
			json_append(list, json_make_fmt("%s=%s", name, shown));
	}
	return list;
}

char *indexes_describe(const struct indexes *indexes)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (indexes->hosts != NULL)
		buf_puts(&text, indexes->hosts);
	for (size_t i = 0; i < indexes->folder_count; i++)
		buf_putf(&text, "%s%s", text.len > 0 ? "," : "", indexes->folders[i]);
	return buf_steal(&text);
}

void indexes_release(struct indexes *indexes)
{
	json_decref(indexes->urls);
	json_decref(indexes->options);
	json_decref(indexes->trusted);
	free(indexes->certificates);
	free(indexes->netrc);
	for (size_t i = 0; i < indexes->folder_count; i++) {
		free(indexes->folders[i]);
		fd_close(&indexes->folder_fds[i]);
	}
	free(indexes->hosts);
	*indexes = (struct indexes){ .urls = NULL };
}
