/* SPDX-License-Identifier: MIT */
/*
 * host_list.c - parses and matches the list. Names beyond ASCII are encoded (punycode), so that
 * they match the form that clients send. A match considers all entries, because a forbidding one
 * wins wherever it stands.
 */
#include "net/host_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/punycode.h"

static const uint16_t usual_ports[] = { 443, 80 };
static const char separators[] = ", \t\r\n";

struct entry {
	struct host_port at; /* port 0: the usual ones, or all if it forbids */
	bool below;          /* `*.suffix` */
	bool forbids;
};

struct host_list {
	struct entry entries[HOST_LIST_MAX];
	size_t count;
};

/*
 * Returns the entry with its name as in the DNS; NULL if it is ASCII, or cannot be encoded. The
 * caller frees it.
 */
static char *encode_entry(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len);
	size_t host_len = colon != NULL ? (size_t)(colon - text) : len;
	cleanup_free char *host = NULL;

	for (size_t i = 0; host == NULL && i < host_len; i++)
		if ((unsigned char)text[i] >= 0x80)
			host = punycode_host(text, host_len);
	return host == NULL ? NULL
			    : xasprintf("%s%.*s", host, (int)(len - host_len), text + host_len);
}

static int parse_entry(const char *text, size_t len, struct entry *ret_entry, struct err *err)
{
	struct entry entry = { .forbids = len > 0 && text[0] == '!' };
	cleanup_free char *encoded = NULL;
	const char *colon;

	if (memmem(text, len, "://", 3) != NULL)
		return err_set(err, ERR_INVALID,
			       "it is a URL: write the host alone, as api.example or "
			       "api.example:8443");
	if (entry.forbids) {
		text++;
		len--;
	}
	entry.below = len > 1 && text[0] == '*' && text[1] == '.';
	if (entry.below) {
		text += 2;
		len -= 2;
	}
	encoded = encode_entry(text, len);
	if (encoded != NULL) {
		text = encoded;
		len = strlen(encoded);
	}
	colon = memchr(text, ':', len);
	if (colon == NULL && host_canonicalise(text, len, entry.at.host, err) < 0)
		return -1;
	if (colon != NULL && host_parse_authority(text, len, 0, &entry.at, err) < 0)
		return -1;
	*ret_entry = entry;
	return 0;
}

struct host_list *host_list_parse(const char *text, struct err *err)
{
	struct host_list *hosts = xcalloc(1, sizeof(*hosts));

	for (;;) {
		size_t len;

		text += strspn(text, separators);
		if (*text == '\0')
			return hosts;
		len = strcspn(text, separators);
		if (hosts->count == HOST_LIST_MAX)
			(void)err_set(err, ERR_INVALID, "there are more than %d entries",
				      HOST_LIST_MAX);
		else if (parse_entry(text, len, &hosts->entries[hosts->count], err) == 0) {
			hosts->count++;
			text += len;
			continue;
		} else
			(void)err_wrap(err, "entry %zu", hosts->count + 1);
		host_list_free(hosts);
		return NULL;
	}
}

void host_list_free(struct host_list *hosts)
{
	free(hosts);
}

char *host_list_write(const struct host_list *hosts)
{
	struct buf out = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < hosts->count; i++) {
		const struct entry *entry = &hosts->entries[i];

		buf_putf(&out, "%s%s%s%s", i > 0 ? "," : "", entry->forbids ? "!" : "",
			 entry->below ? "*." : "", entry->at.host);
		if (entry->at.port != 0)
			buf_putf(&out, ":%u", entry->at.port);
	}
	return buf_steal(&out);
}

bool host_list_empty(const struct host_list *hosts)
{
	for (size_t i = 0; i < hosts->count; i++)
		if (!hosts->entries[i].forbids)
			return false;
	return true;
}

static bool entry_names(const struct entry *entry, const char *host)
{
	return entry->below ? host_is_below(host, entry->at.host) : str_eq(host, entry->at.host);
}

static bool has_port(const struct entry *entry, uint16_t port)
{
	if (entry->at.port != 0)
		return entry->at.port == port;
	return entry->forbids || port == usual_ports[0] || port == usual_ports[1];
}

enum host_list_verdict host_list_check(const struct host_list *hosts, const struct host_port *to)
{
	enum host_list_verdict verdict = HOST_LIST_NOT_LISTED;

	for (size_t i = 0; i < hosts->count; i++) {
		const struct entry *entry = &hosts->entries[i];

		if (!entry_names(entry, to->host))
			continue;
		if (entry->forbids && has_port(entry, to->port))
			return HOST_LIST_FORBIDDEN;
		if (!entry->forbids && has_port(entry, to->port))
			verdict = HOST_LIST_ALLOWED;
		else if (!entry->forbids && verdict == HOST_LIST_NOT_LISTED)
			verdict = HOST_LIST_OTHER_PORT;
	}
	return verdict;
}

static size_t add_port(uint16_t *ports, size_t count, size_t max, uint16_t port)
{
	for (size_t i = 0; i < count; i++)
		if (ports[i] == port)
			return count;
	if (count < max)
		ports[count++] = port;
	return count;
}

size_t host_list_ports(const struct host_list *hosts, uint16_t *ret_ports, size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < hosts->count; i++) {
		const struct entry *entry = &hosts->entries[i];

		if (entry->forbids)
			continue;
		if (entry->at.port != 0) {
			count = add_port(ret_ports, count, max, entry->at.port);
			continue;
		}
		for (size_t k = 0; k < ARRAY_SIZE(usual_ports); k++)
			count = add_port(ret_ports, count, max, usual_ports[k]);
	}
	return count;
}
