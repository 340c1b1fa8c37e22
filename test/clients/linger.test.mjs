// SPDX-License-Identifier: MIT
// The official clients of both generations come back to sessions that went on without a host (PTYCELL_LINGER).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client as ClientTwo } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportTwo } from '@modelcontextprotocol/client/stdio';
import * as support from './support.mjs';

const { python, textOf } = support;

function two(mode) {
    return () => [new ClientTwo(support.clientInfo, { versionNegotiation: { mode } }), TransportTwo];
}

const kinds = {
    'SDK 1.32': () => [new ClientOne(support.clientInfo), TransportOne],
    'client 2.4, legacy': two('legacy'),
    'client 2.4, auto': two('auto'),
    'client 2.4, pinned modern': two({ pin: '2026-07-28' }),
};

// Every kind comes first and second, and both eras follow themselves and each other.
const pairs = [
    ['SDK 1.32', 'SDK 1.32'],
    ['SDK 1.32', 'client 2.4, pinned modern'],
    ['client 2.4, legacy', 'client 2.4, auto'],
    ['client 2.4, auto', 'client 2.4, legacy'],
    ['client 2.4, pinned modern', 'client 2.4, pinned modern'],
    ['client 2.4, pinned modern', 'SDK 1.32'],
];

const ends = {
    'is closed': ({ client }) => client.close(),
    'loses its process': ({ transport }) => process.kill(transport.pid, 'SIGKILL'),
};

// Runs until a file is uploaded.
const CODE = `import os, time
print('begun', flush=True)
while not os.path.exists('input/go'):
    time.sleep(0.02)
kept += 1
print('late')`;

// A connected client, with the tokens of the progress that it is told of and what it takes for errors.
async function connect(kind, { command, args, env }) {
    const [client, Transport] = kinds[kind]();
    const transport = new Transport({ command, args, env });
    const peer = { client, transport, tokens: new Set(), errors: [] };
    peer.closed = new Promise((resolve) => { client.onclose = resolve; });
    client.onerror = (error) => peer.errors.push(error);
    await client.connect(transport);
    const receive = transport.onmessage;
    transport.onmessage = (message, ...rest) => {
        if (message.method === 'notifications/progress')
            peer.tokens.add(message.params.progressToken);
        receive(message, ...rest);
    };
    // The SDK's second parameter is a result schema.
    const schema = Transport === TransportOne ? [undefined] : [];
    peer.call = (name, values, { token, ...options } = {}) => client.callTool(
        { name, arguments: { session_id: 's', ...values }, ...token && { _meta: { progressToken: token } } },
        ...schema, { timeout: support.patienceMs, ...options });
    return peer;
}

function servers({ command, env }) {
    return JSON.parse(execFileSync(command, ['ps', '--json'], { env: { ...process.env, ...env } })).servers;
}

// Makes a variable and leaves while a cell runs, whose progress has a token that no client chooses by itself.
async function leave(first, server, end) {
    await first.call('exec_code', python('s', 'kept = 41'));
    const lost = assert.rejects(first.call('exec_code', python('s', CODE), { token: 'first' }));
    await support.until('progress of the first call', () => first.tokens.has('first'));
    const [{ pid }] = servers(server);
    await end(first);
    await first.closed;
    await lost;
    await support.until('a server without a host', () => servers(server).some((row) => 'lingers_seconds' in row));
    return pid;
}

// Is told of the cell, lets it end, and finds the variable.
async function goOn(second) {
    const { tools } = await second.client.listTools();
    assert.ok(tools.some(({ name }) => name === 'exec_code'));
    let cell;
    await new Promise((resolve) => {
        cell = second.call('interact', { language: 'python' }, { onprogress: resolve });
    });
    await second.call('upload_file', { filename: 'go', content: '' });
    const text = textOf(await cell);
    assert.match(text, /^begun\nlate\n[^]*\[s#2 done /m);
    support.assertValue(await second.call('exec_code', python('s', 'kept')), '42');
    assert.equal(second.tokens.size, 1, 'its own call, and nothing of the first client');
    assert.deepEqual(second.errors, []);
}

async function follow(before, after, end) {
    const folders = support.serverInPrivateFolders();
    const env = { ...folders.env, PTYCELL_LINGER: String(support.patienceMs / 1000), PTYCELL_SPARES: '0', PTYCELL_PRELOAD: 'off' };
    const server = { ...folders, env };
    const peers = [];
    try {
        peers.push(await connect(before, server));
        const pid = await leave(peers[0], server, end);
        peers.push(await connect(after, server));
        await goOn(peers[1]);
        assert.deepEqual(servers(server).map((row) => row.pid), [pid]);
        const processes = support.processTree(pid);
        await peers[1].call('destroy_session', {});
        await peers[1].client.close();
        await support.assertGone(processes);
        await support.assertNothingLeft(server.home);
    } finally {
        await Promise.all(peers.map(({ client }) => client.close()));
    }
    server.cleanup();
}

for (const [how, end] of Object.entries(ends))
    describe(`after a client that ${how}`, { concurrency: true }, () => {
        for (const [before, after] of pairs)
            test(`${before}: ${after}`, () => follow(before, after, end));
    });
