// SPDX-License-Identifier: MIT
// LangChain's MCP adapter: a MultiServerMCPClient starts each server once and holds it until
// close(), so state lasts as long as the client object does.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import * as support from './support.mjs';

const { python } = support;

function langchainClient({ command, args, env }, extraEnv = {}) {
    return new MultiServerMCPClient({
        mcpServers: {
            ptycell: { transport: 'stdio', command, args, env: { ...env, ...extraEnv } },
        },
    });
}

// Calls a tool as an agent does and returns the ToolMessage.
async function invoke(client, name, args, config) {
    const tool = (await client.getTools()).find((candidate) => candidate.name === name);
    return tool.invoke({ type: 'tool_call', id: 'call-1', name, args }, config);
}

// A message's blocks. The adapter gives a lone text as a string, and packs one that has structured
// content or _meta beside it into a string of JSON.
function blocksOf({ content }) {
    if (typeof content !== 'string')
        return content;
    if (content.startsWith('{"type":"text"'))
        return [JSON.parse(content)];
    return [{ type: 'text', text: content }];
}

function textsOf(message) {
    return blocksOf(message).filter((block) => block.type === 'text').map((block) => block.text);
}

function linesOf(message) {
    return textsOf(message).flatMap((text) => text.split('\n'));
}

function serverProcesses() {
    return support.processTree(process.pid).filter((entry) => entry.parent === process.pid);
}

describe('LangChain, one client held', () => {
    const server = support.serverInPrivateFolders();
    let client;

    before(() => {
        client = langchainClient(server);
    });
    after(async () => {
        await client.close();
        server.cleanup();
    });

    test('loads the core tools (TL-1, TL-5)', async () => {
        const names = (await client.getTools()).map((tool) => tool.name);
        for (const name of support.CORE_TOOLS)
            assert.ok(names.includes(name), `${name} is not in ${names}`);
    });

    test('keeps variables between two tool calls, on one server', async () => {
        await invoke(client, 'exec_code', python('held', 'kept = 41'));
        const answer = await invoke(client, 'exec_code', python('held', 'kept + 1'));
        assert.ok(linesOf(answer).includes('42'), JSON.stringify(answer.content));
        assert.equal(serverProcesses().length, 1);
    });

    test('throws the traceback of a cell that raised (TC-3, TC-4)', async () => {
        await assert.rejects(invoke(client, 'exec_code', python('held', '1 / 0')),
            /ZeroDivisionError/);
    });

    test('gives the model a figure as a PNG image', async () => {
        const answer = await invoke(client, 'exec_code', python('held', support.PLOT));
        const images = blocksOf(answer).filter((block) => block.type === 'image_url');
        assert.equal(images.length, 1);
        const [head, base64] = images[0].image_url.url.split(',');
        assert.equal(head, 'data:image/png;base64');
        support.assertPng(base64);
    });

    test('describes a session in text and in the structured artifact (TL-7)', async () => {
        await invoke(client, 'exec_code', python('held', '1'));
        const answer = await invoke(client, 'session_info', { session_id: 'held' });
        const structured = answer.artifact.find((item) => item.type === 'mcp_structured_content');
        assert.equal(structured.data.session_id, 'held');
        assert.match(textsOf(answer)[0], /^session: held, idle\n/);
    });

    test('lists sessions until they are destroyed', async () => {
        await invoke(client, 'exec_code', python('doomed', '1'));
        const listed = await invoke(client, 'list_sessions', {});
        assert.match(textsOf(listed).join(), /"doomed"/);
        await invoke(client, 'destroy_session', { session_id: 'doomed' });
        const rest = await invoke(client, 'list_sessions', {});
        assert.doesNotMatch(textsOf(rest).join(), /"doomed"/);
    });

    test('reads the resources sessions:// and ptycell://guide (RS-2)', async () => {
        await invoke(client, 'exec_code', python('held', '1'));
        const [sessions] = await client.readResource('ptycell', 'sessions://');
        assert.match(sessions.text, /\bheld\b/);
        const [guide] = await client.readResource('ptycell', 'ptycell://guide');
        assert.match(guide.text, /session_id/);
    });

    test('stops an endless cell on abort and keeps its variables (CN-1, CN-3)', async () => {
        await invoke(client, 'exec_code', python('endless', 'kept = 6'));
        const state = async () => {
            const [listed] = textsOf(await invoke(client, 'list_sessions', {}));
            const { sessions } = JSON.parse(listed);
            return sessions.find((entry) => entry.session_id === 'endless').state;
        };
        const atRest = await state();
        const abort = new AbortController();
        const rejected = assert.rejects(invoke(client, 'exec_code',
            python('endless', 'while True: pass'), { signal: abort.signal }));
        await support.until('the cell to run', async () => await state() !== atRest);
        abort.abort();
        await rejected;
        const answer = await invoke(client, 'exec_code', python('endless', 'kept * 7'));
        assert.ok(linesOf(answer).includes('42'), JSON.stringify(answer.content));
    });
});

// Hands a client of a server of its own to `use`, closes it, and sees that nothing is left.
async function withClient(extraEnv, use) {
    const server = support.serverInPrivateFolders();
    const client = langchainClient(server, extraEnv);
    let processes = [];
    let value;
    try {
        value = await use(client);
        processes = serverProcesses().flatMap(({ pid }) => support.processTree(pid));
    } finally {
        await client.close();
    }
    await support.assertGone(processes);
    await support.assertNothingLeft(server.home);
    server.cleanup();
    return value;
}

describe('LangChain, a client of its own', () => {
    test('is a new server each time, with nothing kept', async () => {
        const run = (code) => withClient({}, async (client) => {
            const answer = await invoke(client, 'exec_code', python('same', code));
            return { lines: linesOf(answer), pid: serverProcesses()[0].pid };
        });
        const first = await run('kept = 41; kept');
        const second = await run('"kept" in globals()');
        assert.ok(first.lines.includes('41'), first.lines.join('\n'));
        assert.ok(second.lines.includes('False'), second.lines.join('\n'));
        assert.notEqual(first.pid, second.pid);
    });

    test('leaves no process and no session folder after close (SD-1)', async () => {
        await withClient({}, async (client) => {
            await invoke(client, 'exec_code', python('last', '1'));
            assert.ok(support.processTree(serverProcesses()[0].pid).length > 1);
        });
    });

    test('gets a raised cell as data, not as an exception, with PTYCELL_RESULTS=json', async () => {
        await withClient({ PTYCELL_RESULTS: 'json' }, async (client) => {
            const answer = await invoke(client, 'exec_code', python('data', '1 / 0'));
            const record = JSON.parse(textsOf(answer)[0]);
            assert.equal(record.session_id, 'data');
            assert.equal(record.status, 'error');
            assert.match(record.error, /ZeroDivisionError/);
        });
    });
});

test('the snippet of the topic holds one server', async () => {
    const topic = readFileSync(new URL('../../cmd/server/help/frameworks.md', import.meta.url), 'utf8');
    const [, snippet] = topic.match(/```js\nimport .*\n([^]*?)```/);
    const AsyncFunction = (async () => {}).constructor;
    const run = new AsyncFunction('MultiServerMCPClient', `${snippet}; return { client, tools };`);
    const server = support.serverInPrivateFolders();
    const { PATH, HOME } = process.env;
    Object.assign(process.env, { HOME: server.root, PATH: dirname(server.command) + delimiter + PATH });
    let held;
    try {
        held = await run(MultiServerMCPClient);
        const exec = held.tools.find((tool) => tool.name === 'exec_code');
        await exec.invoke(python('held', 'kept = 41'));
        assert.match(JSON.stringify(await exec.invoke(python('held', 'kept + 1'))), /42/);
        assert.equal(serverProcesses().length, 1);
    } finally {
        await held?.client.close();
        Object.assign(process.env, { PATH, HOME });
        server.cleanup();
    }
});
