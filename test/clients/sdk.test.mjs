// SPDX-License-Identifier: MIT
// @modelcontextprotocol/sdk 1.x: the client inside most hosts of 2025; speaks 2025-11-25 only.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describeClient } from './behaviour.mjs';
import { clientInfo } from './support.mjs';

async function connect({ command, args, env }) {
    const client = new Client(clientInfo);
    const transport = new StdioClientTransport({ command, args, env });
    await client.connect(transport);
    // callTool's second parameter is a result schema; undefined means the usual one.
    return { client, transport, schemaArgument: [undefined] };
}

describeClient('SDK 1.32', {
    connect,
    unknownResource: -32002,
    more(peer) {
        test('shakes hands by initialize and names the server (ER-7)', () => {
            assert.equal(peer.client.getServerVersion().name, 'ptycell');
            assert.ok(peer.client.getServerCapabilities().tools);
            assert.ok(peer.client.getServerCapabilities().resources);
        });

        test('is told of a cell by a legacy subscription (RS-4)', async () => {
            const uri = 'session://watched/notebook';
            const told = new Promise((resolve) => {
                peer.client.setNotificationHandler(ResourceUpdatedNotificationSchema,
                    ({ params }) => params.uri === uri && resolve(params));
            });
            assert.equal(peer.client.getServerCapabilities().resources.subscribe, true);
            await peer.client.subscribeResource({ uri });
            await peer.call('exec_code', { session_id: 'watched', language: 'python', code: '6 * 7' });
            assert.equal((await told).uri, uri);
            const { contents } = await peer.client.readResource({ uri });
            assert.equal(JSON.parse(contents[0].text).cells[2].source, '6 * 7');
            await peer.client.unsubscribeResource({ uri });
        });

        test('answers ping (ER-8)', async () => {
            assert.deepEqual(await peer.client.ping(), {});
        });
    },
});
