// SPDX-License-Identifier: MIT
// packages.mjs - has packages installed for a cell that asks for `npm install`, and notes loaded
// versions.
//
// The session has no network. The server brings what comes from the registry and answers with an
// `installed` frame; the shell runs lines that do more. A package that is loaded already
// keeps its version, and the user reads so.

import { exec, join, parse, push, readFileSync, split, values } from './own.mjs';
import { cell, finish, orFail, runCode } from './cells.mjs';
import { send } from './channel.mjs';
import { say } from './display.mjs';
import { PACKAGES } from './workspace.mjs';

// Installs what the cell asks for, then runs the rest of its code.
export function installFirst({ packages, commands, rest }) {
  cell.code = rest;
  for (let i = 0; i < commands.length; i++) {
    const done = host.require('child_process').spawnSync('/bin/sh', ['-c', commands[i]], { __proto__: null, stdio: 'inherit' });
    if (done.status !== 0) {
      notInstalled(`The command failed: ${commands[i]}`);
      return;
    }
  }
  if (packages.length === 0) {
    runCode();
    return;
  }
  const names = join(packages, '\n');
  if (names.length > values.LIST_MAX) {
    notInstalled(`The names of all these packages have ${names.length} characters: ask for fewer at once.`);
    return;
  }
  cell.asks = true;
  say(`Asking ptycell to install ${join(packages, ' ')}.`);
  send('install', cell.id, [['language', 'javascript'], ['packages', names]]);
}

function notInstalled(text) {
  cell.outcome = [['status', 'error'], ['ename', 'InstallError'], ['evalue', text], ['traceback', `${text}\n`]];
  finish();
}

export function packagesCame({ id, parts }) {
  if (cell === null || cell.id !== id || !cell.asks || cell.ended) return;
  cell.asks = false;
  if (parts.ok !== '1') {
    notInstalled(parts.text);
    return;
  }
  say(parts.text);
  say(join(olderLoaded(parts.packages), '\n'));
  orFail(runCode);
}

const loadedAs = { __proto__: null }; // package -> its version when a cell loaded it first; '' is none of ours

export function notePackage(specifier) {
  const found = exec(/^(?:@[^/]+\/)?[^/@:]+/, specifier);
  if (found === null || loadedAs[found[0]] !== undefined) return;
  loadedAs[found[0]] = '';
  try {
    loadedAs[found[0]] = `${parse(readFileSync(`${PACKAGES}/${found[0]}/package.json`, 'utf8')).version}`;
  } catch {
    // Node's own, or the session's.
  }
}

// Returns a sentence for each of these packages (lines of NAME, VERSION, MODULE) of which another
// version is loaded.
export function olderLoaded(packages) {
  const told = [];
  const lines = split(packages, '\n');
  for (let i = 0; i < lines.length; i++) {
    const row = split(lines[i], '\t');
    const have = loadedAs[row[2]];
    if (have === undefined || have === '' || have === row[1]) continue;
    push(told, `${row[2]} is loaded already in version ${have}: this interpreter goes on with that, and a new one (interact with action terminate) loads ${row[1]}.`);
  }
  return told;
}
