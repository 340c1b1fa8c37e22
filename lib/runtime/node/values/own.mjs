// SPDX-License-Identifier: MIT
// own.mjs - holds the builtins that the modules here use, as they are before user code runs.

const util = host.require('util');
export const vm = host.require('vm');
export const Emitter = host.require('events');

export const { create, defineProperty, hasOwn, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, keys, is } = Object;
export const { isProxy, isUint8Array, isPromise, isNativeError, isMap, isSet, isArrayBuffer, isDataView,
  isModuleNamespaceObject } = util.types;
export const { defineProperty: tryDefine, ownKeys } = Reflect;
export const { isArray } = Array;
export const globals = globalThis; // a cell may declare that name
export const { floor } = Math;
export const { isView } = ArrayBuffer;
export const { inspect } = util;
export const encoder = new TextEncoder();
export const encode = Function.prototype.call.bind(TextEncoder.prototype.encode);
export const base64Write = Function.prototype.call.bind(Buffer.prototype.base64Write);
export const Bytes = Uint8Array;
const call = Function.prototype.call;
const uncurry = (method) => call.bind(method);
export const exec = uncurry(RegExp.prototype.exec);
export const replace = uncurry(String.prototype.replace);
export const slice = uncurry(String.prototype.slice);
export const trim = uncurry(String.prototype.trim);
export const trimEnd = uncurry(String.prototype.trimEnd);
export const lower = uncurry(String.prototype.toLowerCase);
export const split = uncurry(String.prototype.split);
export const symbolText = uncurry(Symbol.prototype.toString);
export const push = uncurry(Array.prototype.push);
export const join = uncurry(Array.prototype.join);
const getter = (object, name) => uncurry(getOwnPropertyDescriptor(object, name).get);
export const mapSize = getter(Map.prototype, 'size');
export const setSize = getter(Set.prototype, 'size');
export const subarray = uncurry(getPrototypeOf(Uint8Array.prototype).subarray);
export const viewBytes = getter(getPrototypeOf(Uint8Array.prototype), 'byteLength');
export const viewLength = getter(getPrototypeOf(Uint8Array.prototype), 'length');
export const bufferBytes = getter(ArrayBuffer.prototype, 'byteLength');
export const OwnMap = Map;
export const OwnRangeError = RangeError;
export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapEach = uncurry(Map.prototype.forEach);
export const OwnWeakRef = WeakRef;
export const deref = uncurry(WeakRef.prototype.deref);
export const OwnWeakSet = WeakSet;
export const weakAdd = uncurry(WeakSet.prototype.add);
export const weakHas = uncurry(WeakSet.prototype.has);
export const listPrototype = Array.prototype;
export const objectPrototype = Object.prototype;
export const emitterPrototype = Emitter.prototype;
export const stringify = JSON.stringify;
export const display = Symbol.for('Jupyter.display');

// Returns the descriptor of a property with no prototype: the code may have given all objects `get`
// or `value`.
export function descriptorOf(object, name) {
  const found = getOwnPropertyDescriptor(object, name);
  return found === undefined ? undefined : setPrototypeOf(found, null);
}
