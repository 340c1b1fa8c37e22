/* SPDX-License-Identifier: MIT */
/*
 * plan.c - encodes and parses plans, and carries them in sealed memfds.
 *
 * Writers check their own output with the reader, so there is one set of rules and an error names
 * what breaks it. A seal is the proof that the sender cannot change or shrink a plan while it is
 * parsed. The substitute for a memfd (fd_unnamed, where memfd_create is forbidden) takes no seals;
 * the reader copies it instead.
 */
#include "sandbox/wire/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/wire/plan_internal.h"

enum { PLAN_MAGIC = 0x4e4c5050, PLAN_VERSION = 1, PLAN_SEALS = 0xf };
_Static_assert(PLAN_SEALS == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
	       "a plan is sealed against everything");

struct plan_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind;
	uint32_t len; /* of the whole plan, this header included */
};

struct record_header {
	uint32_t tag;
	uint32_t len;
};

struct terminal_record {
	uint16_t rows;
	uint16_t columns;
};

struct descriptor_record {
	uint32_t number;
	uint32_t kind;
	char name[PLAN_DESCRIPTOR_NAME_MAX];
};

/* ---- writing ---- */

void plan_buf_init(struct buf *buf)
{
	buf_init(buf, PLAN_BYTES_MAX);
}

int plan_add_header(struct buf *plan, enum plan_kind kind, struct err *err)
{
	struct plan_header header = { PLAN_MAGIC, PLAN_VERSION, (uint16_t)kind, 0 };

	return buf_add(plan, &header, sizeof(header), err);
}

void plan_close_header(struct buf *plan)
{
	uint32_t len = (uint32_t)plan->len;

	memcpy(plan->data + offsetof(struct plan_header, len), &len, sizeof(len));
}

int plan_add_record(struct buf *plan, enum plan_tag tag, const void *data, size_t len,
		    struct err *err)
{
	struct record_header header = { tag, (uint32_t)len };

	if (len > PLAN_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "%zu bytes do not fit in a plan", len);
	if (buf_add(plan, &header, sizeof(header), err) < 0)
		return -1;
	return buf_add(plan, data, len, err);
}

static int add_strings(struct buf *plan, enum plan_tag tag, char *const *strings, struct err *err)
{
	for (size_t i = 0; strings[i] != NULL; i++)
		if (plan_add_record(plan, tag, strings[i], strlen(strings[i]) + 1, err) < 0)
			return -1;
	return 0;
}

static int add_descriptors(struct buf *plan, const struct plan_start *start, struct err *err)
{
	for (size_t i = 0; i < start->descriptor_count; i++) {
		const struct plan_descriptor *d = &start->descriptors[i];
		struct descriptor_record record = { (uint32_t)d->number, d->kind, "" };

		memcpy(record.name, d->name, sizeof(record.name));
		if (plan_add_record(plan, TAG_DESCRIPTOR, &record, sizeof(record), err) < 0)
			return -1;
	}
	return 0;
}

int plan_write_start(struct buf *ret_plan, const struct plan_start *start, struct err *err)
{
	struct terminal_record terminal = { start->rows, start->columns };
	struct plan_start check;

	if (plan_add_header(ret_plan, PLAN_KIND_START, err) < 0 ||
	    add_strings(ret_plan, TAG_ARGUMENT, start->argv, err) < 0 ||
	    add_strings(ret_plan, TAG_VARIABLE, start->envp, err) < 0 ||
	    plan_add_record(ret_plan, TAG_CWD, start->cwd, strlen(start->cwd) + 1, err) < 0 ||
	    plan_add_record(ret_plan, TAG_TERMINAL, &terminal, sizeof(terminal), err) < 0 ||
	    add_descriptors(ret_plan, start, err) < 0)
		return -1;
	plan_close_header(ret_plan);
	/* The reader's rules apply to writers as well, so that an error is found here. */
	if (plan_parse_start(ret_plan->data, ret_plan->len, &check, err) < 0)
		return -1;
	plan_start_release(&check);
	return 0;
}

/* ---- reading ---- */

int plan_open(struct plan_reader *reader, const void *data, size_t len, enum plan_kind kind,
	      struct err *err)
{
	struct plan_header header;

	if (len < sizeof(header) || len > PLAN_BYTES_MAX)
		return err_set(err, ERR_INVALID, "a plan of %zu bytes", len);
	memcpy(&header, data, sizeof(header));
	if (header.magic != PLAN_MAGIC || header.version != PLAN_VERSION || header.kind != kind ||
	    header.len != len)
		return err_set(err, ERR_INVALID, "a plan with a wrong header");
	reader->at = (const char *)data + sizeof(header);
	reader->end = (const char *)data + len;
	return 0;
}

int plan_next(struct plan_reader *reader, struct plan_record *ret_record, struct err *err)
{
	struct record_header header;
	size_t left = (size_t)(reader->end - reader->at);

	if (left == 0)
		return 0;
	if (left < sizeof(header))
		return err_set(err, ERR_INVALID, "a plan with half a record");
	memcpy(&header, reader->at, sizeof(header));
	if (header.len > left - sizeof(header))
		return err_set(err, ERR_INVALID, "a plan with a record past its end");
	*ret_record = (struct plan_record){ header.tag, header.len, reader->at + sizeof(header) };
	reader->at += sizeof(header) + header.len;
	return 1;
}

bool plan_is_string(const char *data, size_t len)
{
	return len > 0 && memchr(data, '\0', len) == data + len - 1;
}

/* The state while a start is parsed. */
struct start_reader {
	struct plan_start *start;
	size_t arg_count;
	size_t var_count;
	size_t string_bytes;
	bool terminal_seen;
};

static int read_string(struct start_reader *in, const struct plan_record *record, struct err *err)
{
	/* Only ever read; execve's parameters lack the const. */
	char *string = (char *)(uintptr_t)record->data;

	if (!plan_is_string(record->data, record->len))
		return err_set(err, ERR_INVALID, "an argument or variable that is no string");
	in->string_bytes += record->len;
	if (in->string_bytes > PLAN_STRING_BYTES_MAX ||
	    in->arg_count + in->var_count >= PLAN_STRINGS_MAX)
		return err_set(err, ERR_LIMIT,
			       "arguments and environment exceed %d bytes or %d strings",
			       PLAN_STRING_BYTES_MAX, PLAN_STRINGS_MAX);
	if (record->tag == TAG_VARIABLE) {
		in->start->envp[in->var_count++] = string;
		return 0;
	}
	if (in->arg_count == 0 && string[0] != '/')
		return err_set(err, ERR_INVALID, "the program '%s' is no absolute path", string);
	in->start->argv[in->arg_count++] = string;
	return 0;
}

static int read_cwd(struct plan_start *start, const struct plan_record *record, struct err *err)
{
	if (start->cwd != NULL || record->len > PLAN_PATH_MAX ||
	    !plan_is_string(record->data, record->len))
		return err_set(err, ERR_INVALID, "a plan with a wrong working folder");
	if (record->data[0] != '/' && record->data[0] != '\0')
		return err_set(err, ERR_INVALID, "the folder '%s' is no absolute path",
			       record->data);
	start->cwd = record->data;
	return 0;
}

static int read_terminal(struct start_reader *in, const struct plan_record *record, struct err *err)
{
	struct terminal_record terminal;

	if (in->terminal_seen || record->len != sizeof(terminal))
		return err_set(err, ERR_INVALID, "a plan with a wrong terminal");
	memcpy(&terminal, record->data, sizeof(terminal));
	if (terminal.rows == 0 || terminal.columns == 0 || terminal.rows > PLAN_TERMINAL_MAX ||
	    terminal.columns > PLAN_TERMINAL_MAX)
		return err_set(err, ERR_INVALID, "a terminal of %ux%u", terminal.columns,
			       terminal.rows);
	in->terminal_seen = true;
	in->start->rows = terminal.rows;
	in->start->columns = terminal.columns;
	return 0;
}

static int read_descriptor(struct plan_start *start, const struct plan_record *record,
			   struct err *err)
{
	struct descriptor_record raw;
	struct plan_descriptor *d;

	if (record->len != sizeof(raw) || start->descriptor_count == PLAN_DESCRIPTORS_MAX)
		return err_set(err, ERR_INVALID, "a plan with too many or misshapen descriptors");
	memcpy(&raw, record->data, sizeof(raw));
	if (raw.number > PLAN_DESCRIPTOR_NUMBER_MAX || raw.kind >= PLAN_DESCRIPTOR_KINDS ||
	    raw.name[0] == '\0' || memchr(raw.name, '\0', sizeof(raw.name)) == NULL)
		return err_set(err, ERR_INVALID, "a plan with a wrong descriptor");
	for (size_t i = 0; i < start->descriptor_count; i++)
		if (start->descriptors[i].number == (int)raw.number ||
		    str_eq(start->descriptors[i].name, raw.name))
			return err_set(err, ERR_INVALID, "a plan that names descriptor '%s' twice",
				       raw.name);
	d = &start->descriptors[start->descriptor_count++];
	memcpy(d->name, raw.name, sizeof(d->name));
	d->number = (int)raw.number;
	d->kind = (enum plan_descriptor_kind)raw.kind;
	return 0;
}

static int read_record(struct start_reader *in, const struct plan_record *record, struct err *err)
{
	switch (record->tag) {
	case TAG_ARGUMENT:
	case TAG_VARIABLE:
		return read_string(in, record, err);
	case TAG_CWD:
		return read_cwd(in->start, record, err);
	case TAG_TERMINAL:
		return read_terminal(in, record, err);
	case TAG_DESCRIPTOR:
		return read_descriptor(in->start, record, err);
	default:
		return err_set(err, ERR_INVALID, "a plan with the unknown record %u", record->tag);
	}
}

/* Counts the records with the tag, so that each array is allocated once. */
static size_t count_records(struct plan_reader reader, enum plan_tag tag)
{
	struct plan_record record = { 0 };
	struct err err;
	size_t n = 0;

	while (plan_next(&reader, &record, &err) == 1)
		n += record.tag == tag;
	return n < PLAN_STRINGS_MAX ? n : PLAN_STRINGS_MAX;
}

static int read_start(struct start_reader *in, struct plan_reader *reader, struct err *err)
{
	struct plan_record record = { 0 };
	int got;

	while ((got = plan_next(reader, &record, err)) == 1)
		if (read_record(in, &record, err) < 0)
			return -1;
	if (got < 0)
		return -1;
	if (in->arg_count == 0 || in->start->cwd == NULL || !in->terminal_seen)
		return err_set(err, ERR_INVALID,
			       "a plan without program, working folder or terminal");
	return 0;
}

int plan_parse_start(const void *data, size_t len, struct plan_start *ret_start, struct err *err)
{
	struct plan_start start = { 0 };
	struct start_reader in = { .start = &start };
	struct plan_reader reader;

	if (plan_open(&reader, data, len, PLAN_KIND_START, err) < 0)
		return -1;
	start.argv = xcalloc(count_records(reader, TAG_ARGUMENT) + 1, sizeof(char *));
	start.envp = xcalloc(count_records(reader, TAG_VARIABLE) + 1, sizeof(char *));
	if (read_start(&in, &reader, err) < 0) {
		plan_start_release(&start);
		return -1;
	}
	*ret_start = start;
	return 0;
}

void plan_start_release(struct plan_start *start)
{
	free((void *)start->argv);
	free((void *)start->envp);
	start->argv = NULL;
	start->envp = NULL;
}

/* ---- the memfd ---- */

int plan_seal(const struct buf *plan, struct err *err)
{
	cleanup_fd int fd = fd_unnamed("plan", err);

	if (fd < 0 || fd_write_all(fd, plan->data, plan->len, err) < 0)
		return -1;
	/* The substitute for a memfd takes no seals; its reader copies it. */
	if (fcntl(fd, F_ADD_SEALS, PLAN_SEALS) < 0 && errno != EINVAL && errno != EPERM)
		return err_sys(err, "sealing a plan");
	return fd_steal(&fd);
}

/* Returns the copy, or MAP_FAILED with errno. */
static void *map_copy(int fd, size_t len)
{
	void *data = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED || pread(fd, data, len, 0) == (ssize_t)len)
		return data;
	(void)munmap(data, len);
	errno = EIO;
	return MAP_FAILED;
}

const void *plan_map(int fd, size_t *ret_len, struct err *err)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *data;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > PLAN_BYTES_MAX || (seals >= 0 && (seals & F_SEAL_SEAL) == 0)) {
		(void)err_set(err, ERR_INVALID, "a plan that is no sealed file of legal size");
		return NULL;
	}
	/* Sealed: the bytes can neither change nor shrink while they are mapped. */
	if (seals >= 0 && (seals & PLAN_SEALS) == PLAN_SEALS)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	else
		data = map_copy(fd, (size_t)st.st_size);
	if (data == MAP_FAILED) {
		(void)err_sys(err, "mapping a plan");
		return NULL;
	}
	*ret_len = (size_t)st.st_size;
	return data;
}

void plan_unmap(const void *data, size_t len)
{
	(void)munmap((void *)(uintptr_t)data, len);
}
