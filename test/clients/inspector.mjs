// SPDX-License-Identifier: MIT
// Runs the MCP Inspector's command line.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as support from './support.mjs';

const launcher = join(support.packages,
    '@modelcontextprotocol/inspector/clients/launcher/build/index.js');

// A config entry whose server first writes down who it is: the Inspector does not tell.
export function serverThatNamesItself({ root, command, args, env }) {
    const file = join(root, 'process');
    const script = 'cat "/proc/$$/stat" >"$0" && exec "$@"';
    return {
        entry: { command: '/bin/sh', args: ['-c', script, file, command, ...args], env },
        readProcess: () => support.parseProcess(readFileSync(file, 'utf8')),
    };
}

// Writes `config` (a whole file's content) into `folder` and runs one method on its server `name`.
export function runInspectorOn(folder, config, name, ...args) {
    const file = join(folder, 'mcp.json');
    writeFileSync(file, config);
    const argv = [launcher, '--cli', '--config', file, '--server', name, '--format', 'json',
        '--quiet', ...args];
    const env = { PATH: process.env.PATH, HOME: folder };
    return new Promise((resolve, reject) => {
        execFile(process.execPath, argv, { env, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
            const status = error ? error.code : 0;
            try {
                resolve({ status, stderr, result: JSON.parse(stdout).result });
            } catch {
                reject(new Error(`the Inspector ended with ${status}: ${stdout}${stderr}`));
            }
        });
    });
}

export function runInspector(folder, entry, ...args) {
    const config = JSON.stringify({ mcpServers: { ptycell: entry } });
    return runInspectorOn(folder, config, 'ptycell', ...args);
}
