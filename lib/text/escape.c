/* SPDX-License-Identifier: MIT */
/*
 * escape.c - a parser for control sequences that keeps its state between chunks. Programs may be
 * killed in the middle of a sequence and write binary data, so each state accepts any byte and a
 * line feed ends a control string.
 */
#include "text/escape.h"

#include <string.h>

#include "base/util.h"
#include "text/utf8.h"

enum state { GROUND, ESC, ESC_INTERMEDIATE, CSI, STRING, STRING_ESC };

enum { BEL = 0x07, CAN = 0x18, SUB = 0x1a, DEL = 0x7f };

static enum escape_step enter_state(struct escape *e, enum state state)
{
	e->state = (uint8_t)state;
	return ESCAPE_PART;
}

static enum escape_step finish_sequence(struct escape *e, enum escape_step step, unsigned char byte)
{
	e->state = GROUND;
	e->final = (char)byte;
	return step;
}

static enum escape_step after_esc(struct escape *e, unsigned char byte)
{
	switch (byte) {
	case '[':
		*e = (struct escape){ .state = CSI, .drawing = e->drawing };
		return ESCAPE_PART;
	case ']':
	case 'P':
	case 'X':
	case '^':
	case '_':
		return enter_state(e, STRING);
	default:
		break;
	}
	if (byte >= 0x20 && byte <= 0x2f) {
		e->designates = byte == '(';
		return enter_state(e, ESC_INTERMEDIATE);
	}
	if (byte >= 0x30 && byte < DEL)
		return finish_sequence(e, ESCAPE_COMMAND, byte);
	e->state = GROUND;
	return ESCAPE_TEXT;
}

static enum escape_step after_intermediate(struct escape *e, unsigned char byte)
{
	if (byte >= 0x20 && byte <= 0x2f)
		return ESCAPE_PART;
	e->state = GROUND;
	if (byte < 0x30 || byte >= DEL)
		return ESCAPE_TEXT;
	if (e->designates)
		e->drawing = byte == '0';
	return ESCAPE_PART;
}

static void add_digit(struct escape *e, unsigned char digit)
{
	uint32_t *param;

	if (e->param_count == 0)
		e->param_count = 1;
	if (e->param_count > ESCAPE_PARAMS)
		return;
	param = &e->params[e->param_count - 1];
	*param = (uint32_t)size_min(*param * 10U + (digit - '0'), ESCAPE_PARAM_MAX);
}

static enum escape_step in_csi(struct escape *e, unsigned char byte)
{
	if (byte >= '0' && byte <= '9') {
		add_digit(e, byte);
		return ESCAPE_PART;
	}
	if (byte == ';' || byte == ':') {
		if (e->param_count == 0)
			e->param_count = 1;
		if (e->param_count <= ESCAPE_PARAMS)
			e->param_count++;
		return ESCAPE_PART;
	}
	if (byte >= '<' && byte <= '?') {
		e->prefix = (char)byte;
		return ESCAPE_PART;
	}
	if (byte >= 0x20 && byte <= 0x2f) {
		e->intermediate = true;
		return ESCAPE_PART;
	}
	if (byte >= 0x40 && byte < DEL)
		return finish_sequence(e, ESCAPE_CSI, byte);
	if (byte == DEL)
		return ESCAPE_PART;
	/* Control characters work within a sequence; a byte of UTF-8 breaks it. */
	if (byte >= 0x80)
		e->state = GROUND;
	return ESCAPE_TEXT;
}

static enum escape_step in_string(struct escape *e, unsigned char byte)
{
	if (byte == '\n') {
		e->state = GROUND;
		return ESCAPE_TEXT;
	}
	if (byte == BEL)
		e->state = GROUND;
	return ESCAPE_PART;
}

enum escape_step escape_feed(struct escape *e, unsigned char byte)
{
	if (e->state == STRING_ESC && byte == '\\')
		return enter_state(e, GROUND);
	if (e->state == STRING_ESC)
		e->state = ESC;
	if (byte == ESCAPE_BYTE)
		return enter_state(e, e->state == STRING ? STRING_ESC : ESC);
	if (e->state != GROUND && (byte == CAN || byte == SUB))
		return enter_state(e, GROUND);
	switch ((enum state)e->state) {
	case ESC:
		return after_esc(e, byte);
	case ESC_INTERMEDIATE:
		return after_intermediate(e, byte);
	case CSI:
		return in_csi(e, byte);
	case STRING:
		return in_string(e, byte);
	case GROUND:
	case STRING_ESC:
		break;
	}
	return ESCAPE_TEXT;
}

static bool shows(const struct escape *e, enum escape_step step)
{
	if (step == ESCAPE_CSI)
		return strchr("mKJ", e->final) == NULL && e->prefix != '?';
	return step == ESCAPE_TEXT;
}

bool escape_line_open(struct escape *e, bool open, const char *data, size_t len)
{
	const char *end = memrchr(data, '\n', len);
	const char *line = end != NULL ? end + 1 : data;

	if (end != NULL) {
		*e = (struct escape){ 0 };
		open = false;
	}
	len -= (size_t)(line - data);
	if (len == 0)
		return open;
	if (escape_idle(e) && memchr(line, ESCAPE_BYTE, len) == NULL)
		return true;
	for (size_t i = 0; i < len; i++)
		if (shows(e, escape_feed(e, (unsigned char)line[i])))
			open = true;
	return open;
}

uint32_t escape_param(const struct escape *escape, size_t index, uint32_t otherwise)
{
	if (index >= escape->param_count || index >= ESCAPE_PARAMS || escape->params[index] == 0)
		return otherwise;
	return escape->params[index];
}

uint32_t escape_drawn(uint32_t cp)
{
	static const uint16_t graphics[] = {
		0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0xb0,   0xb1,
		0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c, 0x23ba,
		0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534, 0x252c,
		0x2502, 0x2264, 0x2265, 0x3c0,  0x2260, 0xa3,   0xb7,
	};

	return cp >= '`' && cp <= '~' ? graphics[cp - '`'] : cp;
}

size_t escape_unfinished(const char *data, size_t len)
{
	struct escape escape = { 0 };
	size_t from = 0;
	size_t lead = len;

	for (size_t i = 0; i < len; i++) {
		if (escape_idle(&escape))
			from = i;
		(void)escape_feed(&escape, (unsigned char)data[i]);
	}
	if (!escape_idle(&escape))
		return len - from;
	while (lead > 0 && len - lead < UTF8_REST_MAX && utf8_continues(data[lead - 1]))
		lead--;
	if (lead == 0 || (unsigned char)data[lead - 1] < 0xc0)
		return 0;
	lead--;
	return len - lead < utf8_length((unsigned char)data[lead]) ? len - lead : 0;
}
