/* SPDX-License-Identifier: MIT */
/*
 * error_page.h - responses of the proxy itself: one plain sentence for the model.
 *
 * The sentence is in the status line, which programs print, and in the body.
 */
#ifndef PROXY_ERROR_PAGE_H
#define PROXY_ERROR_PAGE_H

#include "base/buf.h"
#include "net/host.h"
#include "net/verdict.h"

/*
 * Appends the response. `detail` is a clause of our own and may be NULL. `to` is NULL when the
 * request named no host.
 */
void error_page_write(struct buf *out, enum verdict verdict, const struct host_port *to,
		      const char *detail);
/* Appends a fatal TLS alert "unrecognized_name", for a refusal within a tunnel. */
void error_page_write_alert(struct buf *out);

#endif
