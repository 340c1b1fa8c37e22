// SPDX-License-Identifier: MIT
// run.mjs FILE...: node's test runner on these files (all, when none is named), 77 when there is
// no ptycell to test.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ptycell } from './support.mjs';

if (!existsSync(ptycell)) {
    console.log(`skipped: ${ptycell} is not built`);
    process.exit(77);
}
// Of one test, with all that it waits for. With PTYCELL_FULL=1 some take the time that hosts take.
const limit = 600_000;
const { status } = spawnSync(process.execPath,
    ['--test', '--test-reporter=spec', `--test-timeout=${limit}`, ...process.argv.slice(2)],
    { stdio: 'inherit' });
process.exit(status ?? 1);
