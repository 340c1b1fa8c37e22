// SPDX-License-Identifier: MIT
// conformance.mjs REVISION COMMAND [ARG...]: runs what the official suite requires of REVISION
// against the stdio server COMMAND. Exit status: 0 when nothing unexpected failed, 77 when there
// is no COMMAND, else 1.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBridge } from './bridge.mjs';
import { expectedFailures } from './expected-failures.mjs';

const suite = join(import.meta.dirname,
    'node_modules/@modelcontextprotocol/conformance/dist/index.js');

// Gives the suite's exit status and all it printed.
async function runSuite(url, revision, results) {
    const child = spawn(process.execPath, [suite, 'server', '--url', url, '--requirements', revision,
        '--output-dir', results], { cwd: results, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => { output += chunk; };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    const [status] = await once(child, 'close');
    return { status, output };
}

// What the suite leaves of a scenario that it could not run to its end.
const brokenOff = [{ id: 'scenario', status: 'FAILURE', description: 'broke off' }];

// The suite writes one folder a scenario: server-NAME-TIME/checks.json.
function readResults(results) {
    return readdirSync(results).map((folder) => {
        const file = join(results, folder, 'checks.json');
        return {
            name: folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, ''),
            checks: existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : brokenOff,
        };
    });
}

function failuresOf({ checks }) {
    return checks.filter((check) => check.status === 'FAILURE');
}

function describeFailure({ name, checks }) {
    return failuresOf({ checks }).map((check) =>
        `  ${name}: ${check.id}: ${check.errorMessage ?? check.description}`);
}

// What there is to say against the scenarios, a line each.
function complaintsAbout(scenarios) {
    const failed = scenarios.filter((scenario) => failuresOf(scenario).length > 0);
    const passed = scenarios.filter((scenario) => failuresOf(scenario).length === 0);
    return [
        ...failed.filter(({ name }) => !(name in expectedFailures)).flatMap(describeFailure),
        ...passed.filter(({ name }) => name in expectedFailures)
            .map(({ name }) => `  ${name}: passes; take it off the expected failures`),
    ];
}

function printSummary(revision, scenarios) {
    const count = (status) => scenarios.flatMap(({ checks }) => checks)
        .filter((check) => check.status === status).length;
    const excused = scenarios.filter((scenario) =>
        failuresOf(scenario).length > 0 && scenario.name in expectedFailures);
    console.log(`${revision}: ${scenarios.length} scenarios, ${count('SUCCESS')} checks passed, ` +
        `${count('FAILURE')} failed, ${count('WARNING')} warnings, ` +
        `${excused.length} scenarios expected to fail`);
}

async function main([revision, ...command]) {
    if (!command.length) {
        console.error('usage: conformance.mjs REVISION COMMAND [ARG...]');
        return 2;
    }
    if (command[0].includes('/') && !existsSync(command[0])) {
        console.log(`skipped: ${command[0]} is not built`);
        return 77;
    }
    const results = mkdtempSync(join(tmpdir(), 'ptycell-conformance-'));
    const bridge = await startBridge(command);
    try {
        const { status, output } = await runSuite(bridge.url, revision, results);
        const scenarios = readResults(results);
        const complaints = complaintsAbout(scenarios);
        const badEnds = await bridge.close();
        if (badEnds.length)
            complaints.push(`  the server did not exit with 0 at end of input: ${badEnds}`);
        printSummary(revision, scenarios);
        complaints.forEach((complaint) => console.log(complaint));
        if (status !== 0)
            console.log(`the suite ended with ${status}:\n${output.slice(-6000)}`);
        return complaints.length || status !== 0 || !scenarios.length ? 1 : 0;
    } finally {
        rmSync(results, { recursive: true, force: true });
    }
}

process.exit(await main(process.argv.slice(2)));
