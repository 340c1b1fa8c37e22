// SPDX-License-Identifier: MIT
// constants.mjs - keeps the names that are constants for the cells.
//
// The cell's `const` becomes `let`, so that a later cell may declare the name again. An
// assignment to such a name is rewritten to one to CONSTANT, which throws what V8 would throw;
// see guardConstants() of syntax.

import { syntax, TypeError } from './own.mjs';

export const constants = { __proto__: null }; // names that are constants for the cells
let someConstants = false;

export function guardConstants(text) {
  return syntax.concernsConstants(text, someConstants) ? syntax.guardConstants(text, constants) : { text, own: undefined, bound: undefined };
}

export function noteConstants({ own, bound }) {
  if (own === undefined) return;
  for (const name in bound) if (bound[name] === 'top') delete constants[name];
  for (const name in own) {
    if (bound[name] !== 'top') constants[name] = someConstants = true;
  }
}

export function assignToConstant() {
  throw new TypeError('Assignment to constant variable.');
}

// Makes what CONSTANT is where it is read: an object whose value cannot be assigned.
export const constantOf = (held) => ({ __proto__: null, get value() { return held; }, set value(_) { assignToConstant(); } });

constantOf[Symbol.toPrimitive] = assignToConstant;
