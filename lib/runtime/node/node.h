/* SPDX-License-Identifier: MIT */
/* node.h - the language descriptor of JavaScript: Node.js 18 and later. */
#ifndef RUNTIME_NODE_NODE_H
#define RUNTIME_NODE_NODE_H

struct language;

/* Returns the descriptor. Static. */
const struct language *node_language(void);

#endif
