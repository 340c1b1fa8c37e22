// SPDX-License-Identifier: MIT
// A host gives up on a request after 60 s, the official client's own limit. A cell that takes three
// times as long loses nothing: it is answered before, goes on, and its result is fetched afterwards.
// The short form scales all three times down; PTYCELL_FULL=1 takes them as they are.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { clientInfo, serverInPrivateFolders } from './support.mjs';

const full = process.env.PTYCELL_FULL === '1';
const forms = full ? [{ name: '60 s and three minutes', ticks: 180, options: undefined, budget: undefined }]
    : [{ name: '4 s and nine', ticks: 9, options: { timeout: 4000 }, budget: '2' }];

for (const { name, ticks, options, budget } of forms) {
    describe(`a host's limit: ${name}`, () => {
        test('a cell three times as long loses nothing', { timeout: 300_000 }, async () => {
            const server = serverInPrivateFolders();
            const client = new Client(clientInfo);
            const env = budget ? { ...server.env, PTYCELL_CALL_BUDGET: budget } : server.env;
            const call = async (tool, values) => {
                const result = await client.callTool({ name: tool,
                    arguments: { session_id: 'long', language: 'python', ...values } }, undefined, options);
                return result.content.map((block) => block.text).join('\n');
            };

            await client.connect(new StdioClientTransport({ ...server, env }));
            try {
                const answers = [await call('exec_code', { code: 'import time\n'
                    + `for i in range(${ticks}):\n  print('tick', i)\n  time.sleep(1)\nkept = 42\n'the end'` })];
                while (/\[long#1 running /.test(answers.at(-1)))
                    answers.push(await call('interact', {}));
                assert.match(answers.at(-1), /'the end'[\s\S]*\[long#1 done /);
                assert.ok(answers.length >= 4, `${answers.length} answers`);
                const seen = [...answers.join('\n').matchAll(/^tick (\d+)$/gm)].map((match) => Number(match[1]));
                assert.deepEqual(seen, Array.from({ length: ticks }, (_, i) => i));
                assert.match(await call('exec_code', { code: 'kept' }), /^42$/m);
            } finally {
                await client.close();
                server.cleanup();
            }
        });
    });
}
