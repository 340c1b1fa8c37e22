/* SPDX-License-Identifier: MIT */
/*
 * hosts.c - the hosts as a table. Most read JSON with the entries in a member. Codex CLI reads TOML
 * and Goose YAML, which `ptycell config` prints and does not change.
 */
#include "hosts.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/paths.h"

static const struct host hosts[] = {
	{ "claude-desktop", "Claude Desktop", "mcpServers", "Claude/claude_desktop_config.json",
	  "On Windows the file is %APPDATA%\\Claude\\claude_desktop_config.json (there use --wsl), on a Mac "
	  "~/Library/Application Support/Claude/claude_desktop_config.json (there use --ssh). Then "
	  "quit Claude Desktop and start it again.",
	  NULL, NULL, HOST_CONFIG, HOST_JSON },
	{ "claude-code", "Claude Code", "mcpServers", ".mcp.json",
	  "That is for one project, started in its folder. For all of yours instead: claude mcp add "
	  "--scope user ptycell --",
	  "type", "stdio", HOST_PROJECT, HOST_JSON },
	{ "vscode", "VS Code", "servers", ".vscode/mcp.json",
	  "That is for one workspace; for all of yours use the command \"MCP: Open User "
	  "Configuration\". Then start it from the code lens above the entry.",
	  "type", "stdio", HOST_PROJECT, HOST_JSON },
	{ "cursor", "Cursor", "mcpServers", ".cursor/mcp.json",
	  "A project's own is .cursor/mcp.json in its folder. Then enable it in Cursor's settings "
	  "under MCP.",
	  NULL, NULL, HOST_HOME, HOST_JSON },
	{ "windsurf", "Windsurf", "mcpServers", ".codeium/windsurf/mcp_config.json",
	  "Then refresh the list of MCP servers in Cascade.", NULL, NULL, HOST_HOME, HOST_JSON },
	{ "zed", "Zed", "context_servers", "zed/settings.json",
	  "Where that file has comments, add the entry yourself. Zed starts it at once.", "source",
	  "custom", HOST_CONFIG, HOST_JSON },
	{ "codex", "Codex CLI", "mcp_servers", ".codex/config.toml",
	  "Or let Codex write it: codex mcp add ptycell --", NULL, NULL, HOST_HOME, HOST_TOML },
	{ "gemini", "Gemini CLI", "mcpServers", ".gemini/settings.json",
	  "A project's own is .gemini/settings.json in its folder. /mcp then lists the tools.",
	  NULL, NULL, HOST_HOME, HOST_JSON },
	{ "goose", "Goose", "extensions", "goose/config.yaml",
	  "Put the lines below `extensions:` if that is there already; goose configure asks for "
	  "the same.",
	  NULL, NULL, HOST_CONFIG, HOST_YAML },
	{ "lm-studio", "LM Studio", "mcpServers", ".lmstudio/mcp.json",
	  "In LM Studio: Program, Install, Edit mcp.json.", NULL, NULL, HOST_HOME, HOST_JSON },
	{ "cline", "Cline in VS Code", "mcpServers",
	  "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
	  "In Cline: MCP Servers, Configure.", NULL, NULL, HOST_CONFIG, HOST_JSON },
	{ "inspector", "the MCP Inspector", "mcpServers", NULL,
	  "Save it as mcp.json, then: npx @modelcontextprotocol/inspector --config mcp.json --server "
	  "ptycell. Without a file: npx @modelcontextprotocol/inspector",
	  "type", "stdio", HOST_NO_FILE, HOST_JSON },
	{ "json", "any other host", "mcpServers", NULL,
	  "Most hosts take this form; the host's documentation names the file.", NULL, NULL,
	  HOST_NO_FILE, HOST_JSON },
};

const struct host *hosts_at(size_t index)
{
	return index < ARRAY_SIZE(hosts) ? &hosts[index] : NULL;
}

const struct host *hosts_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++) {
		if (str_eq(hosts[i].name, name))
			return &hosts[i];
	}
	return NULL;
}

char *hosts_file(const struct host *host)
{
	const char *config = paths_getenv(environ, "XDG_CONFIG_HOME");
	cleanup_free char *home = paths_user_home(environ, geteuid());

	switch (host->place) {
	case HOST_CONFIG:
		if (config && config[0] == '/')
			return xasprintf("%s/%s", config, host->file);
		return home ? xasprintf("%s/.config/%s", home, host->file) : NULL;
	case HOST_HOME:
		return home ? xasprintf("%s/%s", home, host->file) : NULL;
	case HOST_PROJECT:
		return xstrdup(host->file);
	case HOST_NO_FILE:
		break;
	}
	return NULL;
}
