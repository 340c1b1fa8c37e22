// SPDX-License-Identifier: MIT
// A host gives up on a request after 60 s, the official client's own limit. A cell that takes three
// times as long loses nothing: it is answered before, goes on, and its result is fetched afterwards.
// The short form has answers every 2 s; PTYCELL_FULL=1 has them as the server has by itself.
import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { clientInfo, serverInPrivateFolders } from './support.mjs';

const full = process.env.PTYCELL_FULL === '1';
const budget = full ? '45' : '2';
const UNFINISHED_ANSWERS = 4;

// Counts until somebody says that it is enough, however long that takes.
const CODE = `import os, time
open('here', 'w').close()
tick = 0
while not os.path.exists('enough'):
  print('tick', tick)
  tick += 1
  time.sleep(0.5)
kept = 42
f'{tick} ticks'`;

// Ends the cell, if it has begun, by a file in the folder that it works in.
function sayEnough(home) {
    const [here] = readdirSync(home, { recursive: true }).filter((path) => /(^|\/)here$/.test(path));
    if (here !== undefined)
        writeFileSync(join(home, here, '../enough'), '');
}

describe(`a host's limit, and answers every ${budget} s`, () => {
    test('a cell that is answered four times before its end loses nothing', async () => {
        const server = serverInPrivateFolders();
        const client = new Client(clientInfo);
        const env = { ...server.env, PTYCELL_CALL_BUDGET: budget };
        const call = async (tool, values) => {
            const result = await client.callTool({ name: tool,
                arguments: { session_id: 'long', language: 'python', ...values } });
            return result.content.map((block) => block.text).join('\n');
        };

        await client.connect(new StdioClientTransport({ ...server, env }));
        try {
            const answers = [await call('exec_code', { code: CODE })];
            while (/\[long#1 running /.test(answers.at(-1))) {
                if (answers.length >= UNFINISHED_ANSWERS)
                    sayEnough(server.home);
                answers.push(await call('interact', {}));
            }
            assert.ok(answers.length > UNFINISHED_ANSWERS, `${answers.length} answers`);
            assert.match(answers.at(-1), /'\d+ ticks'[\s\S]*\[long#1 done /);
            const ticks = Number(answers.at(-1).match(/'(\d+) ticks'/)[1]);
            const seen = [...answers.join('\n').matchAll(/^tick (\d+)$/gm)].map((match) => Number(match[1]));
            assert.deepEqual(seen, Array.from({ length: ticks }, (_, i) => i));
            assert.match(await call('exec_code', { code: 'kept' }), /^42$/m);
        } finally {
            await client.close();
            server.cleanup();
        }
    });
});
