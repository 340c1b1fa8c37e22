// SPDX-License-Identifier: MIT
// What models read of answers costs little, and has what they need: the cells of cells.mjs against their recording.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { conversations } from './cells.mjs';
import { compare, play, recorded, textOf } from './tokens.mjs';

const FEWER = 0.35;

let now;

before(async () => {
    now = await play();
});

test(`answers have ${100 * FEWER} % fewer tokens than those that were recorded`, () => {
    const rows = compare(recorded(), now);
    const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
    const after = sum('after') + sum('user');
    assert.ok(rows.length > 50);
    assert.ok(after <= (1 - FEWER) * sum('before'), `${after} of ${sum('before')} tokens`);
});

test('answers have what a model needs', () => {
    const missing = conversations.flatMap(({ name, steps }) => (now[name] ?? []).flatMap((blocks, i) =>
        steps[i].needs.filter((need) => !new RegExp(need).test(textOf(blocks)))
            .map((need) => `${name} ${i + 1}: ${need} in ${textOf(blocks)}`)));
    assert.deepEqual(missing, []);
});
