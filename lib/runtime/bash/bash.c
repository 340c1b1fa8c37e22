/* SPDX-License-Identifier: MIT */
#include "runtime/bash/bash.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/bash/codec.h"
#include "runtime/language.h"

/* Made by the build from driver.bash: "PTYCELL_DRIVER=" and the source. */
extern const unsigned char bash_driver_variable[];

/* The terminal's own line editing would be in the way, and nobody's settings are. */
static const char *const *arguments(void)
{
	static const char *const argv[] = { "--norc", "--noprofile", "--noediting", "-i", NULL };

	return argv;
}

/* `trap - INT` is SIG_DFL for an instant, which is after a fraction of this even on a busy machine.
 */
enum { SETTLE_MS = 50 };

/* "zsh" is not one of them: its code would run, and mean something else. */
static const char *const aliases[] = { "sh", "shell", NULL };
static const char *const commands[] = { "bash", NULL };
/* What runs at the first prompt is the driver: no file, no line on the pipe, no fork. */
static const char *const environment[] = {
	(const char *)bash_driver_variable,
	"PROMPT_COMMAND=builtin eval \"$PTYCELL_DRIVER\"",
	"PS1=",
	"PS2=",
	"HISTFILE=",
	NULL,
};
static const struct language_descriptor descriptors[] = {
	{ "commands", 0, LANGUAGE_PIPE_IN },
	{ "control", 15, LANGUAGE_PIPE_OUT },
	{ "aside", 13, LANGUAGE_PIPE_ASIDE },
	{ "told", 11, LANGUAGE_PIPE_IN },
};

/* Bash names a cell's syntax errors by the descriptor that driver.bash has it read from, nearly
 * always. */
static void name_cell(struct buf *text, uint64_t number)
{
	static const char named[] = "bash: /dev/fd/247: line ";
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *rest = buf_str(text);
	const char *at = rest;

	while ((at = strstr(at, named)) != NULL) {
		bool begins = at == buf_str(text) || at[-1] == '\n';
		const char *behind = at + strlen(named);

		if (begins) {
			buf_put(&out, rest, (size_t)(at - rest));
			buf_putf(&out, "cell %ju: line ", (uintmax_t)number);
			rest = behind;
		}
		at = behind;
	}
	if (out.len == 0)
		return;
	buf_put(&out, rest, text->len - (size_t)(rest - buf_str(text)));
	buf_clear(text);
	buf_put(text, buf_str(&out), out.len);
}

const struct language *bash_language(void)
{
	static const struct language row = {
		.name = "bash",
		.aliases = aliases,
		.env_override = "PTYCELL_BASH",
		.commands = commands,
		.install_hint = "apt install bash",
		.arguments = arguments,
		.environment = environment,
		.descriptors = descriptors,
		.descriptor_count = ARRAY_SIZE(descriptors),
		.codec = &bash_codec,
		.settle_ms = SETTLE_MS,
		.name_cell = name_cell,
		.exit_126 = ", as bash does where `exec` cannot run its program",
	};

	return &row;
}
