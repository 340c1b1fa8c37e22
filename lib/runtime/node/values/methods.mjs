// SPDX-License-Identifier: MIT
// methods.mjs - puts back, for a while, the methods that Node itself calls by name.

import { descriptorOf, push, tryDefine } from './own.mjs';

// The methods that Node calls by name while it shows a value or makes an error, and in its inspector: the code may have replaced them.
const METHODS = [];
for (const [object, names] of [[Array.prototype, ['push', 'pop', 'splice', 'includes', Symbol.iterator]],
  [Map.prototype, ['get', 'set', 'has']], [Set.prototype, ['has']], [String.prototype, ['startsWith']]]) {
  for (const name of names) METHODS.push({ object, name, method: object[name] });
}

let replaced = []; // what stood in their places

export function putMethodsBack() {
  for (let i = 0; i < METHODS.length; i++) {
    const { object, name, method } = METHODS[i];
    const own = descriptorOf(object, name);
    if (own !== undefined && own.value === method) continue;
    const there = tryDefine(object, name, { __proto__: null, value: method, writable: true, configurable: true, enumerable: false });
    if (there) push(replaced, { object, name, own });
  }
}

export function replaceMethodsAgain() {
  for (let i = 0; i < replaced.length; i++) {
    const { object, name, own } = replaced[i];
    if (own === undefined) delete object[name];
    else tryDefine(object, name, own);
  }
  if (replaced.length > 0) replaced = [];
}
