/* SPDX-License-Identifier: MIT */
/*
 * settings.h - all settings of the server, as one struct.
 *
 * A setting is a member here and a row of the table in schema.c (README.md). Flags win over the
 * environment, the environment over --env-file, and --env-file over the defaults. A bad value never
 * stops the server: the first problem becomes a sentence, which every tool answers with.
 */
#ifndef CONFIG_SETTINGS_H
#define CONFIG_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/user_env.h"
#include "storage/target.h"

struct redact;

enum settings_notebook { NOTEBOOK_ON, NOTEBOOK_OFF };
enum settings_record { RECORD_ON, RECORD_OFF };
enum settings_results { RESULTS_BLOCKS, RESULTS_JSON };

/* The weakest tier that the user accepts; weakest first. */
enum settings_floor { FLOOR_LANDLOCK, FLOOR_BWRAP, FLOOR_NAMESPACES };

enum {
	SETTINGS_SHARES_MAX = 32,
	SETTINGS_MODULES_MAX = 32,
	SETTINGS_QUERY_ROWS_MAX = 20000000, /* no setting: the size of the file is one */
	SETTINGS_INSTALL_FILES_MAX = 500000 /* no setting: the size of the packages is one */
};

/* One folder of --share as the user wrote it: confinement/shares.h checks it on disk. */
struct settings_share {
	char *path; /* absolute */
	bool writable;
	bool is_home; /* ":home": the user means the whole home folder */
};

/* A database that the user named. */
struct settings_database {
	char *name;   /* in lower case; queries without a name use "default" */
	char *string; /* as written: a connection string, a DSN or sqlite:/path. It must never be
			 shown */
};

/*
 * Limits that a session may lower for itself, by `config` of session_info: seconds, bytes, counts.
 */
struct session_limits {
	uint64_t session_ttl;      /* s */
	uint64_t idle_timeout;     /* s */
	uint64_t exec_timeout;     /* s: default deadline of a cell */
	uint64_t output_chars;     /* characters of text in one answer */
	uint64_t spool_max;        /* bytes of one cell's output that are stored whole */
	uint64_t keep_max;         /* bytes of a session's kept copies */
	uint64_t journal_max;      /* bytes of a session's journal */
	uint64_t memory_max;       /* bytes of a session's processes together, and of each */
	uint64_t processes_max;    /* and threads */
	uint64_t open_files_max;   /* of one process */
	uint64_t file_max;         /* bytes of one file */
	uint64_t disk_max;         /* bytes of the session's folder */
	uint64_t tmp_max;          /* bytes of /tmp */
	uint64_t cpu_max;          /* s of processor time of all its processes */
	uint64_t net_max;          /* bytes to and from hosts */
	uint64_t sql_inline_rows;  /* rows of a query that its answer shows */
	uint64_t download_timeout; /* s */
	uint64_t download_max;     /* bytes of one download */
	uint64_t link_hours;       /* h: lifetime of links to uploaded files */
	uint64_t ulimits;          /* BITs of enum room_ulimit: they made one of these lower */
};

struct settings {
	struct session_limits limits; /* a session's initial values, and their maximums */
	uint64_t exec_timeout_max;    /* s: maximum of a cell's own `timeout` */
	uint64_t record_output;       /* bytes of a cell's output in the journal */
	uint64_t stop_grace;          /* s: from a cell's deadline until it is killed, at least */
	uint64_t query_timeout;       /* s: of exec_sql */
	uint64_t query_rows_max;      /* SETTINGS_QUERY_ROWS_MAX, unless a test lowers it */
	uint64_t call_budget; /* s: a call is answered by then, whether or not its cell has ended */
	uint64_t cleanup_interval; /* s */
	uint64_t max_sessions;
	uint64_t spares;           /* prestarted sandboxes of each language; 0: none */
	char *preload;             /* modules that prestarted Pythons import, as "a,b.c"; or NULL */
	char *home;                /* absolute */
	uint64_t resume;           /* s: how long an ended session can be resumed; 0: not at all */
	uint64_t resume_max;       /* bytes of all ended sessions */
	uint64_t linger;           /* s: a server stays for this long without a client; 0: none */
	uint64_t resume_variables; /* bytes of one session's saved variables; 0: not saved */
	char *keep;                /* absolute, or NULL for off */
	uint64_t keep_total;       /* bytes of the results of all sessions below `keep` */
	enum settings_record record;     /* whether sessions have a journal */
	enum settings_notebook notebook; /* whether a notebook is kept beside the results */
	struct storage_target storage;   /* validated: where results are uploaded to */
	char *audit;                     /* target of journal/audit.h, or NULL for off */
	char **env_files;                /* from which settings were read; NULL-terminated */
	enum settings_results results;
	enum settings_floor floor;
	bool unconfined;
	bool fork;            /* Python sessions are forked from a zygote */
	bool call_budget_set; /* by the user: no wait of a call is longer */
	bool home_set;        /* by the user */
	struct settings_share *shares;
	size_t share_count;
	char *hosts;       /* as host_list_write of net/host_list.h; NULL for no network */
	char *fetch_hosts; /* of downloads, in the same form; NULL for any host, "" for none */
	bool allow_private_hosts;
	char *policy;        /* absolute, or NULL for the built-in policy */
	char *pip_index;     /* URLs and folders separated by blanks; "off"; NULL for pip's own */
	char *r_repos;       /* URLs and folders for R, in this form; NULL for R's own */
	char *install_hosts; /* hosts that indexes lead to; or NULL */
	uint64_t install_timeout;   /* s */
	uint64_t install_max;       /* bytes of an installer's folder */
	uint64_t install_files_max; /* SETTINGS_INSTALL_FILES_MAX, unless a test lowers it */
	uint64_t packages_max;      /* bytes of packages stored for other sessions */
	bool install_builds;        /* packages may run their own code to be built */
	struct settings_database *databases;
	size_t database_count;
	char *database_password;  /* for the placeholder of the default database; or NULL */
	struct user_env user_env; /* variables for session code */
	struct redact *redact; /* removes the secrets among them from text; NULL: there are none */
	bool drain;
	bool elicit; /* the user is asked if code waits for input */
	char *log_level;
	char **environment; /* ours, with PTYCELL_PYTHON etc. as flags or files set them:
			       language_locate() reads them */
	char *problem;      /* a sentence about what is wrong with the configuration; or NULL */
	char *notices; /* lines for stderr about what was ignored, each with its newline; or NULL */
};

/*
 * Reads flags (argv behind the program's name; the caller removes subcommands), `env` (as environ)
 * and the files of --env-file. Never fails; see `problem`. The caller frees the result with
 * settings_free().
 */
struct settings *settings_load(int argc, char *const argv[], char *const env[]);
void settings_free(struct settings *settings);

/*
 * Changes one limit of a session. `key` is one of effective_config of session_info. The value is
 * clamped: the minimum is that of schema.c, the maximum is the server's own value. Returns -1 and
 * sets *err to ERR_INVALID for another key, and names the known ones.
 */
int settings_clamp(const struct settings *settings, struct session_limits *limits, const char *key,
		   double value, struct err *err) MUST_CHECK;

/* Returns entry `index` of effective_config; false past the end. `ret_key` is static. */
bool settings_limit_at(const struct session_limits *limits, size_t index, const char **ret_key,
		       uint64_t *ret_value);

/*
 * Returns the key of a limit that differs between the two and cannot change after the first cell;
 * NULL if there is none. Sets *ret_value to the value of `a`.
 */
const char *settings_fixed_difference(const struct session_limits *a,
				      const struct session_limits *b, uint64_t *ret_value);

/* Append the common settings as --help shows them, and all settings as a table in Markdown. */
void settings_help(struct buf *out);
void settings_markdown(struct buf *out);

#endif
