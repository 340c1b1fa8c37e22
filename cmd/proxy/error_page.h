/* SPDX-License-Identifier: MIT */
/*
 * refuse.h - answers of the proxy itself: one plain sentence for the model, in the first line,
 * where programs show it, and in the body.
 */
#ifndef PROXY_ERROR_PAGE_H
#define PROXY_ERROR_PAGE_H

#include "base/buf.h"
#include "net/host.h"
#include "net/verdict.h"

/* `detail` is a clause of ours, or NULL; `to` NULL when the request named no host. */
void error_page_write(struct buf *out, enum verdict verdict, const struct host_port *to,
		      const char *detail);
/* The same within a tunnel to a client that speaks TLS: a fatal alert "unrecognized_name". */
void error_page_write_alert(struct buf *out);

#endif
