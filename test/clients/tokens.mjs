// SPDX-License-Identifier: MIT
// tokens.mjs [--record FILE]: plays the cells of cells.mjs on ptycell and counts the tokens of what a model reads of the
// answers, beside those of the recording in test/data/answers. With --record it writes a recording.
//
// Counted are all blocks of text, and links as JSON, by the tokenizer o200k_base of js-tiktoken. A block whose
// annotations name only the user as its audience is none that a model reads; its tokens are told apart.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { conversations } from './cells.mjs';
import { clientInfo, patienceMs, serverInPrivateFolders } from './support.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const before = join(here, '../data/answers/before.json');
const tokenizer = new Tiktoken(o200k);

function isHere(program) {
    return program === undefined || spawnSync(program, ['--version']).status === 0;
}

// The blocks of an answer without the data of its pictures.
function blocksOf(content) {
    return content.map((block) => (block.type === 'image' ? { type: 'image' } : block));
}

export function textOf(blocks) {
    return blocks.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
}

// The answers of all conversations that can be held here: {name: [[block...], ...]}.
export async function play() {
    const { command, args, env, cleanup } = serverInPrivateFolders();
    const client = new Client(clientInfo);
    const answers = {};
    await client.connect(new StdioClientTransport({ command, args, env }));
    try {
        for (const { name, steps, program } of conversations) {
            if (!isHere(program))
                continue;
            answers[name] = [];
            for (const { tool, args: given } of steps) {
                const call = { name: tool, arguments: tool === 'list_sessions' ? {} : { session_id: name, ...given } };
                const result = await client.callTool(call, undefined, { timeout: patienceMs });
                answers[name].push(blocksOf(result.content));
            }
        }
    } finally {
        await client.close();
        cleanup();
    }
    return answers;
}

function tokensOf(block) {
    if (block.type === 'text')
        return tokenizer.encode(block.text).length;
    return block.type === 'resource_link' ? tokenizer.encode(JSON.stringify(block)).length : 0;
}

function isForUser(block) {
    const audience = block.annotations?.audience;
    return audience !== undefined && !audience.includes('assistant');
}

// The tokens of one answer: those that the model reads, and those for the user alone.
export function count(blocks) {
    const sum = (some) => some.reduce((total, block) => total + tokensOf(block), 0);
    return { model: sum(blocks.filter((block) => !isForUser(block))), user: sum(blocks.filter(isForUser)) };
}

export function recorded() {
    return JSON.parse(readFileSync(before, 'utf8'));
}

// Rows of {name, step, before, after, user}, of the steps that both have.
export function compare(old, now) {
    return conversations.flatMap(({ name, steps }) => (now[name] ?? []).map((blocks, i) => {
        const { model, user } = count(blocks);
        return { name, step: steps[i], before: count(old[name][i]).model, after: model, user };
    }));
}

function print(rows) {
    const line = (...cells) => console.log(cells.map((cell, i) => String(cell)[i > 2 ? 'padEnd' : 'padStart'](7)).join(' '));
    line('before', 'after', 'user', ' step');
    for (const row of rows)
        line(row.before, row.after, row.user, ` ${row.name}: ${row.step.args.code?.split('\n').at(-1) ?? row.step.tool}`);
    const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
    line(sum('before'), sum('after'), sum('user'), ` all: ${(100 * (1 - sum('after') / sum('before'))).toFixed(1)} % fewer`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const now = await play();
    if (process.argv[2] === '--record')
        writeFileSync(process.argv[3] ?? before, `${JSON.stringify(now, null, 1)}\n`);
    else
        print(compare(recorded(), now));
}
