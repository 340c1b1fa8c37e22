// SPDX-License-Identifier: MIT
// text.mjs - shows a value as text, and cuts texts.

import { exec, floor, inspect, is, keys, slice } from './own.mjs';
import { inspectBriefly } from './handles.mjs';

const TEXT_LIMIT = 1000000; // characters of a text on its way to the server, which cuts what is shown

const SHOWN = { __proto__: null, depth: 4, maxArrayLength: 200, maxStringLength: TEXT_LIMIT, breakLength: 100 };
const SHOWN_NAMES = keys(SHOWN);
const usual = { __proto__: null, ...inspect.defaultOptions };

export function plainText(value) {
  return bounded(inspectBriefly(value, wishes() ?? SHOWN));
}

// Returns SHOWN with the defaults that the code has set for inspect(); undefined when it has set
// none.
function wishes() {
  const { defaultOptions } = inspect;
  let options;
  for (let i = 0; i < SHOWN_NAMES.length; i++) {
    const name = SHOWN_NAMES[i];
    if (is(defaultOptions[name], usual[name])) continue;
    if (options === undefined) options = { __proto__: null, ...SHOWN };
    options[name] = defaultOptions[name];
  }
  return options;
}

// Returns the text, or its beginning and how much is left out. The server always shows the end of
// what it gets.
export function bounded(text) {
  if (text.length <= TEXT_LIMIT) return text;
  return `${head(text, TEXT_LIMIT)}\n... [${text.length - TEXT_LIMIT} characters left out: console.log shows all]`;
}

// Returns the text, or its two ends if it is longer than `limit`.
export function shortened(text, limit) {
  if (text.length <= limit) return text;
  const tail = floor(limit / 3);
  const left = text.length - limit;
  return `${head(text, limit - tail)}\n... [${left} characters left out] ...\n${slice(text, -tail)}`;
}

// Returns the beginning of a text without half a surrogate pair at its end.
function head(text, length) {
  return exec(/[\ud800-\udbff]$/, slice(text, length - 1, length)) === null ? slice(text, 0, length) : slice(text, 0, length - 1);
}
