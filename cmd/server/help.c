/* SPDX-License-Identifier: MIT */
/*
 * help.c - prints help. The introduction is text; the settings are generated from the table of
 * config/schema.c, so that they cannot disagree.
 */
#include "help.h"

#include <stdio.h>

static const char intro[] =
	"ptycell " PTYCELL_VERSION
	" - a code interpreter for chat hosts, over MCP on stdin and stdout.\n"
	"\n"
	"Usage:\n"
	"  ptycell [FLAG...]          serve; a chat host starts it so\n"
	"  ptycell doctor [FLAG...]   say what works on this machine and what is missing\n"
	"  ptycell doctor databases   the same of configured databases: asks each of them a query\n"
	"  ptycell doctor packages    the same of pip, npm and R: looks for packages in their indexes\n"
	"  ptycell config HOST        print the entry for a host's configuration; HOST is\n"
	"                             claude-desktop, claude-code, vscode, cursor or inspector\n"
	"  ptycell config settings    print the table of settings as Markdown\n"
	"  ptycell config apparmor    print the AppArmor profile that Ubuntu asks for\n"
	"  ptycell --help, ptycell --version\n"
	"\n"
	"Settings are flags, variables of the environment, or lines of a file; a flag wins over a\n"
	"variable, that over a file.\n"
	"\n"
	"  --env-file FILE\n"
	"      Read NAME=value lines from FILE; may be given more than once.\n"
	"  PTYCELL_ENV_NAME, PTYCELL_SECRET_NAME (variables, or lines of such a file)\n"
	"      Code finds them as NAME; a secret's value is taken out of all that is told.\n"
	"  PTYCELL_SQL_NAME (likewise)\n"
	"      A database for exec_sql: postgresql://..., mysql://... (MariaDB, too), sqlite:/path/of/file\n"
	"      or an ODBC connection string; PTYCELL_SQL_DEFAULT is that of queries that name none.\n";

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
