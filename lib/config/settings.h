/* SPDX-License-Identifier: MIT */
/*
 * settings.h - everything that can be set, in one table.
 *
 * One row holds name, type, unit, default, floor, ceiling and help; parsing, --help,
 * session_info's effective_config and the README's table all come from it. Flags win over the
 * environment, that over --env-file, that over the defaults. A bad value never stops the server:
 * the first trouble is kept as a sentence that every tool answers with.
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
enum settings_results { RESULTS_BLOCKS, RESULTS_JSON };

/* The weakest confinement that will do; weakest first. */
enum settings_floor { FLOOR_LANDLOCK, FLOOR_BWRAP, FLOOR_NAMESPACES };

enum { SETTINGS_SHARES_MAX = 32, SETTINGS_MODULES_MAX = 32 };

/* One folder of --share, as it was written: confinement/shares.h looks at the disk. */
struct settings_share {
	char *path; /* absolute */
	bool writable;
	bool is_home; /* ":home": the person means the whole home folder */
};

/* A database that the person named. */
struct settings_database {
	char *name;   /* in lower case; "default" is what queries without a name mean */
	char *string; /* as written: a connection string, a DSN or sqlite:/path. Never to be shown
		       */
};

/* Limits that a session may narrow for itself: `config` of session_info. Seconds, bytes, counts. */
struct session_limits {
	uint64_t session_ttl;  /* s */
	uint64_t idle_timeout; /* s */
	uint64_t exec_timeout; /* s: default deadline of a cell */
	uint64_t output_chars; /* characters of text in one answer */
	uint64_t spool_max;    /* bytes of one cell's output kept whole */
	uint64_t keep_max;     /* bytes of kept copies a session */
	uint64_t journal_max;  /* bytes of a session's journal */
	/* Bytes of a session's processes together, and of each. */
	uint64_t memory_max;
	uint64_t processes_max;    /* and threads */
	uint64_t open_files_max;   /* of one process */
	uint64_t file_max;         /* bytes of one file */
	uint64_t disk_max;         /* bytes of the session's folder */
	uint64_t tmp_max;          /* bytes of /tmp */
	uint64_t cpu_max;          /* s of processor time of all its processes */
	uint64_t net_max;          /* bytes to and from hosts */
	uint64_t sql_inline_rows;  /* rows of a query that its answer shows */
	uint64_t download_timeout; /* s */
	uint64_t download_max;     /* bytes of one */
	uint64_t link_hours;       /* h: of links to uploaded files */
	uint64_t upload_max;       /* bytes of a session in the storage, and files */
	uint64_t upload_files_max;
};

struct settings {
	struct session_limits limits; /* a session's start values, and its ceilings */
	uint64_t exec_timeout_max;    /* s: ceiling of a cell's own `timeout` */
	uint64_t record_output;       /* bytes of a cell's output that its record shows */
	uint64_t stop_grace;          /* s: after the deadline, for code that does not end */
	uint64_t query_timeout;       /* s: of exec_sql */
	uint64_t query_rows_max;      /* of one query */
	uint64_t call_budget;         /* s: a call is answered by then, its cell ended or not */
	uint64_t cleanup_interval;    /* s */
	uint64_t max_sessions;
	uint64_t line_max;               /* bytes of one request */
	uint64_t spares;                 /* sandboxes of a language that wait; 0: none */
	uint64_t spares_idle;            /* s: unused for this long they end */
	char *preload;                   /* modules as "a,b.c" that Python's have; or NULL */
	char *home;                      /* absolute */
	char *keep;                      /* absolute, or NULL for off */
	enum settings_notebook notebook; /* whether it is kept there too */
	struct storage_target storage;   /* settled: where results are uploaded to */
	char *audit;                     /* journal/audit.h's target, or NULL for off */
	char **env_files;                /* that settings were read from; NULL behind the last */
	enum settings_results results;
	enum settings_floor floor;
	bool unconfined;
	bool fork;            /* Python's sessions from one that has imported */
	bool call_budget_set; /* by the user: a call's own wait is no longer */
	bool home_set;        /* by the user */
	struct settings_share *shares;
	size_t share_count;
	char *hosts;       /* as host_list_write of net/host_list.h; NULL for no network */
	char *fetch_hosts; /* of downloads, in the same form; NULL for any, "" for none */
	bool allow_private_hosts;
	char *policy;        /* absolute, or NULL for what holds without a file */
	char *pip_index;     /* URLs and folders with blanks between; "off"; NULL for the usual */
	char *r_repos;       /* likewise, for R */
	char *install_hosts; /* that indexes lead to, as hosts; or NULL */
	uint64_t install_timeout; /* s */
	uint64_t install_max;     /* bytes of an installer's folder */
	uint64_t install_files_max;
	uint64_t packages_max; /* bytes of what is kept for other sessions */
	bool install_builds;   /* packages may run code of their own to be built */
	struct settings_database *databases;
	size_t database_count;
	char *database_password; /* for the placeholder of the default database; or NULL */
	struct user_env passed;  /* to the environment of code */
	struct redact *redact;   /* takes the secrets among them out of text; NULL: none */
	bool drain;
	bool elicit;         /* the user is asked when code waits for input */
	uint64_t elicit_max; /* times in a session's life */
	char *log_level;
	char **environment; /* ours with PTYCELL_PYTHON as set by flag or file: language_locate() */
	char *problem;      /* what is wrong with the configuration, a sentence; or NULL */
	char *notices; /* lines for stderr about what was passed over, each with its end; or NULL */
};

/*
 * From flags (argv after the program's name; subcommands are taken out by the caller), `env` (as
 * environ) and the files that --env-file names. Never fails; see `problem`. settings_free() frees
 * it.
 */
struct settings *settings_load(int argc, char *const argv[], char *const env[]);
void settings_free(struct settings *settings);

/*
 * Changes one limit of a session: `key` as in effective_config. The value is clamped between the
 * row's floor and the server's own value. ERR_INVALID names the keys there are.
 */
int settings_clamp(const struct settings *settings, struct session_limits *limits, const char *key,
		   double value, struct err *err) MUST_CHECK;

/* effective_config: row `index` of the limits; false past the end. `ret_key` is static. */
bool settings_limit_at(const struct session_limits *limits, size_t index, const char **ret_key,
		       uint64_t *ret_value);

/*
 * The key of a limit that holds from a session's first cell on and differs between the two; NULL
 * when there is none. `ret_value` is that of `a`.
 */
const char *settings_fixed_difference(const struct session_limits *a,
				      const struct session_limits *b, uint64_t *ret_value);

/* The table as --help shows it, and as the README's Markdown. */
void settings_help(struct buf *out);
void settings_markdown(struct buf *out);

#endif
