// SPDX-License-Identifier: MIT
// Each entry that `ptycell config HOST` prints is one that a host can start as it stands.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { isAbsolute } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { runInspectorOn } from './inspector.mjs';
import * as support from './support.mjs';

const run = promisify(execFile);

// The key under which each host looks for its servers.
const HOSTS = {
    'claude-desktop': 'mcpServers',
    'claude-code': 'mcpServers',
    vscode: 'servers',
    cursor: 'mcpServers',
    inspector: 'mcpServers',
};

async function printedConfig(host, home) {
    const { stdout } = await run(support.ptycell, ['config', host],
        { env: { PATH: process.env.PATH, HOME: home } });
    return stdout;
}

function onlyEntry(config, key) {
    const entries = Object.entries(config[key] ?? {});
    assert.equal(entries.length, 1, `one server under ${key}`);
    return entries[0];
}

// Hosts may start a server in / with next to no environment.
async function runCellAsHostWould(server, entry) {
    const client = new Client(support.clientInfo);
    const env = { ...entry.env, ...server.env };
    await client.connect(new StdioClientTransport({ ...entry, env, cwd: '/' }));
    try {
        return await client.callTool(
            { name: 'exec_code', arguments: support.python('host', '6 * 7') });
    } finally {
        await client.close();
    }
}

describe('ptycell config', () => {
    for (const [host, key] of Object.entries(HOSTS)) {
        test(`prints an entry for ${host} that a client parses and starts`, async () => {
            const server = support.serverInPrivateFolders();
            try {
                const config = JSON.parse(await printedConfig(host, server.root));
                const [, entry] = onlyEntry(config, key);
                assert.ok(isAbsolute(entry.command), entry.command);
                support.assertValue(await runCellAsHostWould(server, entry), '42');
            } finally {
                server.cleanup();
            }
        });
    }

    test('prints a file for the Inspector that it reads as it stands', async () => {
        const server = support.serverInPrivateFolders();
        try {
            const printed = await printedConfig('inspector', server.root);
            const [name] = onlyEntry(JSON.parse(printed), 'mcpServers');
            const { status } = await runInspectorOn(server.root, printed, name,
                '--method', 'tools/list');
            assert.equal(status, 0);
        } finally {
            server.cleanup();
        }
    });

    test('refuses a host that it does not know', async () => {
        const server = support.serverInPrivateFolders();
        try {
            await assert.rejects(printedConfig('no-such-host', server.root), (error) => {
                assert.match(error.stderr, /no-such-host/);
                assert.match(error.stderr, /claude-desktop/);
                return error.code > 0;
            });
        } finally {
            server.cleanup();
        }
    });
});
