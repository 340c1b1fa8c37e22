/* SPDX-License-Identifier: MIT */
/*
 * documents.c - skips here-documents. The end word is compared without its quotes, and any quoting
 * in it makes the lines literal: then a backslash at a line end joins nothing. End words that bash
 * would alter before it compares them are not followed.
 */
#include <string.h>

#include "runtime/bash/lexer.h"

/* Returns true if any part of the end word is quoted: the document's lines are literal then. */
static bool has_quotes(const struct word *word)
{
	for (size_t i = 0; i < word->len; i++)
		if (word->start[i] == '\'' || word->start[i] == '"' ||
		    (word->start[i] == '\\' && i + 1 < word->len && word->start[i + 1] != '\n'))
			return true;
	return false;
}

/* Returns true if bash would alter the end word before it compares it. */
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

/*
 * Returns true if the character at `i` is a quoting character, which is not compared. Tracks open
 * quotes in `quote`.
 */
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

/* Compares a line with the end word, without the quotes of the word. */
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

/* Returns true if an unquoted backslash ends the line. */
static bool is_continued(const char *line, const char *end)
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
	bool joined = false; /* joined with the line before */

	while (l->at < l->end) {
		const char *line = l->at;
		const char *newline = memchr(line, '\n', (size_t)(l->end - line));
		const char *line_end = newline != NULL ? newline : l->end;

		l->at = newline != NULL ? newline + 1 : l->end;
		while (document->tabs && line < line_end && *line == '\t')
			line++;
		if (!joined && is_ending(&document->ending, line, (size_t)(line_end - line)))
			return true;
		joined = !document->quoted && is_continued(line, line_end);
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
