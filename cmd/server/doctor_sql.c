/* SPDX-License-Identifier: MIT */
/*
 * doctor_sql.c - lists drivers by reading unixODBC's own file, because loading a driver runs its
 * code in this process. The file is searched where unixODBC searches: in ODBCSYSINI or /etc.
 */
#include "doctor_sql.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "config/settings.h"
#include "report_lines.h"
#include "text/sanitize.h"

enum { FILE_MAX = 1 << 20 };

/*
 * Lists the [sections], each of which names a driver, except [ODBC] with unixODBC's own settings.
 */
static void list_drivers(char *text, struct buf *out)
{
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		char *end = strrchr(line, ']');
		cleanup_free char *quoted = NULL;

		if (line[0] != '[' || end == NULL)
			continue;
		*end = '\0';
		if (strcasecmp(line + 1, "ODBC") == 0)
			continue;
		quoted = sanitize_quote(line + 1);
		buf_putf(out, "%s%s", out->len > 0 ? ", " : "", quoted);
	}
}

static void report_drivers(void)
{
	const char *folder = getenv("ODBCSYSINI");
	cleanup_free char *path = xasprintf("%s/odbcinst.ini", folder != NULL ? folder : "/etc");
	cleanup_buf struct buf drivers = BUF_INIT(BUF_UNBOUNDED);
	struct err err;
	cleanup_free char *text = fd_read_file(AT_FDCWD, path, FILE_MAX, NULL, &err);

	if (text != NULL)
		list_drivers(text, &drivers);
	if (drivers.len == 0)
		report_line("ODBC drivers",
			    "none; apt install odbc-postgresql brings PostgreSQL's, Microsoft's "
			    "packages that of SQL Server");
	else
		report_line("ODBC drivers", "%s", buf_str(&drivers));
}

void doctor_sql(const struct settings *settings)
{
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);

	for (size_t i = 0; i < settings->database_count; i++) {
		cleanup_free char *quoted = sanitize_quote(settings->databases[i].name);

		buf_putf(&names, ", %s", quoted);
	}
	report_line("databases", "files%s", buf_str(&names));
	report_drivers();
}
