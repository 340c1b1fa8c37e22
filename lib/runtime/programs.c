/* SPDX-License-Identifier: MIT */
/*
 * programs.c - writes the programs. Each is a link to the script of its language, which passes the
 * name on: `$0` is the path of the link. The links are hard ones where the file system has them:
 * a symbolic link is an inode of its own, and a dozen of them took a tenth of a session's start.
 */
#include "runtime/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"

/* Made by the build from the sources. */
extern const unsigned char programs_pip_module_source[];
extern const size_t programs_pip_module_source_len;
extern const unsigned char programs_pip_source[];
extern const size_t programs_pip_source_len;
extern const unsigned char programs_npm_source[];
extern const size_t programs_npm_source_len;
extern const unsigned char programs_profile_source[];
extern const size_t programs_profile_source_len;

enum { RUN_MODE = 0755, READ_MODE = 0644 };

static int write_file(int dir_fd, const char *path, const void *data, size_t len, mode_t mode,
		      struct err *err)
{
	cleanup_fd int fd = -1;

	(void)unlinkat(dir_fd, path, 0);
	fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return err_sys(err, "making the program '%s'", path);
	return fd_write_all(fd, data, len, err);
}

static int link_to(int dir_fd, const char *target, const char *path, struct err *err)
{
	(void)unlinkat(dir_fd, path, 0);
	if (symlinkat(target, dir_fd, path) < 0)
		return err_sys(err, "making the link '%s'", path);
	return 0;
}

static int link_script(int dir_fd, const char *script, const char *name, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", PROGRAMS_BIN, name);
	cleanup_free char *target = NULL;

	(void)unlinkat(dir_fd, path, 0);
	if (linkat(dir_fd, script, dir_fd, path, 0) == 0)
		return 0;
	target = xasprintf("../%s", script);
	return link_to(dir_fd, target, path, err);
}

static int make_folders(int dir_fd, struct err *err)
{
	static const char *const names[] = { PROGRAMS_BIN, PROGRAMS_MODULES,
					     PROGRAMS_MODULES "/pip" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if ((mkdirat(dir_fd, names[i], RUN_MODE) < 0 && errno != EEXIST) ||
		    fchmodat(dir_fd, names[i], RUN_MODE, 0) < 0)
			return err_sys(err, "making the folder '%s'", names[i]);
	return 0;
}

/* Returns the text in quotes of the shell. The caller frees it. */
static char *quote(const char *text)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	buf_put_char(&out, '\'');
	for (; *text != '\0'; text++)
		buf_puts(&out, *text == '\'' ? "'\\''" : (const char[]){ *text, '\0' });
	buf_put_char(&out, '\'');
	return buf_steal(&out);
}

/* The names of a language and the script that runs its program. */
struct family {
	const char *script;
	const char *options; /* of the interpreter */
	const char *program; /* relative to the folder of the script */
	const char *const *names;
};

static int write_family(int dir_fd, const struct family *family, const char *interpreter,
			struct err *err)
{
	cleanup_free char *quoted = quote(interpreter);
	cleanup_free char *text =
		xasprintf("#!/bin/sh\nexec %s %s\"${0%%/*}/../%s\" \"${0##*/}\" \"$@\"\n", quoted,
			  family->options, family->program);

	if (write_file(dir_fd, family->script, text, strlen(text), RUN_MODE, err) < 0)
		return -1;
	for (const char *const *name = family->names; *name != NULL; name++)
		if (link_script(dir_fd, family->script, *name, err) < 0)
			return -1;
	return 0;
}

static int write_python(int dir_fd, const char *interpreter, struct err *err)
{
	static const char *const names[] = { "pip",   "pip3",  "uv",         "uvx",
					     "conda", "mamba", "micromamba", NULL };
	static const struct family python = { .script = "python",
					      .options = "-I ",
					      .program = PROGRAMS_MODULES "/pip/__main__.py",
					      .names = names };

	if (write_file(dir_fd, PROGRAMS_MODULES "/pip/__init__.py", programs_pip_module_source,
		       programs_pip_module_source_len, READ_MODE, err) < 0 ||
	    write_file(dir_fd, PROGRAMS_MODULES "/pip/__main__.py", programs_pip_source,
		       programs_pip_source_len, READ_MODE, err) < 0)
		return -1;
	return write_family(dir_fd, &python, interpreter, err);
}

static int write_node(int dir_fd, const char *interpreter, struct err *err)
{
	static const char *const names[] = { "npm", "npx", "yarn", "pnpm", "pnpx", NULL };
	static const struct family node = {
		.script = "node", .options = "", .program = "npm.cjs", .names = names
	};

	if (write_file(dir_fd, node.program, programs_npm_source, programs_npm_source_len,
		       READ_MODE, err) < 0)
		return -1;
	return write_family(dir_fd, &node, interpreter, err);
}

int programs_write(int folder_fd, const struct programs_spec *spec, struct err *err)
{
	if (make_folders(folder_fd, err) < 0 || link_to(folder_fd, spec->data, "data", err) < 0 ||
	    write_file(folder_fd, PROGRAMS_R_PROFILE, programs_profile_source,
		       programs_profile_source_len, READ_MODE, err) < 0)
		return -1;
	if (spec->python != NULL && write_python(folder_fd, spec->python, err) < 0)
		return -1;
	return spec->node != NULL ? write_node(folder_fd, spec->node, err) : 0;
}
