/* SPDX-License-Identifier: MIT */
#include "install/indexes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/places.h"
#include "config/settings.h"
#include "install/npmrc.h"
#include "json/make.h"
#include "net/host.h"
#include "net/hosts.h"
#include "text/clean.h"

static int refuse(const char *word, const char *why, struct err *err)
{
	cleanup_free char *quoted = clean_quote(word);

	return err_set(err, ERR_INVALID, "the package index '%s' %s", quoted, why);
}

/* "https://user:word@host:port/path" gives "host:port". */
static char *authority_of(const char *url)
{
	const char *start = strstr(url, "://") + 3;
	size_t len = strcspn(start, "/?#");
	cleanup_free char *authority = xmemdup(start, len);
	const char *at = strrchr(authority, '@');
	const char *host = at != NULL ? at + 1 : authority;

	if (strchr(host, ':') != NULL)
		return xstrdup(host);
	return xasprintf("%s:%s", host, strncasecmp(url, "https", 5) == 0 ? "443" : "80");
}

static void add_hosts(struct indexes *indexes, const char *text)
{
	char *joined =
		indexes->hosts != NULL ? xasprintf("%s,%s", indexes->hosts, text) : xstrdup(text);

	free(indexes->hosts);
	indexes->hosts = joined;
}

static int add_url(struct indexes *indexes, const char *url, struct err *err)
{
	cleanup_free char *authority = authority_of(url);
	struct hosts *hosts = hosts_parse(authority, err);

	if (hosts == NULL)
		return refuse(url, "has no host that can be reached by name", err);
	hosts_free(hosts);
	add_hosts(indexes, authority);
	json_append(indexes->urls, json_make_str(url));
	return 0;
}

static int add_folder(struct indexes *indexes, const char *path, struct err *err)
{
	cleanup_free char *real = realpath(path, NULL);
	int fd;

	if (indexes->folder_count == INDEXES_FOLDERS_MAX)
		return refuse(path, "is one folder too many", err);
	fd = real == NULL ? -1 : open(real, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return refuse(path, "is no folder", err);
	indexes->folder_fds[indexes->folder_count] = fd;
	indexes->folders[indexes->folder_count++] = mem_steal(&real);
	return 0;
}

static int add_word(struct indexes *indexes, const char *word, struct err *err)
{
	if (strncasecmp(word, "https://", 8) == 0 || strncasecmp(word, "http://", 7) == 0)
		return add_url(indexes, word, err);
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

static int read_python(const struct settings *settings, struct indexes *indexes, struct err *err)
{
	const char *text = settings->pip_index;

	if (text != NULL && strcasecmp(text, "off") == 0)
		return err_set(err, ERR_DENIED,
			       "installing packages is turned off (PTYCELL_PIP_INDEX=off)");
	if (text == NULL)
		text = places_getenv(settings->environment, "PIP_INDEX_URL");
	indexes->allow_private = text != NULL && text[0] != '\0';
	return text != NULL ? add_words(indexes, text, err) : 0;
}

static int read_javascript(const struct settings *settings, struct indexes *indexes,
			   struct err *err)
{
	const char *registry;

	indexes->options = npmrc_read(settings->environment);
	registry = json_string_value(json_object_get(indexes->options, "registry"));
	indexes->allow_private = registry != NULL;
	return registry != NULL ? add_word(indexes, registry, err) : 0;
}

int indexes_read(const struct settings *settings, const struct language *language,
		 struct indexes *ret_indexes, struct err *err)
{
	struct indexes indexes = { .urls = json_array() };
	int result = str_eq(language->name, "javascript") ? read_javascript(settings, &indexes, err)
							  : read_python(settings, &indexes, err);

	if (result < 0) {
		indexes_release(&indexes);
		return -1;
	}
	if (settings->install_hosts != NULL)
		add_hosts(&indexes, settings->install_hosts);
	*ret_indexes = indexes;
	return 0;
}

bool indexes_unnamed(const struct indexes *indexes)
{
	return json_array_size(indexes->urls) == 0 && indexes->folder_count == 0;
}

int indexes_take_default(struct indexes *indexes, const json_t *told, struct err *err)
{
	const json_t *hosts = json_object_get(told, "hosts");
	size_t n;
	json_t *host;

	if (!json_is_string(json_object_get(told, "url")) || !json_is_array(hosts))
		return err_set(err, ERR_INVALID, "the installer does not tell its index");
	if (add_word(indexes, json_string_value(json_object_get(told, "url")), err) < 0)
		return -1;
	json_array_foreach (hosts, n, host) {
		char name[HOST_MAX + 1];

		if (!json_is_string(host) ||
		    host_canonicalise(json_string_value(host), json_string_length(host), name,
				      err) < 0)
			return err_set(err, ERR_INVALID, "the installer tells a host that is none");
		add_hosts(indexes, name);
	}
	return 0;
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
	for (size_t i = 0; i < indexes->folder_count; i++) {
		free(indexes->folders[i]);
		fd_close(&indexes->folder_fds[i]);
	}
	free(indexes->hosts);
	*indexes = (struct indexes){ .urls = NULL };
}
