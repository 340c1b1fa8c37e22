/* SPDX-License-Identifier: MIT */
/*
 * audit_socket.c - writes the datagrams of syslog (RFC 3164) and of journald. A syslog line has a
 * maximum, so the largest members are left out first. An entry too large for a datagram reaches
 * journald as a sealed memfd, which journald requires.
 */
#include "journal/audit_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "journal/digest.h"
#include "json/make.h"
#include "json/write.h"
#include "text/utf8.h"

enum { ACCEPT_S = 1, STAMP_LEN = 32 };

static const char syslog_prefix[] = "syslog:";
static const char journald_prefix[] = "journald:";

static bool is_syslog(const char *target)
{
	return strncmp(target, syslog_prefix, strlen(syslog_prefix)) == 0;
}

bool audit_socket_is(const char *target)
{
	return is_syslog(target) || strncmp(target, journald_prefix, strlen(journald_prefix)) == 0;
}

static const char *path_of(const char *target)
{
	const char *path = strchr(target, ':') + 1;

	if (path[0] != '\0')
		return path;
	return is_syslog(target) ? "/dev/log" : "/run/systemd/journal/socket";
}

static int open_socket(const char *path, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { .tv_sec = ACCEPT_S };
	cleanup_fd int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		return err_set(err, ERR_INVALID, "'%s' is too long for a socket", path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return err_sys(err, "connecting to '%s'", path);
	return fd_steal(&fd);
}

int audit_socket_check(const char *target, struct err *err)
{
	cleanup_fd int fd = open_socket(path_of(target), err);

	return fd < 0 ? -1 : 0;
}

/* ---- syslog ---- */

static void cut_code(json_t *line)
{
	const json_t *code = json_object_get(line, "code");
	size_t len = json_string_length(code);
	size_t cut = AUDIT_SYSLOG_CODE;
	char digest[DIGEST_LEN + 1];
	const char *text = json_string_value(code);

	if (len <= AUDIT_SYSLOG_CODE)
		return;
	while (cut > 0 && utf8_continues(text[cut]))
		cut--;
	digest_sha256(text, len, digest);
	json_put(line, "code", json_make_text(text, cut));
	json_put_int(line, "code_bytes", (json_int_t)len);
	json_put_str(line, "code_sha256", digest);
}

/* Returns the name of the largest member. */
static const char *find_largest(json_t *line)
{
	const char *largest = NULL;
	size_t most = 0;
	const char *name;
	json_t *value;

	json_object_foreach (line, name, value) {
		cleanup_free char *text = json_write_text(value);

		if (strlen(text) <= most || str_eq(name, "left_out"))
			continue;
		most = strlen(text);
		largest = name;
	}
	return largest;
}

/* Returns the line, shortened to the maximum of syslog servers. The caller frees it. */
static char *write_short(const json_t *whole)
{
	cleanup_json json_t *line = json_deep_copy(whole);
	json_t *left_out = json_array();
	char *text;

	cut_code(line);
	for (text = json_write_text(line); strlen(text) > AUDIT_SYSLOG_LINE;
	     text = json_write_text(line)) {
		const char *name = find_largest(line);

		json_append(left_out, json_make_str(name));
		(void)json_object_del(line, name);
		json_put(line, "left_out", json_incref(left_out));
		free(text);
	}
	json_decref(left_out);
	return text;
}

/* Appends the line in the form of syslog(3): RFC 3164 without a host. */
static void put_syslog(struct buf *out, const json_t *line)
{
	cleanup_free char *text = write_short(line);
	char stamp[STAMP_LEN];
	time_t now = time(NULL);
	struct tm tm;

	(void)strftime(stamp, sizeof(stamp), "%b %e %H:%M:%S", localtime_r(&now, &tm));
	buf_putf(out, "<%d>%s ptycell[%d]: %s", LOG_AUTHPRIV | LOG_INFO, stamp, (int)getpid(),
		 text);
}

/* ---- journald ---- */

static void put_member(struct buf *out, const char *field, const json_t *line, const char *member)
{
	const char *text = json_string_value(json_object_get(line, member));

	if (text != NULL && strchr(text, '\n') == NULL)
		buf_putf(out, "%s=%s\n", field, text);
}

static void put_journald(struct buf *out, const json_t *line)
{
	cleanup_free char *text = json_write_text(line);

	buf_putf(out, "PRIORITY=%d\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=ptycell\n", LOG_INFO,
		 LOG_FAC(LOG_AUTHPRIV));
	put_member(out, "PTYCELL_EVENT", line, "event");
	put_member(out, "PTYCELL_SESSION", line, "session_id");
	buf_putf(out, "MESSAGE=%s\n", text);
}

/* Sends an entry that is too large for a datagram as a sealed file. */
static int send_file(int fd, const struct buf *entry, struct err *err)
{
	cleanup_fd int file = memfd_create("ptycell-audit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct msghdr message = { .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };

	if (file < 0)
		return err_sys(err, "making a file in memory");
	if (fd_write_all(file, entry->data, entry->len, err) < 0)
		return -1;
	if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return err_sys(err, "sealing a file in memory");
	control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
					   .cmsg_type = SCM_RIGHTS,
					   .cmsg_len = CMSG_LEN(sizeof(int)) };
	memcpy(CMSG_DATA(&control.header), &file, sizeof(file));
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? err_sys(err, "sending") : 0;
}

int audit_socket_send(const char *target, const json_t *line, struct err *err)
{
	cleanup_fd int fd = open_socket(path_of(target), err);
	cleanup_buf struct buf entry = BUF_INIT(BUF_UNBOUNDED);

	if (fd < 0)
		return -1;
	if (is_syslog(target))
		put_syslog(&entry, line);
	else
		put_journald(&entry, line);
	if (send(fd, entry.data, entry.len, MSG_NOSIGNAL) >= 0)
		return 0;
	if (!is_syslog(target) && (errno == EMSGSIZE || errno == ENOBUFS) &&
	    send_file(fd, &entry, err) == 0)
		return 0;
	if (errno == EAGAIN)
		return err_set(err, ERR_TIMEOUT, "'%s' takes nothing", path_of(target));
	return err_sys(err, "sending to '%s'", path_of(target));
}
