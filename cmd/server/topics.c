/* SPDX-License-Identifier: MIT */
/*
 * topics.c - the table of topics. The build embeds each help/NAME.md as topic_NAME. The title of a
 * page, "# Name: summary", gives its line in the list.
 */
#include "topics.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "text/sanitize.h"

#define TOPICS(X)                                                                                  \
	X(settings)                                                                                \
	X(hosts)                                                                                   \
	X(cells)                                                                                   \
	X(commands)                                                                                \
	X(files)                                                                                   \
	X(packages)                                                                                \
	X(databases)                                                                               \
	X(security)                                                                                \
	X(shares)                                                                                  \
	X(limits)                                                                                  \
	X(network)                                                                                 \
	X(secrets)                                                                                 \
	X(rules)                                                                                   \
	X(audit)                                                                                   \
	X(prestart)                                                                                \
	X(frameworks)                                                                              \
	X(migration)

#define DECLARE(name)                                                                              \
	extern const unsigned char topic_##name[];                                                 \
	extern const size_t topic_##name##_len;
#define ROW(name) { #name, topic_##name, &topic_##name##_len },

TOPICS(DECLARE)

static const struct topic {
	const char *name;
	const unsigned char *text;
	const size_t *len;
} topics[] = { TOPICS(ROW) };

static void print_line(const struct topic *topic)
{
	const char *title = (const char *)topic->text;
	const char *summary = strstr(title, ": ");
	int len = summary ? (int)strcspn(summary + 2, "\n") : 0;

	printf("  %-11s %.*s\n", topic->name, len, summary ? summary + 2 : "");
}

static int list_topics(void)
{
	puts("Topics; ptycell help TOPIC shows one:");
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		print_line(&topics[i]);
	puts("Commands and common settings: ptycell --help");
	return 0;
}

int topics_main(int argc, char **argv)
{
	cleanup_free char *quoted = NULL;

	if (argc < 2)
		return list_topics();
	for (size_t i = 0; i < ARRAY_SIZE(topics); i++) {
		if (!str_eq(topics[i].name, argv[1]))
			continue;
		fwrite(topics[i].text, 1, *topics[i].len, stdout);
		return 0;
	}
	quoted = sanitize_quote(argv[1]);
	fprintf(stderr, "'%s' is no topic; `ptycell help` lists them.\n", quoted);
	return 2;
}
