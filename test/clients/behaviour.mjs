// SPDX-License-Identifier: MIT
// The tests that every connected client must pass, whatever it speaks. A client test file hands
// over `connect(server)`, which gives { client, transport } of the MCP SDKs' common shape.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as support from './support.mjs';

const { python, textOf } = support;

function assertUsableTool(tool) {
    assert.match(tool.name, /^[a-z_]{1,40}$/);
    assert.ok(tool.description, `${tool.name} has no description`);
    assert.equal(tool.inputSchema.type, 'object');
    // Hosts drop the pictures of an answer that has structured content.
    assert.equal(tool.outputSchema === undefined, ['exec_code', 'interact'].includes(tool.name), tool.name);
}

function describeLists(peer) {
    test('lists the core tools with names that every host takes (TL-1, TL-2)', async () => {
        const { tools } = await peer.client.listTools();
        const names = tools.map((tool) => tool.name);
        for (const name of support.CORE_TOOLS)
            assert.ok(names.includes(name), `${name} is not in ${names}`);
        tools.forEach(assertUsableTool);
    });

    test('lists and reads the resources sessions:// and ptycell://guide (RS-1, RS-2)', async () => {
        await peer.call('exec_code', python('listed', '1'));
        const { resources } = await peer.client.listResources();
        const uris = resources.map((resource) => resource.uri);
        assert.ok(uris.includes('sessions://'), String(uris));
        assert.ok(uris.includes('ptycell://guide'), String(uris));

        const sessions = await peer.client.readResource({ uri: 'sessions://' });
        assert.match(sessions.contents[0].text, /\blisted\b/);
        const guide = await peer.client.readResource({ uri: 'ptycell://guide' });
        assert.match(guide.contents[0].text, /session_id/);
    });

    test('answers an unknown resource with an error that names it (RS-2)', async () => {
        await assert.rejects(peer.client.readResource({ uri: 'ptycell://nowhere' }), (error) => {
            assert.equal(error.code, peer.unknownResource);
            assert.equal(error.data?.uri, 'ptycell://nowhere');
            return true;
        });
    });

    test('answers an unknown tool with the error -32602 (TC-1)', async () => {
        await assert.rejects(peer.call('no_such_tool', {}), (error) => {
            assert.equal(error.code, -32602);
            return true;
        });
    });
}

function describeCells(peer) {
    test('keeps variables between two calls', async () => {
        await peer.call('exec_code', python('state', 'kept = 41'));
        support.assertValue(await peer.call('exec_code', python('state', 'kept + 1')), '42');
    });

    test('keeps two sessions apart', async () => {
        await peer.call('exec_code', python('left', 'side = 1'));
        support.assertRaised(await peer.call('exec_code', python('right', 'side')), 'NameError');
    });

    test('marks a cell that raised as an error and shows its traceback (TC-3, TC-4)', async () => {
        support.assertRaised(await peer.call('exec_code', python('raising', '1 / 0')),
            'ZeroDivisionError');
    });

    test('returns a figure as one PNG image block (TC-4)', async () => {
        support.assertPlot(await peer.call('exec_code', python('figure', support.PLOT)));
    });

    test('names the argument that is missing in a tool error (TC-3)', async () => {
        const result = await peer.call('exec_code', { session_id: 'lacking', language: 'python' });
        assert.equal(result.isError, true);
        assert.match(textOf(result), /\bcode\b/);
    });
}

function describeSessions(peer) {
    test('describes a session in structured content and in text (TL-7)', async () => {
        await peer.call('exec_code', python('described', '1'));
        const result = await peer.call('session_info', { session_id: 'described' });
        assert.match(textOf(result), /^session: described, /m);
        assert.equal(result.structuredContent.session_id, 'described');
        for (const key of support.SESSION_INFO_KEYS)
            assert.ok(key in result.structuredContent, `${key} is missing`);
    });

    test('lists sessions until they are destroyed', async () => {
        await peer.call('exec_code', python('doomed', '1'));
        assert.ok((await peer.sessions()).has('doomed'));
        const destroyed = await peer.call('destroy_session', { session_id: 'doomed' });
        assert.ok(!destroyed.isError, textOf(destroyed));
        assert.ok(!(await peer.sessions()).has('doomed'));
    });

    test('refuses to destroy a session that does not exist (TC-5)', async () => {
        const result = await peer.call('destroy_session', { session_id: 'never-made' });
        assert.equal(result.isError, true);
        assert.match(textOf(result), /never-made/);
    });
}

function describeCancellation(peer) {
    test('stops an endless cell on cancel and keeps its variables (CN-1, CN-3)', async () => {
        await peer.call('exec_code', python('endless', 'kept = 6'));
        const atRest = (await peer.sessions()).get('endless').state;
        const abort = new AbortController();
        const cell = peer.call('exec_code', python('endless', 'while True: pass'),
            { signal: abort.signal });
        const rejected = assert.rejects(cell);
        await support.until('the cell to run',
            async () => (await peer.sessions()).get('endless').state !== atRest);
        abort.abort();
        await rejected;
        support.assertValue(await peer.call('exec_code', python('endless', 'kept * 7')), '42');
    });

    test('answers other sessions while a cell runs', async () => {
        const abort = new AbortController();
        const cell = peer.call('exec_code', python('busy', 'while True: pass'),
            { signal: abort.signal });
        const rejected = assert.rejects(cell);
        support.assertValue(await peer.call('exec_code', python('free', '6 * 7')), '42');
        abort.abort();
        await rejected;
    });
}

// Connects to a server of its own, runs one cell, then `use(client)`, closes, and sees that nothing
// is left.
async function closeAfter(connect, use) {
    const server = support.serverInPrivateFolders();
    const { client, transport } = await connect(server);
    let processes;
    try {
        support.assertValue(await client.callTool(
            { name: 'exec_code', arguments: python('last', '6 * 7') }), '42');
        processes = support.processTree(transport.pid);
        assert.ok(processes.length > 1, 'an interpreter runs');
        await use(client);
    } finally {
        await client.close();
    }
    await support.assertGone(processes);
    await support.assertNothingLeft(server.home);
    server.cleanup();
}

function describeEnd(connect) {
    test('leaves no process and no session folder after close (SD-1)', async () => {
        await closeAfter(connect, () => {});
    });

    test('leaves nothing when it is closed while a cell runs (SD-1)', async () => {
        let rejected;
        await closeAfter(connect, (client) => {
            rejected = assert.rejects(client.callTool(
                { name: 'exec_code', arguments: python('last', 'while True: pass') }));
        });
        await rejected;
    });
}

// Registers the whole suite under `name`. `unknownResource` is the error code that this client
// reports for one; `more(peer)` adds tests of its own on the same connection.
export function describeClient(name, { connect, unknownResource, more }) {
    describe(name, () => {
        const server = support.serverInPrivateFolders();
        const peer = { unknownResource };

        peer.call = (tool, args, options) =>
            peer.client.callTool({ name: tool, arguments: args }, ...peer.schemaArgument,
                { timeout: support.patienceMs, ...options });
        peer.sessions = async () => {
            const { structuredContent } = await peer.call('list_sessions', {});
            return new Map(structuredContent.sessions.map((entry) => [entry.session_id, entry]));
        };
        before(async () => {
            Object.assign(peer, { schemaArgument: [] }, await connect(server));
        });
        after(async () => {
            await peer.client?.close();
            server.cleanup();
        });

        describeLists(peer);
        describeCells(peer);
        describeSessions(peer);
        describeCancellation(peer);
        more?.(peer);
        describeEnd(connect);
    });
}
