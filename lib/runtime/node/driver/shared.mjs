// SPDX-License-Identifier: MIT
// shared.mjs - holds what the main thread, the guard's thread and V8's answers have in common.
//
// `shared[0]` says who runs: 0 is no user code, a positive number is that cell, HELD is code that must
// not be torn, and a negative number is a cell about which the guard asks. The guard changes it
// only by compareExchange. Code that V8 evaluates comes back through the global SECRET, since
// V8 passes no functions.

export const HELD = -0x80000000;
export const shared = new Int32Array(new SharedArrayBuffer(20)); // [running, cell that has begun to wait, answer, last cell, asked for]
export const ASKED = 0;
export const LATER = 1;
export const READY = 2;
export const REQUESTED = 3;
export const HANDLED = 4;
export const SECRET = 'ptyc\u00e9ll'; // the global by which code of V8's comes back here
export const LAUNCH = 0;
export const BOXED = 1;
export const GUARDED = 2;
export const SHOWN = 3;
export const comeBack = (what, value) => `${SECRET}(${what}, ${value})`;
