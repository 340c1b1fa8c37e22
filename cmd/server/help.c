/* SPDX-License-Identifier: MIT */
/*
 * help.c - prints help. The introduction is text; the settings are generated from the table of
 * config/schema.c, so that they cannot disagree. Longer texts are topics (topics.c).
 */
#include "help.h"

#include <stdio.h>

static const char intro[] =
	"ptycell " PTYCELL_VERSION
	" - a code interpreter for chat hosts, over MCP on stdin and stdout\n"
	"\n"
	"  ptycell [FLAG...]         serves; a chat host starts it so\n"
	"  ptycell doctor [FLAG...]  says what works on this machine and what is missing\n"
	"  ptycell doctor databases  asks each configured database a query; packages: each index\n"
	"  ptycell config HOST       prints or writes a host's entry (more: ptycell config --help)\n"
	"  ptycell ps, resume, watch, attach, log, export, open, stop   see: ptycell help commands\n"
	"  ptycell help [TOPIC]      lists the topics, or shows one: settings, hosts, security ...\n"
	"  ptycell --version\n"
	"\n"
	"The settings that people set; ptycell help settings has all. Each is a flag, a variable of the\n"
	"environment (--keep is PTYCELL_KEEP), or a line of a file.\n"
	"  --env-file FILE         read NAME=value lines from FILE; may be given more than once\n";

void help_print(void)
{
	cleanup_buf struct buf settings;

	buf_init(&settings, BUF_UNBOUNDED);
	settings_help(&settings);
	printf("%s%s", intro, buf_str(&settings));
}

void help_version(void)
{
	puts("ptycell " PTYCELL_VERSION);
}

void help_on_terminal(const struct settings *settings)
{
	fputs("ptycell " PTYCELL_VERSION " is a server that a chat host starts; it waits for "
	      "requests on stdin, one a line.\n"
	      "  ptycell doctor                  says what works on this machine\n"
	      "  ptycell config claude-desktop   prints what your host needs to start it\n"
	      "  ptycell < requests.jsonl        answers the requests of a file\n"
	      "Ctrl-D ends it. More: ptycell --help\n",
	      stderr);
	if (settings->keep)
		fprintf(stderr, "Files that sessions put into output/ are kept in %s.\n",
			settings->keep);
}
