// SPDX-License-Identifier: MIT
// The MCP Inspector's command line, in both eras. Each call is a server of its own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as support from './support.mjs';
import { runInspector, serverThatNamesItself } from './inspector.mjs';

const { python } = support;

// Runs one method against a fresh server; afterwards nothing of that server may be left.
async function inspect(era, method, ...args) {
    const server = support.serverInPrivateFolders();
    try {
        const { entry, readProcess } = serverThatNamesItself(server);
        const outcome = await runInspector(server.root, entry, '--protocol-era', era,
            '--method', method, ...args);
        await support.assertGone([readProcess()]);
        await support.assertNothingLeft(server.home);
        return outcome;
    } finally {
        server.cleanup();
    }
}

function callTool(era, name, args) {
    return inspect(era, 'tools/call', '--tool-name', name, '--tool-args-json',
        JSON.stringify(args));
}

for (const era of ['legacy', 'modern']) {
    describe(`Inspector 2.12, ${era}`, () => {
        test('lists tools whose schemas are portable (TL-1, TL-3, MR-2)', async () => {
            const { status, result } = await inspect(era, 'tools/list', '--strict');
            assert.equal(status, 0);
            const names = result.tools.map((tool) => tool.name);
            for (const name of support.CORE_TOOLS)
                assert.ok(names.includes(name), `${name} is not in ${names}`);
        });

        test('runs a cell and exits with 0', async () => {
            const { status, result } = await callTool(era, 'exec_code', python('one', '6 * 7'));
            assert.equal(status, 0);
            support.assertValue(result, '42');
        });

        test('exits with 5 when a cell raised (TC-3)', async () => {
            const { status, result } = await callTool(era, 'exec_code', python('two', '1 / 0'));
            assert.equal(status, 5);
            support.assertRaised(result, 'ZeroDivisionError');
        });

        test('receives a figure as a PNG image block', async () => {
            const { result } = await callTool(era, 'exec_code', python('three', support.PLOT));
            support.assertPlot(result);
        });

        test('receives structured content that equals the text (TL-7)', async () => {
            const { result } = await callTool(era, 'list_sessions', {});
            support.assertSameInBoth(result);
            assert.deepEqual(result.structuredContent.sessions, []);
        });

        test('lists the resources (RS-1, MR-2)', async () => {
            const { result } = await inspect(era, 'resources/list');
            const uris = result.resources.map((resource) => resource.uri);
            assert.ok(uris.includes('sessions://'), String(uris));
            assert.ok(uris.includes('ptycell://guide'), String(uris));
        });

        test('reads the guide and the empty list of sessions (RS-2, MR-2)', async () => {
            const guide = await inspect(era, 'resources/read', '--uri', 'ptycell://guide');
            assert.match(guide.result.contents[0].text, /session_id/);
            const sessions = await inspect(era, 'resources/read', '--uri', 'sessions://');
            assert.equal(sessions.result.contents[0].uri, 'sessions://');
        });
    });
}
