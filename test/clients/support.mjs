// SPDX-License-Identifier: MIT
// What every client test needs: the server under test in a place of its own, the processes it
// leaves behind, and readers for its results.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const build = process.env.PTYCELL_BUILD ?? join(here, '../../build/dev');

// How long a test waits for what must come: only what hangs takes so long, on however busy a machine.
export const patienceMs = 100_000;

export const clientInfo = { name: 'ptycell-test', version: '1.0.0' };
export const packages = join(here, 'node_modules');
export const ptycell = resolve(build, 'ptycell');

// The Python for sessions: Debian's, for which the packages of the tests are installed.
const python3 = process.env.PTYCELL_PYTHON ?? '/usr/bin/python3';

// A server's command with folders of its own, so that tests neither meet each other's sessions
// nor write into the home of whoever runs them. `cleanup` removes the folders.
export function serverInPrivateFolders() {
    const root = mkdtempSync(join(tmpdir(), 'ptycell-client-'));
    const home = join(root, 'home');
    return {
        command: ptycell,
        args: [],
        env: {
            PTYCELL_HOME: home,
            PTYCELL_KEEP: join(root, 'keep'),
            PTYCELL_RESUME: 'off',
            PTYCELL_PYTHON: python3,
            PTYCELL_CALL_BUDGET: String(patienceMs / 1000),
        },
        root,
        home,
        // Programs that the server left at work may still remove what is below.
        cleanup: () => rmSync(root, { recursive: true, force: true, maxRetries: 100, retryDelay: 20 }),
    };
}

// Waits until `condition` gives something truthy and returns that. Failure names `what`.
export async function until(what, condition) {
    const deadline = Date.now() + patienceMs;
    for (;;) {
        const value = await condition();
        if (value)
            return value;
        if (Date.now() > deadline)
            throw new Error(`never came: ${what}`);
        await delay(20);
    }
}

// Reads a line of /proc/PID/stat. The start time tells a process from a later one with its number.
export function parseProcess(stat) {
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = fields;
    return { pid: parseInt(stat, 10), state, parent: Number(parent), started: fields[19] };
}

function processNow(pid) {
    try {
        return parseProcess(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
        return null;
    }
}

// The process `pid` and all its descendants, as they are now.
export function processTree(pid) {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
        .map((name) => processNow(Number(name))).filter(Boolean);
    const tree = all.filter((process) => process.pid === pid);
    for (const parent of tree)
        tree.push(...all.filter((process) => process.parent === parent.pid));
    return tree;
}

function isAlive(process) {
    const now = processNow(process.pid);
    return now !== null && now.started === process.started && now.state !== 'Z';
}

// SD-1: what was running when the client closed must be gone soon after.
export async function assertGone(processes) {
    assert.ok(processes.length > 0, 'no process was seen while the server ran');
    await until(`the end of processes ${processes.map((process) => process.pid).join(' ')}`,
        () => !processes.some(isAlive));
}

// Design: once the server has ended, its folder holds no session. What was large is removed by a
// program that it leaves at work.
export async function assertNothingLeft(home) {
    await until(`nothing left in ${home}`, () => !existsSync(home) || readdirSync(home).length === 0);
}

export function textOf(result) {
    return result.content.filter((block) => block.type === 'text')
        .map((block) => block.text).join('\n');
}

// The last value of a cell stands on a line of its own.
export function assertValue(result, value) {
    assert.ok(!result.isError, textOf(result));
    assert.ok(textOf(result).split('\n').includes(value),
        `wanted the line ${value} in: ${textOf(result)}`);
}

export function assertRaised(result, exception) {
    assert.equal(result.isError, true);
    assert.match(textOf(result), new RegExp(`^${exception}\\b`, 'm'));
}

const PNG_MAGIC = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

// Hosts pass the type on unchecked and a wrong one ruins the conversation, so look at the bytes.
export function assertPng(base64) {
    assert.deepEqual(Buffer.from(base64, 'base64').subarray(0, PNG_MAGIC.length), PNG_MAGIC);
}

export function assertPlot(result) {
    assert.ok(!result.isError, textOf(result));
    const images = result.content.filter((block) => block.type === 'image');
    assert.equal(images.length, 1);
    assert.equal(images[0].mimeType, 'image/png');
    assertPng(images[0].data);
    assert.equal(result.structuredContent, undefined, 'hosts hide images beside it');
}

// TL-7: a host shows the model either the object or the text, so both must say the same.
export function assertSameInBoth(result) {
    assert.ok(!result.isError, textOf(result));
    assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent);
}

export const SESSION_INFO_KEYS = ['session_id', 'generation', 'state', 'workdir', 'input_dir',
    'output_dir', 'keep_dir', 'languages', 'databases', 'effective_config', 'confinement'];

export const CORE_TOOLS = ['destroy_session', 'exec_code', 'list_artifacts', 'list_sessions',
    'session_info', 'upload_file'];

export const PLOT = `import matplotlib.pyplot as plt
plt.plot([1, 4, 9])
plt.show()`;

export function python(session, code) {
    return { session_id: session, language: 'python', code };
}
