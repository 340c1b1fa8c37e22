/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "runtime/bash/lexer.h"

/* Whether any of the word is quoted: a line that goes on within it is not. */
static bool has_quotes(const struct word *word)
{
	for (size_t i = 0; i < word->len; i++)
		if (word->start[i] == '\'' || word->start[i] == '"' ||
		    (word->start[i] == '\\' && i + 1 < word->len && word->start[i + 1] != '\n'))
			return true;
	return false;
}

/* Bash would change what it compares. */
static bool is_expanded(const struct word *word)
{
	for (size_t i = 0; i < word->len; i++)
		if (word->start[i] == '`' || (word->start[i] == '$' && i + 1 < word->len &&
					      strchr("'\"({[", word->start[i + 1]) != NULL))
			return true;
	return false;
}

bool bash_take_document(struct lexer *l)
{
	struct document document = { .tabs = l->at < l->end && *l->at == '-' };

	if (document.tabs)
		l->at++;
	while (l->at < l->end && lexer_is_blank(*l->at))
		l->at++;
	if (!bash_take_word(l, &document.ending) || document.ending.len == 0 ||
	    l->document_count == LEXER_DOCUMENTS_MAX || is_expanded(&document.ending))
		return false;
	document.quoted = has_quotes(&document.ending);
	l->documents[l->document_count++] = document;
	return true;
}

/* Whether the character at `i` is one that quotes, and no part of what is compared. Keeps in
 * `quote` which quotes are open. */
static bool quotes(const struct word *word, size_t i, char *quote)
{
	char c = word->start[i];

	if (c == *quote) {
		*quote = '\0';
		return true;
	}
	if (*quote == '\0' && (c == '\'' || c == '"')) {
		*quote = c;
		return true;
	}
	if (c != '\\' || *quote == '\'' || i + 1 == word->len)
		return false;
	return *quote == '\0' || strchr("$`\"\\\n", word->start[i + 1]) != NULL;
}

/* Compares without the word's quotes. */
static bool is_ending(const struct word *word, const char *line, size_t len)
{
	char quote = '\0';
	size_t kept = 0;

	for (size_t i = 0; i < word->len; i++) {
		if (quotes(word, i, &quote)) {
			if (word->start[i] != '\\' || word->start[++i] == '\n')
				continue;
		}
		if (kept == len || line[kept++] != word->start[i])
			return false;
	}
	return kept == len;
}

/* A backslash before its end that no other one quotes. */
static bool goes_on(const char *line, const char *end)
{
	size_t count = 0;

	while (end > line && end[-1] == '\\') {
		count++;
		end--;
	}
	return count % 2 == 1;
}

static bool skip_document(struct lexer *l, const struct document *document)
{
	bool joined = false; /* with the line before */

	while (l->at < l->end) {
		const char *line = l->at;
		const char *newline = memchr(line, '\n', (size_t)(l->end - line));
		const char *line_end = newline != NULL ? newline : l->end;

		l->at = newline != NULL ? newline + 1 : l->end;
		while (document->tabs && line < line_end && *line == '\t')
			line++;
		if (!joined && is_ending(&document->ending, line, (size_t)(line_end - line)))
			return true;
		joined = !document->quoted && goes_on(line, line_end);
	}
	return false;
}

bool bash_skip_documents(struct lexer *l)
{
	for (size_t i = 0; i < l->document_count; i++)
		if (!skip_document(l, &l->documents[i]))
			return false;
	l->document_count = 0;
	return true;
}
