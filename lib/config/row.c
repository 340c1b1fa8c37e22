/* SPDX-License-Identifier: MIT */
#include "config/row.h"

#include <unistd.h>

#include "config/settings.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define DAY ((uint64_t)86400)
#define AT(member) .offset = offsetof(struct settings, member)

static const char *const off_word[] = { "off", NULL };
static const char *const results_words[] = {
	[RESULTS_BLOCKS] = "blocks",
	[RESULTS_JSON] = "json",
	NULL,
};
static const char *const floor_words[] = {
	[FLOOR_LANDLOCK] = "landlock",
	[FLOOR_BWRAP] = "bwrap",
	[FLOOR_NAMESPACES] = "namespaces",
	NULL,
};
static const char *const notebook_words[] = {
	[NOTEBOOK_ON] = "on",
	[NOTEBOOK_OFF] = "off",
	NULL,
};
static const char *const log_words[] = { "error", "warn", "info", "debug", NULL };
static const char *const switch_words[] = { "0",  "1",     "no",   "yes", "off",
					    "on", "false", "true", NULL };

/* In the order in which people see them. */
static const struct row rows[] = {
	{ .name = "EXEC_TIMEOUT",
	  .flag = "exec-timeout",
	  .key = "exec_timeout",
	  AT(limits.exec_timeout),
	  .type = ROW_SECONDS,
	  .fallback = 300,
	  .floor = 1,
	  .ceiling = 7 * DAY,
	  .help = "how long a cell may run when its call names no timeout" },
	{ .name = "PTYCELL_EXEC_TIMEOUT_MAX",
	  .flag = "exec-timeout-max",
	  AT(exec_timeout_max),
	  .type = ROW_SECONDS,
	  .fallback = DAY,
	  .floor = 1,
	  .ceiling = 7 * DAY,
	  .help = "the most that a call's own timeout may ask for" },
	{ .name = "PTYCELL_CALL_BUDGET",
	  .flag = "call-budget",
	  AT(call_budget),
	  .type = ROW_SECONDS,
	  .fallback = 45,
	  .floor = 0,
	  .ceiling = DAY,
	  .help = "a call is answered by then and its cell runs on; none with --drain or a file as stdin" },
	{ .name = "SESSION_TTL",
	  .flag = "session-ttl",
	  .key = "session_ttl",
	  AT(limits.session_ttl),
	  .type = ROW_SECONDS,
	  .fallback = DAY,
	  .floor = 1,
	  .ceiling = 365 * DAY,
	  .help = "a session ends this long after its start, between cells" },
	{ .name = "IDLE_TIMEOUT",
	  .flag = "idle-timeout",
	  .key = "idle_timeout",
	  AT(limits.idle_timeout),
	  .type = ROW_SECONDS,
	  .fallback = 14400,
	  .floor = 1,
	  .ceiling = 365 * DAY,
	  .help = "a session ends when unused for this long" },
	{ .name = "CLEANUP_INTERVAL",
	  .flag = "cleanup-interval",
	  AT(cleanup_interval),
	  .type = ROW_SECONDS,
	  .fallback = 60,
	  .floor = 1,
	  .ceiling = 3600,
	  .help = "how often sessions are checked for their end" },
	{ .name = "PTYCELL_MAX_SESSIONS",
	  .flag = "max-sessions",
	  AT(max_sessions),
	  .type = ROW_COUNT,
	  .fallback = 128,
	  .floor = 1,
	  .ceiling = 4096,
	  .help = "sessions at the same time" },
	{ .name = "PTYCELL_MEMORY_MAX",
	  .flag = "memory-max",
	  .key = "memory_max",
	  AT(limits.memory_max),
	  .type = ROW_BYTES,
	  .fallback_text = "half of the memory, at most 4G",
	  .floor = 64 * MIB,
	  .ceiling = 64 * TIB,
	  .fixed = true,
	  .help = "memory of a session's processes together, and of each of them" },
	{ .name = "PTYCELL_PROCESSES_MAX",
	  .flag = "processes-max",
	  .key = "processes_max",
	  AT(limits.processes_max),
	  .type = ROW_COUNT,
	  .fallback = 256,
	  .floor = 16,
	  .ceiling = 32768,
	  .fixed = true,
	  .help = "processes and threads of a session" },
	{ .name = "PTYCELL_OPEN_FILES_MAX",
	  .flag = "open-files-max",
	  .key = "open_files_max",
	  AT(limits.open_files_max),
	  .type = ROW_COUNT,
	  .fallback = 4096,
	  .floor = 64,
	  .ceiling = 1048576,
	  .fixed = true,
	  .help = "files that one process of a session may have open" },
	{ .name = "PTYCELL_FILE_MAX",
	  .flag = "file-max",
	  .key = "file_max",
	  AT(limits.file_max),
	  .type = ROW_BYTES,
	  .fallback = GIB,
	  .floor = MIB,
	  .ceiling = 64 * TIB,
	  .fixed = true,
	  .help = "size of one file that code writes" },
	{ .name = "PTYCELL_DISK_MAX",
	  .flag = "disk-max",
	  .key = "disk_max",
	  AT(limits.disk_max),
	  .type = ROW_BYTES,
	  .fallback = 2 * GIB,
	  .floor = MIB,
	  .ceiling = 64 * TIB,
	  .help = "size of a session's folder" },
	{ .name = "PTYCELL_TMP_MAX",
	  .flag = "tmp-max",
	  .key = "tmp_max",
	  AT(limits.tmp_max),
	  .type = ROW_BYTES,
	  .fallback = 256 * MIB,
	  .floor = MIB,
	  .ceiling = 64 * TIB,
	  .fixed = true,
	  .help = "size of a session's /tmp, which lies in memory, and of its /dev/shm" },
	{ .name = "PTYCELL_CPU_MAX",
	  .flag = "cpu-max",
	  .key = "cpu_max",
	  AT(limits.cpu_max),
	  .type = ROW_SECONDS,
	  .fallback = 30 * DAY,
	  .floor = 1,
	  .ceiling = 365 * DAY,
	  .help = "processor time of all processes of a session together" },
	{ .name = "PTYCELL_NET_MAX",
	  .flag = "net-max",
	  .key = "net_max",
	  AT(limits.net_max),
	  .type = ROW_BYTES,
	  .fallback = 2 * GIB,
	  .floor = MIB,
	  .ceiling = 64 * TIB,
	  .fixed = true,
	  .help = "how much a session may exchange with hosts, both ways together" },
	{ .name = "SQL_MAX_INLINE_ROWS",
	  .flag = "sql-max-inline-rows",
	  .key = "sql_max_inline_rows",
	  AT(limits.sql_inline_rows),
	  .type = ROW_COUNT,
	  .fallback = 30,
	  .floor = 1,
	  .ceiling = 1000,
	  .help = "rows of a query in the answer itself; more go into a CSV file" },
	{ .name = "PTYCELL_QUERY_TIMEOUT",
	  .flag = "query-timeout",
	  AT(query_timeout),
	  .type = ROW_SECONDS,
	  .fallback = 300,
	  .floor = 1,
	  .ceiling = DAY,
	  .help = "how long a query of exec_sql may run" },
	{ .name = "PTYCELL_QUERY_ROWS_MAX",
	  .flag = "query-rows-max",
	  AT(query_rows_max),
	  .type = ROW_COUNT,
	  .fallback = 20000000,
	  .floor = 1000,
	  .ceiling = 1000000000,
	  .help = "rows of a query that its CSV file gets; its size is limited as other files" },
	{ .name = "DOWNLOAD_TIMEOUT",
	  .flag = "download-timeout",
	  .key = "download_timeout",
	  AT(limits.download_timeout),
	  .type = ROW_SECONDS,
	  .fallback = 120,
	  .floor = 1,
	  .ceiling = DAY,
	  .help = "how long a download of upload_file may take in all" },
	{ .name = "MAX_DOWNLOAD_SIZE",
	  .flag = "max-download-size",
	  .key = "max_download_size",
	  AT(limits.download_max),
	  .type = ROW_BYTES,
	  .fallback = 500 * MIB,
	  .floor = KIB,
	  .ceiling = 64 * TIB,
	  .help = "size of one download of upload_file" },
	{ .name = "PTYCELL_OUTPUT_CHARS",
	  .flag = "output-chars",
	  .key = "output_chars",
	  AT(limits.output_chars),
	  .type = ROW_COUNT,
	  .fallback = 8000,
	  .floor = 500,
	  .ceiling = 200000,
	  .help = "characters of text in one answer; the middle of a longer one is left out" },
	{ .name = "PTYCELL_SPOOL_MAX",
	  .flag = "spool-max",
	  .key = "spool_max",
	  AT(limits.spool_max),
	  .type = ROW_BYTES,
	  .fallback = 64 * MIB,
	  .floor = 64 * KIB,
	  .ceiling = 16 * GIB,
	  .help = "how much of a cell's output is stored whole, to be searched later" },
	{ .name = "PTYCELL_KEEP",
	  .flag = "keep",
	  AT(keep),
	  .type = ROW_FOLDER,
	  .words = off_word,
	  .fallback_text = "~/ptycell",
	  .help = "folder where files from output/ are kept for you; off keeps none" },
	{ .name = "PTYCELL_KEEP_MAX",
	  .flag = "keep-max",
	  .key = "keep_max",
	  AT(limits.keep_max),
	  .type = ROW_BYTES,
	  .fallback = GIB,
	  .floor = MIB,
	  .ceiling = 64 * TIB,
	  .help = "how much is kept of one session" },
	{ .name = "PTYCELL_NOTEBOOK",
	  .flag = "notebook",
	  AT(notebook),
	  .type = ROW_INDEX,
	  .words = notebook_words,
	  .fallback = NOTEBOOK_ON,
	  .help = "whether a notebook of what a session did is kept beside its files" },
	{ .name = "PTYCELL_JOURNAL_MAX",
	  .flag = "journal-max",
	  .key = "journal_max",
	  AT(limits.journal_max),
	  .type = ROW_BYTES,
	  .fallback = 256 * MIB,
	  .floor = 64 * KIB,
	  .ceiling = 16 * GIB,
	  .help = "size of a session's journal and notebook; cells past it come without outputs" },
	{ .name = "PTYCELL_AUDIT",
	  .flag = "audit",
	  AT(audit),
	  .type = ROW_FILE,
	  .words = off_word,
	  .fallback_text = "off",
	  .help = "file to which every cell of every session adds a line of JSON" },
	{ .name = "PTYCELL_HOME",
	  .flag = "home",
	  AT(home),
	  .type = ROW_FOLDER,
	  .fallback_text = "${XDG_CACHE_HOME:-~/.cache}/ptycell; root: /var/tmp/ptycell",
	  .help = "folder for the files of live sessions" },
	{ .name = "PTYCELL_SHARE",
	  .flag = "share",
	  AT(shares),
	  .type = ROW_SHARES,
	  .fallback_text = "none",
	  .help = "folder of yours that code may read, at its own path; :rw lets it write" },
	{ .name = "PTYCELL_HOSTS",
	  .flag = "hosts",
	  AT(hosts),
	  .type = ROW_HOSTS,
	  .fallback_text = "none",
	  .help = "hosts in the network that code may reach; without any it has no network" },
	{ .name = "PTYCELL_FETCH_HOSTS",
	  .flag = "fetch-hosts",
	  AT(fetch_hosts),
	  .type = ROW_HOSTS,
	  .words = off_word,
	  .fallback_text = "any public host",
	  .help = "hosts from which upload_file may download; off allows no downloads" },
	{ .name = "PTYCELL_ALLOW_PRIVATE_HOSTS",
	  .flag = "allow-private-hosts",
	  AT(allow_private_hosts),
	  .type = ROW_SWITCH,
	  .words = switch_words,
	  .help = "hosts and downloads may also be of this machine and its private networks" },
	{ .name = "PTYCELL_POLICY",
	  .flag = "policy",
	  AT(policy),
	  .type = ROW_FILE,
	  .words = off_word,
	  .fallback_text = "off",
	  .help = "file that says which packages may be installed, and rules for code" },
	{ .name = "PTYCELL_PIP_INDEX",
	  .flag = "pip-index",
	  AT(pip_index),
	  .type = ROW_TEXT,
	  .fallback_text = "PIP_INDEX_URL, else what pip itself takes",
	  .help = "where Python packages come from: URLs and folders of wheels, or off" },
	{ .name = "PTYCELL_INSTALL_HOSTS",
	  .flag = "install-hosts",
	  AT(install_hosts),
	  .type = ROW_HOSTS,
	  .fallback_text = "none",
	  .help = "further hosts that an index sends installers to for its files" },
	{ .name = "PTYCELL_INSTALL_TIMEOUT",
	  .flag = "install-timeout",
	  AT(install_timeout),
	  .type = ROW_SECONDS,
	  .fallback = 600,
	  .floor = 1,
	  .ceiling = DAY,
	  .help = "how long installing packages may take" },
	{ .name = "PTYCELL_INSTALL_BUILDS",
	  .flag = "install-builds",
	  AT(install_builds),
	  .type = ROW_SWITCH,
	  .words = switch_words,
	  .help = "packages may run their own code to be built; else only finished ones go in" },
	{ .name = "PTYCELL_FLOOR",
	  .flag = "floor",
	  AT(floor),
	  .type = ROW_INDEX,
	  .words = floor_words,
	  .fallback = FLOOR_LANDLOCK,
	  .help = "the weakest confinement that will do; with less, no code runs" },
	{ .name = "",
	  .flag = "unconfined",
	  AT(unconfined),
	  .type = ROW_SWITCH,
	  .words = switch_words,
	  .help = "no confinement: code can do whatever you can; every answer says so" },
	{ .name = "PTYCELL_RESULTS",
	  .flag = "results",
	  AT(results),
	  .type = ROW_INDEX,
	  .words = results_words,
	  .fallback = RESULTS_BLOCKS,
	  .help = "form of results: blocks for chat hosts, json for agent frameworks" },
	{ .name = "PTYCELL_PYTHON",
	  .flag = "python",
	  .type = ROW_PROGRAM,
	  .fallback_text = "found",
	  .help = "the Python to use; else that of VIRTUAL_ENV, else python3 on PATH" },
	{ .name = "PTYCELL_NODE",
	  .flag = "node",
	  .type = ROW_PROGRAM,
	  .fallback_text = "found",
	  .help = "the Node.js for JavaScript, 18 or later; else node on PATH" },
	{ .name = "PTYCELL_BASH",
	  .flag = "bash",
	  .type = ROW_PROGRAM,
	  .fallback_text = "found",
	  .help = "the bash to use; else the one on PATH" },
	{ .name = "PTYCELL_R",
	  .flag = "r",
	  .type = ROW_PROGRAM,
	  .fallback_text = "found",
	  .help = "the R to use; else the one on PATH" },
	{ .name = "PTYCELL_SPARES",
	  .flag = "spares",
	  AT(spares),
	  .type = ROW_COUNT,
	  .fallback = 1,
	  .floor = 0,
	  .ceiling = 16,
	  .help = "sandboxes a language that wait, started, for the next new session; 0: none" },
	{ .name = "PTYCELL_PRELOAD",
	  .flag = "preload",
	  AT(preload),
	  .type = ROW_MODULES,
	  .words = off_word,
	  .fallback_text = "numpy,pandas,matplotlib.pyplot",
	  .help = "Python modules that a waiting sandbox has imported, those that are installed" },
	{ .name = "PTYCELL_LOG",
	  .flag = "log",
	  AT(log_level),
	  .type = ROW_WORD,
	  .words = log_words,
	  .fallback = 1,
	  .help = "what is logged on stderr" },
	{ .name = "PTYCELL_LINE_MAX",
	  .flag = "line-max",
	  AT(line_max),
	  .type = ROW_BYTES,
	  .fallback = 32 * MIB,
	  .floor = 64 * KIB,
	  .ceiling = GIB,
	  .help = "size of one request" },
	{ .name = "PTYCELL_ELICIT",
	  .flag = "elicit",
	  AT(elicit),
	  .type = ROW_SWITCH,
	  .words = switch_words,
	  .fallback = 1,
	  .help = "whether a client that can is told to ask the user when code waits for input" },
	{ .name = "PTYCELL_DRAIN",
	  .flag = "drain",
	  AT(drain),
	  .type = ROW_SWITCH,
	  .words = switch_words,
	  .help = "at end of input, finish what was accepted; always so when stdin is a file" },
};

const struct row *row_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

size_t row_count(void)
{
	return ARRAY_SIZE(rows);
}

const struct row *row_find(const char *name)
{
	for (size_t i = 0; name[0] && i < ARRAY_SIZE(rows); i++) {
		if (str_eq(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

/* Levenshtein's distance of two short words; a longer one is far from everything. */
static size_t distance(const char *a, const char *b)
{
	size_t row[ROW_FLAG_MAX + 1];
	size_t b_len = strlen(b);

	if (strlen(a) > ROW_FLAG_MAX || b_len > ROW_FLAG_MAX)
		return ROW_FLAG_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = size_min(replaced, 1 + size_min(row[j], row[j - 1]));
		}
	}
	return row[b_len];
}

const struct row *row_nearest(const char *flag)
{
	const struct row *nearest = NULL;
	size_t least = 1 + size_min(2, strlen(flag) / 3);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t away = distance(flag, rows[i].flag);

		if (away < least) {
			least = away;
			nearest = &rows[i];
		}
	}
	return nearest;
}

bool row_is_number(const struct row *row)
{
	return row->type == ROW_COUNT || row->type == ROW_SECONDS || row->type == ROW_BYTES;
}

/* Half of the machine's memory, at most 4 GiB. */
static uint64_t memory_fallback(const struct row *row)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page_size = sysconf(_SC_PAGESIZE);
	uint64_t half = 4 * GIB;

	if (pages > 0 && page_size > 0)
		half = (uint64_t)pages * (uint64_t)page_size / 2;
	if (half > 4 * GIB)
		half = 4 * GIB;
	return half < row->floor ? row->floor : half;
}

uint64_t row_fallback(const struct row *row)
{
	if (row_is_number(row) && row->fallback == 0)
		return memory_fallback(row);
	return row->fallback;
}
