/* SPDX-License-Identifier: MIT */
/*
 * glob.c - matches with a nondeterministic automaton, whose states are bits.
 *
 * The pattern is a list of tokens. A place is a point between two tokens that the path may have
 * reached. All places are moved together, character by character, so nothing is tried twice and no
 * pattern takes exponential time.
 */
#include "tools/glob.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "text/utf8.h"

enum token_kind {
	TOKEN_LITERAL,
	TOKEN_ANY,     /* ? */
	TOKEN_SET,     /* [abc] */
	TOKEN_STAR,    /* * */
	TOKEN_CROSS,   /* ** */
	TOKEN_FOLDERS, /* "**" and a slash at the beginning of a part: any number of whole parts */
};

struct token {
	enum token_kind kind;
	int32_t literal;
	const char *set; /* behind its '[', and its ']' */
	const char *set_end;
};

enum { ASCII = 128, WORD_BITS = 64 };

/* There are count + 1 places: before each token and behind the last. A row has a bit for each. */
struct glob {
	char *pattern;
	bool last_part_only;
	struct token *tokens;
	size_t count;
	size_t words;   /* of a row */
	size_t *others; /* tokens that a non-ASCII character may match, without `any` */
	size_t other_count;
	uint64_t *moves; /* a row for each ASCII character: the tokens that it matches */
	uint64_t *any;   /* tokens that match every non-ASCII character */
	uint64_t *stars; /* tokens that match further characters but a slash */
	uint64_t *crosses;
	uint64_t *folders;
	uint64_t *nothing; /* tokens that also match no character */
	uint64_t *here;
	uint64_t *moved; /* the tokens that the current non-ASCII character matches */
	uint64_t steps;
};

/* Decodes the character at `s`, which must not be at its end. Returns the text behind it. */
static const char *take_char(const char *s, int32_t *ret_char)
{
	struct utf8_decoder decoder = { 0 };
	int32_t second;
	size_t len;

	*ret_char = UTF8_MORE;
	if ((unsigned char)*s < ASCII) {
		*ret_char = (unsigned char)*s;
		return s + 1;
	}
	len = utf8_offset(s, strnlen(s, 4), 1);
	for (size_t i = 0; i < len && *ret_char == UTF8_MORE; i++)
		utf8_decode(&decoder, (unsigned char)s[i], ret_char, &second);
	if (*ret_char == UTF8_MORE)
		*ret_char = UTF8_REPLACEMENT;
	return s + len;
}

/* ---- reading the pattern ---- */

/* Returns the ']' of the set whose '[' is before `s`, or NULL: then the '[' is literal. */
static const char *find_set_end(const char *s)
{
	if (*s == '!' || *s == '^')
		s++;
	return *s != '\0' ? strchr(s + 1, ']') : NULL;
}

static const char *read_token(const char *p, bool part_begins, struct token *token)
{
	if (strncmp(p, "**/", 3) == 0 && part_begins) {
		token->kind = TOKEN_FOLDERS;
		return p + 3;
	}
	if (strncmp(p, "**", 2) == 0) {
		token->kind = TOKEN_CROSS;
		return p + 2;
	}
	if (*p == '*' || *p == '?') {
		token->kind = *p == '*' ? TOKEN_STAR : TOKEN_ANY;
		return p + 1;
	}
	if (*p == '[') {
		token->set = p + 1;
		token->set_end = find_set_end(p + 1);
		token->kind = token->set_end != NULL ? TOKEN_SET : TOKEN_LITERAL;
		token->literal = '[';
		return token->set_end != NULL ? token->set_end + 1 : p + 1;
	}
	token->kind = TOKEN_LITERAL;
	return take_char(p, &token->literal);
}

/* Stars in a row are one token, so at most two tokens in a row can match no character. */
static bool is_redundant(const struct token *token, const struct token *before)
{
	if (before->kind == TOKEN_CROSS)
		return token->kind == TOKEN_CROSS || token->kind == TOKEN_STAR;
	return before->kind == TOKEN_FOLDERS && token->kind == TOKEN_FOLDERS;
}

static void read_tokens(struct glob *glob)
{
	const char *p = glob->pattern;

	glob->tokens = xcalloc(strlen(p) + 1, sizeof(*glob->tokens));
	while (*p != '\0') {
		bool part_begins = p == glob->pattern || p[-1] == '/';
		struct token *token = &glob->tokens[glob->count];

		p = read_token(p, part_begins, token);
		if (glob->count == 0 || !is_redundant(token, token - 1))
			glob->count++;
	}
}

static bool in_set(const struct token *token, int32_t c)
{
	const char *s = token->set;
	bool negated = *s == '!' || *s == '^';
	bool found = false;

	s += negated ? 1 : 0;
	while (s < token->set_end) {
		int32_t first;
		int32_t last;

		s = take_char(s, &first);
		last = first;
		if (*s == '-' && s + 1 < token->set_end)
			s = take_char(s + 1, &last);
		found = found || (c >= first && c <= last);
	}
	return found != negated && c != '/';
}

/* Returns whether the token can end with a match of `c`. */
static bool token_takes(const struct token *token, int32_t c)
{
	switch (token->kind) {
	case TOKEN_LITERAL:
		return c == token->literal;
	case TOKEN_ANY:
		return c != '/';
	case TOKEN_SET:
		return in_set(token, c);
	case TOKEN_FOLDERS:
		return c == '/'; /* at the end of a part */
	default:
		return false;
	}
}

static void set_bit(uint64_t *row, size_t i)
{
	row[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
}

static void note_token(struct glob *glob, size_t i)
{
	const struct token *token = &glob->tokens[i];

	for (int32_t c = 1; c < ASCII; c++)
		if (token_takes(token, c))
			set_bit(glob->moves + (size_t)c * glob->words, i);
	if (token->kind >= TOKEN_STAR)
		set_bit(glob->nothing, i);
	if (token->kind == TOKEN_STAR)
		set_bit(glob->stars, i);
	if (token->kind == TOKEN_CROSS)
		set_bit(glob->crosses, i);
	if (token->kind == TOKEN_FOLDERS)
		set_bit(glob->folders, i);
	if (token->kind == TOKEN_ANY)
		set_bit(glob->any, i);
	if (token->kind == TOKEN_SET || (token->kind == TOKEN_LITERAL && token->literal >= ASCII))
		glob->others[glob->other_count++] = i;
}

struct glob *glob_new(const char *pattern)
{
	struct glob *glob = xcalloc(1, sizeof(*glob));
	uint64_t **const rows[] = { &glob->any,     &glob->stars, &glob->crosses, &glob->folders,
				    &glob->nothing, &glob->here,  &glob->moved };

	glob->pattern = xstrdup(pattern);
	glob->last_part_only = strchr(pattern, '/') == NULL && strstr(pattern, "**") == NULL;
	read_tokens(glob);
	glob->words = glob->count / WORD_BITS + 1;
	glob->others = xcalloc(glob->count + 1, sizeof(*glob->others));
	glob->moves = xcalloc(ASCII * glob->words, sizeof(uint64_t));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		*rows[i] = xcalloc(glob->words, sizeof(uint64_t));
	for (size_t i = 0; i < glob->count; i++)
		note_token(glob, i);
	return glob;
}

void glob_free(struct glob *glob)
{
	if (glob == NULL)
		return;
	free(glob->pattern);
	free(glob->tokens);
	free(glob->others);
	free(glob->moves);
	free(glob->any);
	free(glob->stars);
	free(glob->crosses);
	free(glob->folders);
	free(glob->nothing);
	free(glob->here);
	free(glob->moved);
	free(glob);
}

uint64_t glob_steps(const struct glob *glob)
{
	return glob->steps;
}

/* ---- matching ---- */

/* Returns the tokens that `c` matches. */
static const uint64_t *moves_of(struct glob *glob, int32_t c)
{
	if (c < ASCII)
		return glob->moves + (size_t)c * glob->words;
	memcpy(glob->moved, glob->any, glob->words * sizeof(uint64_t));
	for (size_t i = 0; i < glob->other_count; i++)
		if (token_takes(&glob->tokens[glob->others[i]], c))
			set_bit(glob->moved, glob->others[i]);
	glob->steps += glob->other_count;
	return glob->moved;
}

/* Adds the places behind tokens that match no character; at most two of them are in a row. */
static uint64_t pass_nothing(uint64_t places, uint64_t nothing)
{
	places |= (places & nothing) << 1;
	return places | (places & nothing) << 1;
}

static void stand_at_start(struct glob *glob)
{
	memset(glob->here, 0, glob->words * sizeof(uint64_t));
	glob->here[0] = pass_nothing(1, glob->nothing[0]);
}

/* Moves all places. Returns false when none is left. */
static bool move_places(struct glob *glob, int32_t c)
{
	const uint64_t *moves = moves_of(glob, c);
	uint64_t moved_in = 0; /* from the word before */
	uint64_t passed_in = 0;
	uint64_t any = 0;

	for (size_t i = 0; i < glob->words; i++) {
		uint64_t here = glob->here[i];
		uint64_t stays = glob->crosses[i] | (c != '/' ? glob->stars[i] : 0);
		uint64_t next = (here & moves[i]) << 1 | moved_in | passed_in | (here & stays);

		moved_in = (here & moves[i]) >> (WORD_BITS - 1);
		next = pass_nothing(next, glob->nothing[i]);
		passed_in = (next & glob->nothing[i]) >> (WORD_BITS - 1);
		/* Within a part TOKEN_FOLDERS stays: the token behind it begins at the next part.
		 */
		glob->here[i] = next | (here & glob->folders[i]);
		any |= glob->here[i];
	}
	glob->steps += glob->words;
	return any != 0;
}

bool glob_match(struct glob *glob, const char *path)
{
	if (glob->last_part_only)
		path = path_base(path);
	stand_at_start(glob);
	while (*path != '\0') {
		int32_t c;

		path = take_char(path, &c);
		if (!move_places(glob, c))
			return false;
	}
	return (glob->here[glob->count / WORD_BITS] >> glob->count % WORD_BITS & 1) != 0;
}
