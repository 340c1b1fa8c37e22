// SPDX-License-Identifier: MIT
// own.mjs - holds the builtins that the modules here use, as they are before user code runs.

export const exec = Function.prototype.call.bind(RegExp.prototype.exec);
export const charCode = Function.prototype.call.bind(String.prototype.charCodeAt);
export const slice = Function.prototype.call.bind(String.prototype.slice);
export const indexOf = Function.prototype.call.bind(String.prototype.indexOf);
export const repeat = Function.prototype.call.bind(String.prototype.repeat);
export const push = Function.prototype.call.bind(Array.prototype.push);
export const pop = Function.prototype.call.bind(Array.prototype.pop);
export const join = Function.prototype.call.bind(Array.prototype.join);
export const insert = Function.prototype.call.bind(Array.prototype.splice);
export const stringify = JSON.stringify;
export const { max } = Math;
export const { defineProperty } = Object;
