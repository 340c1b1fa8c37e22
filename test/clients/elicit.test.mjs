// SPDX-License-Identifier: MIT
// Real clients are asked for what code waits for, and answer: the legacy era by a request beside the
// call, the modern one by input_required and a second request, which the client sends by itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Client as ClientOne } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportOne } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientTwo } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportTwo } from '@modelcontextprotocol/client/stdio';
import { clientInfo, serverInPrivateFolders } from './support.mjs';

const capabilities = { elicitation: {} };

async function connectOne({ command, args, env }, answer) {
    const client = new ClientOne(clientInfo, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, answer);
    await client.connect(new TransportOne({ command, args, env }));
    return client;
}

function connectTwo(mode) {
    return async ({ command, args, env }, answer) => {
        const client = new ClientTwo(clientInfo, { capabilities, versionNegotiation: { mode } });
        client.setRequestHandler('elicitation/create', answer);
        await client.connect(new TransportTwo({ command, args, env }));
        return client;
    };
}

function describeAsked(name, connect) {
    describe(name, () => {
        let server;
        let client;
        let asked;
        let reply;

        before(async () => {
            server = serverInPrivateFolders();
            client = await connect(server, async (request) => {
                asked.push(request.params);
                return reply(asked.length);
            });
        });

        after(async () => {
            await client.close();
            server.cleanup();
        });

        async function call(tool, values) {
            const result = await client.callTool({ name: tool,
                arguments: { session_id: 'asks', ...values } });
            return result.content.map((block) => block.text).join('\n');
        }

        const run = (code) => call('exec_code', { language: 'python', code });

        test('the user is asked and the code has the answer (MI-1, MI-2, MI-7)', async () => {
            asked = [];
            reply = () => ({ action: 'accept', content: { answer: 'Eve' } });
            const text = await run("n = input('name? ')\n'hello ' + n");
            assert.match(text, /'hello Eve'/);
            assert.match(text, /\[asks#1 done /);
            assert.equal(asked.length, 1);
            assert.match(asked[0].message, /^Code that runs in session 'asks' asks for input: "name\?"/);
        });

        test('one cell may ask again (MI-4)', async () => {
            asked = [];
            reply = (n) => ({ action: 'accept', content: { answer: String(n) } });
            assert.match(await run("[input('a? '), input('b? ')]"), /\['1', '2'\]/);
            assert.equal(asked.length, 2);
        });

        test('a user who declines leaves the cell to the model (MI-6)', async () => {
            asked = [];
            reply = () => ({ action: 'decline' });
            assert.match(await run("input('sure? ')"), /waiting_for_input/);
            assert.match(await call('interact', { input: 'yes' }), /'yes'/);
            assert.equal(asked.length, 1);
        });

        test('nobody is asked for a password', async () => {
            asked = [];
            assert.match(await run('import getpass; getpass.getpass()'), /waits for a secret/);
            assert.match(await call('interact', { action: 'interrupt' }), /interrupted after /);
            assert.equal(asked.length, 0);
        });
    });
}

describeAsked('SDK 1.32 asks its user', connectOne);
describeAsked('client 2.4, legacy, asks its user', connectTwo('legacy'));
describeAsked('client 2.4, modern, asks its user', connectTwo({ pin: '2026-07-28' }));
