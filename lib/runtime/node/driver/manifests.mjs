// SPDX-License-Identifier: MIT
// manifests.mjs - says when a package.json of the session has changed that Node goes by.
//
// Node reads each once, and keeps as well that there is none. The cache of Node 20 is emptied
// (loader.mjs), that of a later one is out of reach. Only what decides about modules is compared: npm
// writes the rest all the time.

import { exec, parse, path, readFileSync, statSync, stringify } from './own.mjs';
import { say } from './display.mjs';
import { anchor, isOfPackage } from './workspace.mjs';

const INDEX = /^(?:\.\/)?index(?:\.js)?$/; // the file of a folder that names none

const manifests = { __proto__: null }; // file -> {stamp, held, last}: what Node has read, and what it says now

// Returns a text of the time and the size of a file; '' when there is none.
export function fingerprint(file) {
  const stat = statSync(file, { __proto__: null, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
}

// Returns what decides about modules, as one text. A missing file says the same as an empty one.
function meaningOf(file) {
  let said = {};
  try {
    said = parse(readFileSync(file, 'utf8')) ?? {};
  } catch {
    // There is none, or none that Node could read.
  }
  const { name, main, type, imports, exports } = said;
  return stringify([type === 'commonjs' ? undefined : type, exec(INDEX, `${main}`) === null ? main : undefined, imports,
    exports === undefined ? undefined : [name, exports]]);
}

// Notes each package.json that decides about this file.
export function noteManifests(file) {
  for (let folder = path.dirname(file); ; folder = path.dirname(folder)) {
    const manifest = path.join(folder, 'package.json');
    if (manifests[manifest] !== undefined) return;
    const held = meaningOf(manifest);
    manifests[manifest] = { __proto__: null, stamp: fingerprint(manifest), held, last: held };
    if (manifests[manifest].stamp !== '' || folder === path.dirname(folder)) return; // Node looks no further
  }
}

export function lookAtManifests() {
  noteManifests(anchor);
  for (const file in manifests) {
    const manifest = manifests[file];
    const stamp = isOfPackage(file) ? manifest.stamp : fingerprint(file);
    if (stamp === manifest.stamp) continue;
    manifest.stamp = stamp;
    lookAtMeaning(file, manifest);
  }
}

function lookAtMeaning(file, manifest) {
  const meaning = meaningOf(file);
  if (meaning !== manifest.held && meaning !== manifest.last) {
    say(`[${file} has changed, but this Node keeps what it has read there: start a new interpreter (interact with action terminate)]`);
  }
  manifest.last = meaning;
}
