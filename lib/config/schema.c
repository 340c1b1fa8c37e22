/* SPDX-License-Identifier: MIT */
/*
 * schema.c - the table itself. Parsing, --help, effective_config, clamping and the table of the
 * documentation follow from a descriptor, so a new setting is one entry here and one member in
 * settings.h. The order is the one in which users see the settings.
 */
#include "config/schema.h"

#include "config/settings.h"

#define KIB ((uint64_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)
#define TIB (1024 * GIB)
#define DAY ((uint64_t)86400)
/* The variable, the flag, and the member of struct settings. */
#define SETTING(variable, option, member)                                                          \
	.name = (variable), .flag = (option), .offset = offsetof(struct settings, member)
/* A limit that no user sets, but that a session may lower for itself. */
#define OWN_LIMIT(member)                                                                          \
	.name = "", .flag = "", .offset = offsetof(struct settings, limits.member), .key = #member
/* The type, the default, the least and the most. */
#define NUMBER(kind, initial, least, most)                                                         \
	.type = (kind), .default_number = (initial), .minimum = (least), .maximum = (most)

static const char *const audit_words[] = { "off", "syslog:", "journald:", NULL };
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
static const char *const notebook_words[] = { [NOTEBOOK_ON] = "on", [NOTEBOOK_OFF] = "off", NULL };
static const char *const record_words[] = { [RECORD_ON] = "on", [RECORD_OFF] = "off", NULL };
static const char *const log_words[] = { "error", "warn", "info", "debug", NULL };
static const char *const switch_words[] = { "0",  "1",     "no",   "yes", "off",
					    "on", "false", "true", NULL };

static const struct setting rows[] = {
	{ SETTING("PTYCELL_EXEC_TIMEOUT", "exec-timeout", limits.exec_timeout),
	  .alias = "EXEC_TIMEOUT", .key = "exec_timeout", NUMBER(SCHEMA_SECONDS, 300, 1, 7 * DAY),
	  .common = true, .help = "how long a cell may run when its call names no timeout" },
	{ SETTING("PTYCELL_EXEC_TIMEOUT_MAX", "exec-timeout-max", exec_timeout_max),
	  NUMBER(SCHEMA_SECONDS, DAY, 1, 7 * DAY),
	  .help = "the most that a call's own timeout may ask for" },
	{ SETTING("PTYCELL_CALL_BUDGET", "call-budget", call_budget),
	  NUMBER(SCHEMA_SECONDS, 45, 0, DAY),
	  .help = "a call is answered by then, and its code runs on; if set, also the longest wait; --drain turns it off" },
	{ SETTING("PTYCELL_STOP_GRACE", "stop-grace", stop_grace),
	  NUMBER(SCHEMA_SECONDS, 30, 0, 3600),
	  .help = "how long a cell may go on after its deadline until it is killed; a tenth of the deadline if that is longer; 0: none" },
	{ SETTING("PTYCELL_SESSION_TTL", "session-ttl", limits.session_ttl), .alias = "SESSION_TTL",
	  .key = "session_ttl", NUMBER(SCHEMA_SECONDS, DAY, 1, 365 * DAY),
	  .help = "a session ends this long after its start, between cells and once no process of its code is left" },
	{ SETTING("PTYCELL_IDLE_TIMEOUT", "idle-timeout", limits.idle_timeout),
	  .alias = "IDLE_TIMEOUT", .key = "idle_timeout",
	  NUMBER(SCHEMA_SECONDS, 14400, 1, 365 * DAY),
	  .help = "a session ends when unused for this long, once no process of its code is left; time in which the machine sleeps does not count" },
	{ SETTING("PTYCELL_CLEANUP_INTERVAL", "cleanup-interval", cleanup_interval),
	  .alias = "CLEANUP_INTERVAL", NUMBER(SCHEMA_SECONDS, 60, 1, 3600),
	  .help = "how often sessions are checked for their end" },
	{ SETTING("PTYCELL_MAX_SESSIONS", "max-sessions", max_sessions),
	  NUMBER(SCHEMA_COUNT, 128, 1, 4096), .help = "sessions at the same time" },
	{ SETTING("PTYCELL_MEMORY_MAX", "memory-max", limits.memory_max), .key = "memory_max",
	  NUMBER(SCHEMA_BYTES, 0, 64 * MIB, 64 * TIB),
	  .default_text = "half of the memory, at most 4G", .fixed = true, .common = true,
	  .help = "memory of a session's processes together, and of each of them" },
	{ SETTING("PTYCELL_PROCESSES_MAX", "processes-max", limits.processes_max),
	  .key = "processes_max", NUMBER(SCHEMA_COUNT, 256, 16, 32768), .fixed = true,
	  .help = "processes and threads of a session" },
	{ OWN_LIMIT(open_files_max), NUMBER(SCHEMA_COUNT, 4096, 64, 1048576), .fixed = true,
	  .help = "files that one process of a session may have open" },
	{ SETTING("PTYCELL_FILE_MAX", "file-max", limits.file_max), .key = "file_max",
	  NUMBER(SCHEMA_BYTES, GIB, MIB, 64 * TIB), .fixed = true,
	  .help = "size of one file that code writes" },
	{ SETTING("PTYCELL_DISK_MAX", "disk-max", limits.disk_max), .key = "disk_max",
	  NUMBER(SCHEMA_BYTES, 2 * GIB, MIB, 64 * TIB),
	  .help = "size of a session's folder; uploads and results of queries leave a "
		  "sixteenth of it to cells" },
	{ SETTING("PTYCELL_TMP_MAX", "tmp-max", limits.tmp_max), .key = "tmp_max",
	  NUMBER(SCHEMA_BYTES, 256 * MIB, MIB, 64 * TIB), .fixed = true,
	  .help = "size of a session's /tmp, which is in memory; in tier bwrap also the size of /dev/shm" },
	{ OWN_LIMIT(cpu_max), NUMBER(SCHEMA_SECONDS, 30 * DAY, 1, 365 * DAY),
	  .help = "processor time of all processes of a session together" },
	{ SETTING("PTYCELL_NET_MAX", "net-max", limits.net_max), .key = "net_max",
	  NUMBER(SCHEMA_BYTES, 2 * GIB, MIB, 64 * TIB), .fixed = true,
	  .help = "how much a session may exchange with hosts, both ways together" },
	{ SETTING("PTYCELL_SQL_MAX_INLINE_ROWS", "sql-max-inline-rows", limits.sql_inline_rows),
	  .alias = "SQL_MAX_INLINE_ROWS", .key = "sql_max_inline_rows",
	  NUMBER(SCHEMA_COUNT, 30, 1, 1000),
	  .help = "rows of a query in the answer itself; more go into a CSV file" },
	{ SETTING("PTYCELL_QUERY_TIMEOUT", "query-timeout", query_timeout),
	  NUMBER(SCHEMA_SECONDS, 300, 1, DAY), .help = "how long a query of exec_sql may run" },
	{ SETTING("PTYCELL_DOWNLOAD_TIMEOUT", "download-timeout", limits.download_timeout),
	  .alias = "DOWNLOAD_TIMEOUT", .key = "download_timeout",
	  NUMBER(SCHEMA_SECONDS, 120, 1, DAY),
	  .help = "how long a download of upload_file may take in all" },
	{ SETTING("PTYCELL_MAX_DOWNLOAD_SIZE", "max-download-size", limits.download_max),
	  .alias = "MAX_DOWNLOAD_SIZE", .key = "max_download_size",
	  NUMBER(SCHEMA_BYTES, 500 * MIB, KIB, 64 * TIB),
	  .help = "size of one download of upload_file" },
	{ SETTING("PTYCELL_OUTPUT_CHARS", "output-chars", limits.output_chars),
	  .key = "output_chars", NUMBER(SCHEMA_COUNT, 8000, 500, 200000),
	  .help = "characters of text in one answer; the middle of a longer one is left out" },
	{ OWN_LIMIT(spool_max), NUMBER(SCHEMA_BYTES, 64 * MIB, 64 * KIB, 16 * GIB),
	  .help = "how much of a cell's output is stored whole, to be searched later" },
	{ SETTING("PTYCELL_KEEP", "keep", keep), .type = SCHEMA_FOLDER, .words = off_word,
	  .default_text = "~/ptycell", .common = true,
	  .help = "folder where files that code writes are kept for you; off keeps none" },
	{ SETTING("PTYCELL_KEEP_MAX", "keep-max", limits.keep_max), .key = "keep_max",
	  NUMBER(SCHEMA_BYTES, GIB, MIB, 64 * TIB),
	  .help = "how much is kept of one session, and uploaded to a storage" },
	{ SETTING("PTYCELL_KEEP_TOTAL", "keep-total", keep_total),
	  NUMBER(SCHEMA_BYTES, 20 * GIB, MIB, 64 * TIB),
	  .help = "how much is kept of all sessions; then nothing is deleted, but new results are not saved" },
	{ SETTING("AZURE_BLOB_CONNECTION_STRING", "azure-blob-connection-string",
		  storage.azure_connection),
	  .alias = "PTYCELL_AZURE_BLOB_CONNECTION_STRING", .type = SCHEMA_SECRET,
	  .help = "Azure Blob Storage that files from output/ are uploaded to; answers then have links" },
	{ SETTING("AZURE_BLOB_CONTAINER_NAME", "azure-blob-container-name",
		  storage.azure_container),
	  .alias = "PTYCELL_AZURE_BLOB_CONTAINER_NAME", .type = SCHEMA_TEXT,
	  .default_text = "code-interpreter-artifacts",
	  .help = "container for uploads; it is made when it is not there" },
	{ SETTING("PTYCELL_S3_BUCKET", "s3-bucket", storage.s3_bucket), .type = SCHEMA_TEXT,
	  .default_text = "none",
	  .help = "bucket of an S3-compatible storage that files from output/ are uploaded to" },
	{ SETTING("PTYCELL_S3_ENDPOINT", "s3-endpoint", storage.s3_endpoint), .type = SCHEMA_TEXT,
	  .default_text = "Amazon's of the region", .help = "URL of that storage" },
	{ SETTING("PTYCELL_S3_REGION", "s3-region", storage.s3_region), .type = SCHEMA_TEXT,
	  .default_text = "us-east-1", .help = "region of the bucket" },
	{ SETTING("PTYCELL_S3_ACCESS_KEY_ID", "s3-access-key-id", storage.s3_key_id),
	  .type = SCHEMA_TEXT, .default_text = "none",
	  .help = "id of the key that may write to the bucket and read from it" },
	{ SETTING("PTYCELL_S3_SECRET_ACCESS_KEY", "s3-secret-access-key", storage.s3_secret),
	  .type = SCHEMA_SECRET, .help = "that key" },
	{ SETTING("PTYCELL_S3_SESSION_TOKEN", "s3-session-token", storage.s3_token),
	  .type = SCHEMA_SECRET, .help = "for temporary keys; links end with the key" },
	{ SETTING("PTYCELL_BLOB_SAS_EXPIRY_HOURS", "blob-sas-expiry-hours", limits.link_hours),
	  .alias = "BLOB_SAS_EXPIRY_HOURS", .key = "blob_sas_expiry_hours",
	  NUMBER(SCHEMA_COUNT, 24, 1, 8760),
	  .help = "hours that a link to an uploaded file is valid for; S3 allows 168" },
	{ SETTING("PTYCELL_RECORD", "record", record), .type = SCHEMA_INDEX, .words = record_words,
	  .default_number = RECORD_ON,
	  .help = "whether what a session does is recorded: journal, notebook and script" },
	{ SETTING("PTYCELL_NOTEBOOK", "notebook", notebook), .type = SCHEMA_INDEX,
	  .words = notebook_words, .default_number = NOTEBOOK_ON,
	  .help = "whether notebook and report of what a session did are kept beside its files" },
	{ SETTING("PTYCELL_JOURNAL_MAX", "journal-max", limits.journal_max), .key = "journal_max",
	  NUMBER(SCHEMA_BYTES, 256 * MIB, 64 * KIB, 16 * GIB),
	  .help = "size of a session's journal and notebook; cells past it come without outputs" },
	{ SETTING("PTYCELL_RECORD_OUTPUT", "record-output", record_output),
	  NUMBER(SCHEMA_BYTES, MIB, 4 * KIB, 16 * MIB),
	  .help = "output of one cell that its journal and notebook show" },
	{ SETTING("PTYCELL_AUDIT", "audit", audit), .type = SCHEMA_FILE, .words = audit_words,
	  .default_text = "off",
	  .help = "file or system log to which all that is done adds lines of JSON" },
	{ SETTING("PTYCELL_HOME", "home", home), .type = SCHEMA_FOLDER,
	  .default_text = "${XDG_STATE_HOME:-~/.local/state}/ptycell; root: /var/tmp/ptycell",
	  .help = "folder for the files of sessions, and for packages" },
	{ SETTING("PTYCELL_RESUME", "resume", resume), .words = off_word, .common = true,
	  NUMBER(SCHEMA_SECONDS, 7 * DAY, 1, 3650 * DAY),
	  .help = "how long an ended session can be resumed: its files and record stay" },
	{ SETTING("PTYCELL_RESUME_MAX", "resume-max", resume_max),
	  NUMBER(SCHEMA_BYTES, 4 * GIB, MIB, 64 * TIB),
	  .help = "how much all ended sessions may take; the longest unused goes first" },
	{ SETTING("PTYCELL_RESUME_VARIABLES", "resume-variables", resume_variables),
	  .words = off_word, NUMBER(SCHEMA_BYTES, 200 * MIB, 2 * MIB, 16 * GIB),
	  .help = "how much of a session's Python variables is saved, for a later day" },
	{ SETTING("PTYCELL_LINGER", "linger", linger), .words = off_word,
	  NUMBER(SCHEMA_SECONDS, 0, 0, 7 * DAY),
	  .help = "how long live sessions go on when the host has ended, for the next host" },
	{ SETTING("PTYCELL_SHARE", "share", shares), .type = SCHEMA_SHARES, .default_text = "none",
	  .common = true,
	  .help = "folder of yours that code may read, at its own path; :rw lets it write" },
	{ SETTING("PTYCELL_HOSTS", "hosts", hosts), .type = SCHEMA_HOSTS, .default_text = "none",
	  .common = true,
	  .help = "hosts in the network that code may reach; without any it has no network" },
	{ SETTING("PTYCELL_FETCH_HOSTS", "fetch-hosts", fetch_hosts), .type = SCHEMA_HOSTS,
	  .words = off_word, .default_text = "any public host",
	  .help = "hosts from which upload_file may download; off allows no downloads" },
	{ SETTING("PTYCELL_ALLOW_PRIVATE_HOSTS", "allow-private-hosts", allow_private_hosts),
	  .type = SCHEMA_SWITCH, .words = switch_words,
	  .help = "hosts and downloads may also be of this machine and its private networks" },
	{ SETTING("PTYCELL_POLICY", "policy", policy), .type = SCHEMA_FILE, .words = off_word,
	  .default_text = "off", .common = true,
	  .help = "file that says which packages may be installed, and rules for code" },
	{ SETTING("PTYCELL_PIP_INDEX", "pip-index", pip_index), .type = SCHEMA_TEXT,
	  .default_text = "that of pip.conf, else what pip itself takes",
	  .help = "where Python packages come from: URLs, NAME*@URL and folders of wheels, or off" },
	{ SETTING("PTYCELL_R_REPOS", "r-repos", r_repos), .type = SCHEMA_TEXT,
	  .default_text = "what R itself takes",
	  .help = "where R packages come from: URLs and folders of CRAN's form, or off" },
	{ SETTING("PTYCELL_INSTALL_HOSTS", "install-hosts", install_hosts), .type = SCHEMA_HOSTS,
	  .default_text = "none",
	  .help = "further hosts that an index sends installers to for its files" },
	{ SETTING("PTYCELL_INSTALL_TIMEOUT", "install-timeout", install_timeout),
	  NUMBER(SCHEMA_SECONDS, 600, 1, DAY), .help = "how long installing packages may take" },
	{ SETTING("PTYCELL_INSTALL_MAX", "install-max", install_max),
	  NUMBER(SCHEMA_BYTES, 8 * GIB, MIB, 64 * TIB),
	  .help = "how much an installer may download and unpack" },
	{ SETTING("PTYCELL_PACKAGES_MAX", "packages-max", packages_max),
	  NUMBER(SCHEMA_BYTES, 10 * GIB, MIB, 64 * TIB),
	  .help = "size of the packages kept for other sessions; what was unused for longest goes first" },
	{ SETTING("PTYCELL_INSTALL_BUILDS", "install-builds", install_builds),
	  .type = SCHEMA_SWITCH, .words = switch_words,
	  .help = "packages may run their own code to be built; else only finished ones go in" },
	{ SETTING("PTYCELL_FLOOR", "floor", floor), .type = SCHEMA_INDEX, .words = floor_words,
	  .default_number = FLOOR_LANDLOCK, .common = true,
	  .help = "weakest confinement that will do; with less (or --unconfined) no code runs" },
	{ SETTING("", "unconfined", unconfined), .type = SCHEMA_SWITCH, .words = switch_words,
	  .help = "no confinement: code can do whatever you can; every answer says so" },
	{ SETTING("PTYCELL_RESULTS", "results", results), .type = SCHEMA_INDEX,
	  .words = results_words, .default_number = RESULTS_BLOCKS, .common = true,
	  .help = "form of results: blocks for chat hosts, json for agent frameworks" },
	{ .name = "PTYCELL_PYTHON",
	  .flag = "python",
	  .type = SCHEMA_PROGRAM,
	  .default_text = "found",
	  .common = true,
	  .help = "the Python to use; else that of VIRTUAL_ENV, else python3 on PATH" },
	{ .name = "PTYCELL_NODE",
	  .flag = "node",
	  .type = SCHEMA_PROGRAM,
	  .default_text = "found",
	  .common = true,
	  .help = "the Node.js for JavaScript, 18 or later; else node on PATH" },
	{ .name = "PTYCELL_BASH",
	  .flag = "bash",
	  .type = SCHEMA_PROGRAM,
	  .default_text = "found",
	  .help = "the bash to use; else the one on PATH" },
	{ .name = "PTYCELL_R",
	  .flag = "r",
	  .type = SCHEMA_PROGRAM,
	  .default_text = "found",
	  .help = "the R to use; else the one on PATH" },
	{ SETTING("PTYCELL_SPARES", "spares", spares), NUMBER(SCHEMA_COUNT, 1, 0, 16),
	  .help = "sandboxes a language that wait, started, for the next new session; 0: none" },
	{ SETTING("PTYCELL_FORK", "fork", fork), .type = SCHEMA_SWITCH, .words = switch_words,
	  .default_number = 1,
	  .help = "Python sessions begin as copies of one that has imported, and share its memory" },
	{ SETTING("PTYCELL_PRELOAD", "preload", preload), .type = SCHEMA_MODULES, .words = off_word,
	  .default_text = "numpy,pandas,matplotlib.pyplot",
	  .help = "Python modules that a waiting sandbox has imported, those that are installed" },
	{ SETTING("PTYCELL_LOG", "log", log_level), .type = SCHEMA_WORD, .words = log_words,
	  .default_number = 1, .common = true, .help = "what is logged on stderr" },
	{ SETTING("PTYCELL_ELICIT", "elicit", elicit), .type = SCHEMA_SWITCH, .words = switch_words,
	  .default_number = 1,
	  .help = "whether a client that can is told to ask the user when code waits for input" },
	{ SETTING("PTYCELL_DRAIN", "drain", drain), .type = SCHEMA_SWITCH, .words = switch_words,
	  .help = "a call waits for its cell, however long, as it does when stdin is a file" },
};

const struct setting *schema_at(size_t index)
{
	return index < ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

size_t schema_count(void)
{
	return ARRAY_SIZE(rows);
}

const struct setting *schema_find(const char *name)
{
	for (size_t i = 0; name[0] && i < ARRAY_SIZE(rows); i++)
		if (str_eq(rows[i].name, name) ||
		    (rows[i].alias != NULL && str_eq(rows[i].alias, name)))
			return &rows[i];
	return NULL;
}
