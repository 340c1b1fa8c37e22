// SPDX-License-Identifier: MIT
// @modelcontextprotocol/client 2.x in its three ways of choosing a protocol era.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describeClient } from './behaviour.mjs';
import { clientInfo } from './support.mjs';

const MODERN = '2026-07-28';

function connectWith(mode) {
    return async ({ command, args, env }) => {
        const client = new Client(clientInfo, { versionNegotiation: { mode } });
        const transport = new StdioClientTransport({ command, args, env });
        await client.connect(transport);
        return { client, transport };
    };
}

function negotiates(era, version, rules) {
    return (peer) => {
        test(`negotiates ${version} (${rules})`, () => {
            assert.equal(peer.client.getNegotiatedProtocolVersion(), version);
            assert.equal(peer.client.getProtocolEra(), era);
        });
    };
}

// The client opens a stream for a filter; notices come to the handlers that legacy ones do.
function listens(peer) {
    negotiates('modern', MODERN, 'MR-1, MR-2, SD-5')(peer);
    test('is told of a cell on a listen stream (SB-2, SB-3, SB-5)', async () => {
        const uri = 'session://watched/notebook';
        const told = new Promise((resolve) => {
            peer.client.setNotificationHandler('notifications/resources/updated',
                ({ params }) => params.uri === uri && resolve(params));
        });
        const stream = await peer.client.listen({ resourceSubscriptions: [uri] });
        await peer.call('exec_code', { session_id: 'watched', language: 'python', code: '6 * 7' });
        assert.equal((await told).uri, uri);
        await stream.close();
        const { contents } = await peer.client.readResource({ uri });
        assert.equal(JSON.parse(contents[0].text).cells[2].source, '6 * 7');
    });
}

// This client turns the -32002 of the legacy era into the modern code before it throws.
const unknownResource = -32602;

describeClient('client 2.4, legacy', {
    connect: connectWith('legacy'),
    unknownResource,
    more: negotiates('legacy', '2025-11-25', 'ER-7'),
});

// A malformed answer to the probe makes the client fall back silently, so the era is the proof.
describeClient('client 2.4, auto', {
    connect: connectWith('auto'),
    unknownResource,
    more: negotiates('modern', MODERN, 'MR-1, MR-2, SD-5'),
});

describeClient('client 2.4, pinned modern', {
    connect: connectWith({ pin: MODERN }),
    unknownResource,
    more: listens,
});
