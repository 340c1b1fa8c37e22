/* SPDX-License-Identifier: MIT */
/*
 * keywords.c - the table of refused words, with the dialects in which each is dangerous. A word
 * that is reserved is refused everywhere; another one only where it acts, since users' columns have
 * such names. SQL_GENERIC refuses what any of the others does.
 */
#include "sql/keywords.h"

#define T BIT(SQL_TSQL)
#define P BIT(SQL_POSTGRESQL)
#define L BIT(SQL_SQLITE)
#define M BIT(SQL_MYSQL)
#define G BIT(SQL_GENERIC)
#define ALL (T | P | L | M | G)

#define WRITES "changes data"
#define DEFINES "changes the database"
#define RUNS "runs other code"
#define ENDS "is about transactions"
#define WAITS "waits"
#define LOCKS "locks"
#define OUT "reaches out of the database"
#define SERVER "is about the server or the session"
#define STARTS "begins another statement"
#define READS_MORE "reads tables that the query does not name"
#define TAKES_ID "takes a transaction number, which stays taken"

#define ANY(name, mask, reason)                                                                    \
	{                                                                                          \
		.word = (name), .why = (reason), .dialects = (mask)                                \
	}
#define PAIR(first, second, mask, reason)                                                          \
	{                                                                                          \
		.word = (first), .next = (second), .why = (reason), .dialects = (mask),            \
		.place = WORD_PAIR                                                                 \
	}
#define NAME(name, mask, reason)                                                                   \
	{                                                                                          \
		.word = (name), .why = (reason), .dialects = (mask), .place = WORD_NAMED           \
	}
#define CALL(name, mask, reason)                                                                   \
	{                                                                                          \
		.word = (name), .why = (reason), .dialects = (mask), .place = WORD_CALLED          \
	}
#define PREFIX(name, mask, reason)                                                                 \
	{                                                                                          \
		.word = (name), .why = (reason), .dialects = (mask), .place = WORD_PREFIX          \
	}

static const struct word_rule rules[] = {
	/* T-SQL needs no semicolon before another statement; it reserves these words. */
	ANY("INTO", ALL, "makes a table or a file"),
	ANY("INSERT", T | G, WRITES),
	ANY("UPDATE", T, WRITES),
	ANY("DELETE", T | G, WRITES),
	ANY("MERGE", T | G, WRITES),
	ANY("TRUNCATE", T, WRITES),
	ANY("UPDATETEXT", T, WRITES),
	ANY("WRITETEXT", T, WRITES),
	ANY("BULK", T, WRITES),
	ANY("CREATE", T | G, DEFINES),
	ANY("ALTER", T | G, DEFINES),
	ANY("ADD", T, DEFINES),
	ANY("DROP", T | G, DEFINES),
	ANY("GRANT", T | G, DEFINES),
	ANY("REVOKE", T | G, DEFINES),
	ANY("DENY", T, DEFINES),
	ANY("EXEC", T | G, RUNS),
	ANY("EXECUTE", T | G, RUNS),
	ANY("COMMIT", T | G, ENDS),
	ANY("ROLLBACK", T | G, ENDS),
	ANY("SAVE", T, ENDS),
	ANY("BEGIN", T, STARTS),
	ANY("IF", T, STARTS),
	ANY("WHILE", T, STARTS),
	ANY("BREAK", T, STARTS),
	ANY("CONTINUE", T, STARTS),
	ANY("GOTO", T, STARTS),
	ANY("RETURN", T, STARTS),
	ANY("DECLARE", T, STARTS),
	ANY("SET", T, SERVER),
	ANY("USE", T, SERVER),
	ANY("PRINT", T, STARTS),
	ANY("RAISERROR", T, STARTS),
	ANY("OPEN", T, STARTS),
	ANY("CLOSE", T, STARTS),
	ANY("DEALLOCATE", T, STARTS),
	ANY("READTEXT", T, STARTS),
	ANY("REVERT", T, SERVER),
	ANY("SETUSER", T, SERVER),
	ANY("BACKUP", T, SERVER),
	ANY("RESTORE", T, SERVER),
	ANY("DUMP", T, SERVER),
	ANY("LOAD", T, SERVER),
	ANY("KILL", T, SERVER),
	ANY("SHUTDOWN", T, SERVER),
	ANY("CHECKPOINT", T, SERVER),
	ANY("RECONFIGURE", T, SERVER),
	ANY("DBCC", T, SERVER),
	ANY("WAITFOR", T, WAITS),
	ANY("HOLDLOCK", T | G, LOCKS),
	ANY("OPENROWSET", T | G, OUT),
	ANY("OPENQUERY", T | G, OUT),
	ANY("OPENDATASOURCE", T | G, OUT),
	ANY("OPENXML", T | G, OUT),

	/* Not reserved, but a statement or a lock before a certain word. */
	PAIR("UPDATE", "SET", G, WRITES),
	PAIR("TRUNCATE", "TABLE", G, WRITES),
	PAIR("NEXT", "VALUE", T | M | G, "takes a number from a sequence, which stays taken"),
	PAIR("ENABLE", "TRIGGER", T, DEFINES),
	PAIR("DISABLE", "TRIGGER", T, DEFINES),
	PAIR("SEND", "ON", T, RUNS),
	PAIR("RECEIVE", "TOP", T, WRITES),
	PAIR("MOVE", "CONVERSATION", T, WRITES),
	PAIR("GET", "CONVERSATION", T, WRITES),
	PAIR("END", "CONVERSATION", T, WRITES),
	PAIR("FOR", "UPDATE", P | L | M | G, LOCKS),
	PAIR("FOR", "SHARE", P | L | M | G, LOCKS),
	PAIR("FOR", "NO", P | L | M | G, LOCKS),
	PAIR("FOR", "KEY", P | L | M | G, LOCKS),
	PAIR("LOCK", "IN", M | G, LOCKS),
	PAIR("WAITFOR", "DELAY", G, WAITS),

	CALL("nextval", P | M | G, "takes a number from a sequence, which stays taken"),
	CALL("setval", P | M | G, WRITES),
	CALL("set_config", P | G, SERVER),
	CALL("pg_terminate_backend", P | G, SERVER),
	CALL("pg_cancel_backend", P | G, SERVER),
	CALL("pg_reload_conf", P | G, SERVER),
	CALL("pg_logfile_rotate", P | G, SERVER),
	CALL("pg_stop_making_pinned_objects", P | G, SERVER),
	CALL("pg_logdir_ls", P | G, OUT),
	CALL("bt_index_parent_check", P | G, LOCKS),
	CALL("gin_index_check", P | G, LOCKS),
	CALL("txid_current", P | G, TAKES_ID),
	CALL("pg_current_xact_id", P | G, TAKES_ID),
	CALL("pg_promote", P | G, SERVER),
	CALL("pg_start_backup", P | G, SERVER),
	CALL("pg_stop_backup", P | G, SERVER),
	CALL("pg_notify", P | G, OUT),
	CALL("pg_stat_file", P | G, OUT),
	CALL("pg_export_snapshot", P | G, SERVER),
	CALL("pg_import_system_collations", P | G, DEFINES),
	CALL("pg_nextoid", P | G, WRITES),
	CALL("pg_prewarm", P | G, SERVER),
	CALL("pg_stat_statements_reset", P | G, SERVER),
	CALL("pg_truncate_visibility_map", P | G, WRITES),
	CALL("gin_clean_pending_list", P | G, WRITES),
	CALL("lowrite", P | G, WRITES),
	CALL("loread", P | G, "reads a large object by a handle"),
	CALL("isn_weak", P | G, SERVER),
	CALL("setseed", P | G, SERVER),
	CALL("ts_stat", P | G, RUNS),
	CALL("ts_rewrite", P | G, RUNS),
	CALL("connectby", P | G, RUNS),
	CALL("xpath_table", P | G, RUNS),
	CALL("pg_show_all_file_settings", P | G, OUT),
	CALL("http", P | G, OUT),
	/* Views of the server's files. */
	NAME("pg_file_settings", P | G, OUT),
	NAME("pg_hba_file_rules", P | G, OUT),
	NAME("pg_ident_file_mappings", P | G, OUT),
	PREFIX("pg_sleep", P | G, WAITS),
	PREFIX("pg_advisory_", P | G, LOCKS),
	PREFIX("pg_try_advisory_", P | G, LOCKS),
	PREFIX("pg_switch_", P | G, SERVER),
	PREFIX("pg_create_", P | G, SERVER),
	PREFIX("pg_drop_", P | G, SERVER),
	PREFIX("pg_copy_", P | G, SERVER),
	PREFIX("pg_backup_", P | G, SERVER),
	PREFIX("pg_stat_reset", P | G, SERVER),
	PREFIX("pg_logical_", P | G, SERVER),
	PREFIX("pg_replication_", P | G, SERVER),
	PREFIX("pg_sync_replication_", P | G, SERVER),
	PREFIX("pg_wal_replay_", P | G, SERVER),
	PREFIX("pg_log_", P | G, SERVER),
	PREFIX("pg_read_", P | G, OUT),
	PREFIX("pg_ls_", P | G, OUT),
	PREFIX("pg_file_", P | G, OUT),
	PREFIX("brin_summarize_", P | G, WRITES),
	PREFIX("brin_desummarize_", P | G, WRITES),
	PREFIX("lo_import", P | G, OUT),
	PREFIX("lo_export", P | G, OUT),
	PREFIX("lo_creat", P | G, WRITES),
	PREFIX("lo_from_", P | G, WRITES),
	PREFIX("lo_lseek", P | G, "reads a large object by a handle"),
	PREFIX("lo_tell", P | G, "reads a large object by a handle"),
	PREFIX("lo_truncate", P | G, WRITES),
	CALL("lo_open", P | G, "reads a large object by a handle"),
	CALL("lo_close", P | G, "reads a large object by a handle"),
	CALL("lo_put", P | G, WRITES),
	CALL("lo_unlink", P | G, WRITES),
	PREFIX("dblink", P | G, OUT),
	PREFIX("postgres_fdw_disconnect", P | G, OUT),
	PREFIX("autoprewarm_", P | G, SERVER),
	PREFIX("binary_upgrade_", P | G, DEFINES),
	PREFIX("pg_rotate_", P | G, SERVER),
	PREFIX("pg_restore_", P | G, WRITES),
	PREFIX("pg_clear_", P | G, WRITES),
	PREFIX("pg_set_", P | G, WRITES),
	PREFIX("pg_buffercache_evict", P | G, SERVER),
	PREFIX("pgr_", P | G, RUNS),
	PREFIX("pg_background_", P | G, RUNS),
	PREFIX("run_command_on_", P | G, RUNS),
	PREFIX("oracle_execute", P | G, RUNS),
	PREFIX("http_", P | G, OUT),
	PREFIX("query_export_to_", P | G, OUT),
	PREFIX("table_import_from_", P | G, OUT),
	PREFIX("query_to_", P | G, RUNS),
	PREFIX("cursor_to_", P | G, RUNS),
	PREFIX("table_to_xml", P | G, READS_MORE),
	PREFIX("schema_to_xml", P | G, READS_MORE),
	PREFIX("database_to_xml", P | G, READS_MORE),
	PREFIX("crosstab", P | G, RUNS),
	PREFIX("heap_force_", P | G, WRITES),

	CALL("load_extension", L | G, RUNS),
	CALL("fts3_tokenizer", L | G, RUNS),
	CALL("writefile", L | G, OUT),
	CALL("readfile", L | G, OUT),
	CALL("edit", L | G, RUNS),

	PREFIX("xp_", T | G, OUT),
	CALL("fn_xe_file_target_read_file", T | G, OUT),
	CALL("fn_get_audit_file", T | G, OUT),
	CALL("fn_trace_gettable", T | G, OUT),

	CALL("httpuritype", G, OUT),
	CALL("dburitype", G, OUT),
	CALL("xdburitype", G, OUT),

	CALL("sleep", M | G, WAITS),
	CALL("benchmark", M | G, WAITS),
	CALL("get_lock", M | G, LOCKS),
	CALL("release_lock", M | G, LOCKS),
	CALL("release_all_locks", M | G, LOCKS),
	CALL("load_file", M | G, OUT),
	CALL("sys_exec", M | G, OUT),
	CALL("sys_eval", M | G, OUT),
	CALL("master_pos_wait", M | G, WAITS),
	CALL("source_pos_wait", M | G, WAITS),
	CALL("sys_set", M | G, OUT),
	CALL("master_gtid_wait", M | G, WAITS),
	CALL("wait_for_executed_gtid_set", M | G, WAITS),
	CALL("wait_until_sql_thread_after_gtids", M | G, WAITS),
	PREFIX("group_replication_", M | G, SERVER),
	PREFIX("asynchronous_connection_", M | G, SERVER),
	PREFIX("audit_log_", M | G, SERVER),
	PREFIX("keyring_", M | G, SERVER),
	PREFIX("version_tokens_", M | G, SERVER),
	PREFIX("service_", M | G, LOCKS),
	PREFIX("spider_", M | G, RUNS),
	PREFIX("mroonga_command", M | G, RUNS),
	CALL("wsrep_sync_wait_upto_gtid", M | G, WAITS),
};

const struct word_rule *keywords_rule(size_t index)
{
	return index < ARRAY_SIZE(rules) ? &rules[index] : NULL;
}
