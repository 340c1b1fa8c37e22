/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "journal/audit.h"
#include "journal/audit_socket.h"
#include "journal/digest.h"
#include "json/make.h"
#include "scratch.h"

enum { RECEIVED_MAX = 1 << 20 };

static struct scratch scratch;
static struct err err;
static char *target;
static int server = -1;
static char received[RECEIVED_MAX + 1];

static void listen_as(const char *prefix)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	cleanup_free char *path = xasprintf("%s/socket", scratch.path);

	free(target);
	target = xasprintf("%s%s", prefix, path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	server = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server, (const struct sockaddr *)&address, sizeof(address)), 0);
}

static int set_up(void **state)
{
	(void)state;
	scratch_init(&scratch);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fd_close(&server);
	mem_cleanup(&target);
	scratch_release(&scratch);
	return 0;
}

/* The next datagram, or what the file holds that came with it. */
static void receive(void)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec bytes = { .iov_base = received, .iov_len = RECEIVED_MAX };
	struct msghdr message = { .msg_iov = &bytes,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };
	ssize_t len = recvmsg(server, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	cleanup_fd int file = -1;

	assert_true(len >= 0);
	if (message.msg_controllen > 0) {
		memcpy(&file, CMSG_DATA(&control.header), sizeof(file));
		assert_int_equal(fcntl(file, F_GET_SEALS),
				 F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
		len = pread(file, received, RECEIVED_MAX, 0);
	}
	received[len] = '\0';
}

static int append(size_t code_len)
{
	cleanup_free char *code = xcalloc(1, code_len + 1);
	cleanup_json json_t *line = NULL;

	memset(code, 'x', code_len);
	line = json_pack("{s:i,s:s,s:s,s:s}", "v", 1, "session_id", "s", "event", "began", "code",
			 code);
	return audit_append(target, line, &err);
}

static void syslog_gets_a_line_as_its_function_sends_it(void **state)
{
	(void)state;
	listen_as("syslog:");
	assert_null(audit_refusal(target));
	assert_int_equal(append(2), 0);
	receive();
	assert_memory_equal(received, "<86>", 4);
	assert_non_null(strstr(received, " ptycell["));
	assert_non_null(strstr(
		received, "]: {\"v\":1,\"session_id\":\"s\",\"event\":\"began\",\"code\":\"xx\"}"));
}

static void syslog_gets_long_code_cut_with_its_digest(void **state)
{
	static char code[AUDIT_SYSLOG_CODE + 1000];
	char digest[DIGEST_LEN + 1];
	const char *at;

	(void)state;
	memset(code, 'x', sizeof(code));
	digest_sha256(code, sizeof(code), digest);
	listen_as("syslog:");
	assert_int_equal(append(sizeof(code)), 0);
	receive();
	at = strstr(received, "\"xxx");
	assert_non_null(at);
	assert_int_equal(strspn(at + 1, "x"), AUDIT_SYSLOG_CODE);
	assert_non_null(strstr(received, digest));
	assert_non_null(strstr(received, "\"code_bytes\":5096"));
}

static void syslog_gets_no_line_that_its_server_would_cut(void **state)
{
	static char long_text[AUDIT_SYSLOG_LINE + 1];
	cleanup_json json_t *line = NULL;

	(void)state;
	memset(long_text, 'y', AUDIT_SYSLOG_LINE);
	line = json_pack("{s:i,s:s,s:s}", "v", 1, "event", "typed", "input", long_text);
	listen_as("syslog:");
	assert_int_equal(audit_append(target, line, &err), 0);
	receive();
	assert_non_null(strstr(received, "{\"v\":1,\"event\":\"typed\",\"left_out\":[\"input\"]}"));
}

static void journald_gets_fields_and_the_whole_line(void **state)
{
	(void)state;
	listen_as("journald:");
	assert_null(audit_refusal(target));
	assert_int_equal(append(5000), 0);
	receive();
	assert_non_null(strstr(received, "SYSLOG_IDENTIFIER=ptycell\n"));
	assert_non_null(
		strstr(received, "PTYCELL_EVENT=began\nPTYCELL_SESSION=s\nMESSAGE={\"v\":1,"));
	assert_int_equal(strspn(strstr(received, "xxx"), "x"), 5000);
	assert_string_equal(received + strlen(received) - 3, "\"}\n");
}

static void journald_gets_a_sealed_file_where_a_datagram_is_too_small(void **state)
{
	(void)state;
	listen_as("journald:");
	assert_int_equal(append(900000), 0);
	receive();
	assert_int_equal(strspn(strstr(received, "xxx"), "x"), 900000);
}

static void a_log_without_a_server_is_refused(void **state)
{
	cleanup_free char *why = NULL;

	(void)state;
	listen_as("syslog:");
	fd_close(&server);
	why = audit_refusal(target);
	assert_non_null(strstr(why, "in the log of PTYCELL_AUDIT"));
	assert_non_null(strstr(why, "Connection refused"));
	assert_int_equal(append(1), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
}

static void a_log_that_takes_nothing_is_one_that_cannot_be_written(void **state)
{
	int rc = 0;

	(void)state;
	listen_as("journald:");
	for (int i = 0; rc == 0 && i < 100000; i++)
		rc = append(1);
	assert_int_equal(rc, -1);
	assert_int_equal(err.code, ERR_TIMEOUT);
	assert_non_null(strstr(err.msg, "takes nothing"));
	receive();
	assert_int_equal(append(1), 0);
}

#define SOCKET_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SOCKET_TEST(syslog_gets_a_line_as_its_function_sends_it),
		SOCKET_TEST(syslog_gets_long_code_cut_with_its_digest),
		SOCKET_TEST(syslog_gets_no_line_that_its_server_would_cut),
		SOCKET_TEST(journald_gets_fields_and_the_whole_line),
		SOCKET_TEST(journald_gets_a_sealed_file_where_a_datagram_is_too_small),
		SOCKET_TEST(a_log_without_a_server_is_refused),
		SOCKET_TEST(a_log_that_takes_nothing_is_one_that_cannot_be_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
