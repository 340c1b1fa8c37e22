/* SPDX-License-Identifier: MIT */
/*
 * pipconf.h - what of the person's pip configuration says where packages come from.
 *
 * pip itself is not run for it. Read are, later ones winning: /etc/xdg/pip/pip.conf, /etc/pip.conf,
 * the person's pip.conf (~/.pip, ${XDG_CONFIG_HOME:-~/.config}/pip), that of VIRTUAL_ENV, that of
 * PIP_CONFIG_FILE; then PIP_NAME variables. Where PIP_CONFIG_FILE names a file that exists, the
 * person's are not read; where it is /dev/null, no file is. In files [install] goes before
 * [global]. Sources: pip's user guide, "Configuration"; pip/_internal/configuration.py,
 * iter_config_files.
 * Files that sessions can change are passed over (install/trusted_config.h).
 */
#ifndef INSTALL_PIPCONF_H
#define INSTALL_PIPCONF_H

#include <jansson.h>
#include <stddef.h>

struct shares;

/*
 * An object of strings, perhaps empty, with these of pip's options: index-url, extra-index-url,
 * find-links, no-index, trusted-host, cert. `shares` may be NULL.
 */
json_t *pipconf_read(char *const *environment, const struct shares *shares);
/* Adds what a file's text says to `sections`, {"global": {...}, "install": {...}}. */
void pipconf_parse(json_t *sections, const char *text, size_t len);

#endif
