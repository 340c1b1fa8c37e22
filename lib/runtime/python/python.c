/* SPDX-License-Identifier: MIT */
/*
 * python.c - the row of Python.
 *
 * The interpreter starts with a small stub as `-c`, which reads the driver from the socket. The
 * driver travels as source and as compiled code; bytecode of another Python version is ignored.
 */
#include "runtime/python/python.h"

#include <assert.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "runtime/frame.h"
#include "runtime/language.h"
#include "runtime/python/dump.h"
#include "runtime/python/fold.h"

enum { HASH_OFFSET = 4 };

/* Made by the build from driver/, stub.py and rules.py; each ends with a 0 that is not counted. */
extern const unsigned char python_driver_source[];
extern const size_t python_driver_source_len;
extern const unsigned char python_driver_marshal[];
extern const size_t python_driver_marshal_len;
extern const unsigned char python_stub_source[];
extern const unsigned char python_rules_source[];
extern const size_t python_rules_source_len;

/* Sends both forms. The stub takes the compiled one if it is whole and for its version. */
static void boot(struct buf *out, const struct buf *compiled)
{
	frame_begin(out, "boot", 0, 2);
	if (compiled->len > 0)
		frame_add(out, "marshal", compiled->data, compiled->len);
	else
		frame_add(out, "marshal", python_driver_marshal, python_driver_marshal_len);
	frame_add(out, "source", python_driver_source, python_driver_source_len);
}

/* Returns the hash that scripts/pack-driver puts behind the bytecode's magic number. */
static uint64_t driver_id(void)
{
	uint64_t id = 0;

	assert(python_driver_marshal_len > HASH_OFFSET + sizeof(id));
	memcpy(&id, python_driver_marshal + HASH_OFFSET, sizeof(id));
	return id;
}

static void add_rules(struct buf *hello, const char *rules)
{
	frame_add(hello, "checker", python_rules_source, python_rules_source_len);
	frame_add(hello, "rules", rules, strlen(rules));
}

static const char *const *arguments(void)
{
	static const char *const argv[] = { "-c", (const char *)python_stub_source, NULL };

	return argv;
}

static const char *const aliases[] = { "py", "python3", "ipython", NULL };
static const char *const commands[] = { "python3", "python", NULL };
static const char *const environment[] = {
	"PYTHON_BASIC_REPL=1", /* pdb and code.interact() of 3.13: no screen editor */
	"PYTHON_COLORS=0",
	"MPLBACKEND=agg", /* scripts that cells start have no display */
	NULL,
};

static const struct language_descriptor descriptors[] = {
	{ "control", 3, LANGUAGE_SOCKET },
	{ "values", 5, LANGUAGE_PIPE_OUT }, /* 4 is the zygote's */
};

const struct language *python_language(void)
{
	static const struct language row = {
		.name = "python",
		.aliases = aliases,
		.env_override = "PTYCELL_PYTHON",
		.commands = commands,
		.install_hint = "apt install python3",
		.boot = boot,
		.driver_id = driver_id,
		.add_rules = add_rules,
		.arguments = arguments,
		.environment = environment,
		.descriptors = descriptors,
		.descriptor_count = sizeof(descriptors) / sizeof(descriptors[0]),
		.dump_signal = SIGUSR2,
		.tidy_dump = dump_tidy,
		.read_dump = dump_place,
		.fold_traceback = fold_traceback,
		.warms_up = true,
		.preloads = true,
		.wake_signal = SIGURG,
		.sizes_stacks = true,
		.survives_no_memory = true,
		.reports_imported = true,
		.closes_named = true,
		.told_again = true,
		.saves_variables = true,
	};

	return &row;
}
