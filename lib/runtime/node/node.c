/* SPDX-License-Identifier: MIT */
/* node.c - the row of JavaScript. The sources of the driver travel in the binary: the stub is an
 * argument of `node -e`, reads the other parts from the boot frame and loads them by their names.
 * The build makes one program of each folder of modules, by scripts/pack-node-driver.
 * Interrupts have a pipe of their own, because the guard's thread must read them while the main
 * thread computes.
 */
#include "runtime/node/node.h"

#include <stddef.h>

#include "base/util.h"
#include "runtime/frame.h"
#include "runtime/language.h"

/* Made by the build from the sources; each ends with a 0 that is not counted. */
extern const unsigned char node_stub_source[];
extern const unsigned char node_driver_source[];
extern const size_t node_driver_source_len;
extern const unsigned char node_output_source[];
extern const size_t node_output_source_len;
extern const unsigned char node_syntax_source[];
extern const size_t node_syntax_source_len;
extern const unsigned char node_values_source[];
extern const size_t node_values_source_len;

static void boot(struct buf *out, const struct buf *compiled)
{
	(void)compiled;
	frame_begin(out, "boot", 0, 4);
	frame_add(out, "driver", node_driver_source, node_driver_source_len);
	frame_add(out, "output", node_output_source, node_output_source_len);
	frame_add(out, "syntax", node_syntax_source, node_syntax_source_len);
	frame_add(out, "values", node_values_source, node_values_source_len);
}

static const char *const *arguments(void)
{
	static const char *const argv[] = { "-e", (const char *)node_stub_source, NULL };

	return argv;
}

static const char *const aliases[] = { "js", "node", "nodejs", "typescript", "ts", NULL };
static const char *const commands[] = { "node", "nodejs", NULL };
static const char *const environment[] = {
	"NO_COLOR=1", /* of objects that console.log shows */
	"npm_config_update_notifier=false",
	"npm_config_fund=false",
	NULL,
};
static const struct language_descriptor descriptors[] = {
	{ "control", 3, LANGUAGE_SOCKET },
	{ "interrupt", 4, LANGUAGE_PIPE_IN },
};

/* V8's last words. */
static const char *const memory_words[] = { "heap out of memory", "Fatal javascript OOM in",
					    "Check failed: reservation_.SetPermissions",
					    "std::bad_alloc", NULL };

const struct language *node_language(void)
{
	static const struct language row = {
		.name = "javascript",
		.aliases = aliases,
		.env_override = "PTYCELL_NODE",
		.commands = commands,
		.install_hint = "apt install nodejs",
		.asdf_name = "nodejs",
		.mise_name = "node",
		.boot = boot,
		.arguments = arguments,
		.environment = environment,
		.descriptors = descriptors,
		.descriptor_count = ARRAY_SIZE(descriptors),
		.memory_words = memory_words,
		.warms_up = true,
		.reports_imported = true,
	};

	return &row;
}
