// SPDX-License-Identifier: MIT
// own.mjs - holds the builtins and the parts that the driver uses, as they are before user code
// runs.
//
// User code shares the process and may replace any global and any method of a prototype. So
// modules import from here and call no method by its name: `push(list, x)`, not `list.push(x)`.
// Nothing here may be loaded lazily.

export const fs = host.require('fs');
export const path = host.require('path');
export const util = host.require('util');
export const vm = host.require('vm');
export const v8 = host.require('v8');
export const Emitter = host.require('events');
export const Module = host.require('module');
const inspector = host.require('inspector');
export const { pathToFileURL, fileURLToPath, URL } = host.require('url');
export const syntax = host.load('syntax');
export const values = host.load('values');
export const output = host.load('output');
export const { descriptorOf } = values;
export const globals = globalThis; // a cell may declare that name
export const { byteLength } = Buffer;
export const { process, Number, BigInt, SyntaxError, TypeError, ReferenceError, Error } = globalThis;
export const { parse, stringify } = JSON;
export const { min, max } = Math;
const call = Function.prototype.call;
export const uncurry = (method) => call.bind(method);
export const { apply, defineProperty: replaceProperty, deleteProperty } = Reflect;
export const { captureStackTrace } = Error;
export const { Session } = inspector;
export const connectSession = uncurry(Session.prototype.connect);
export const disconnectSession = uncurry(Session.prototype.disconnect);
export const postMessage = uncurry(Session.prototype.post);
export const { stripTypeScriptTypes, syncBuiltinESMExports, _pathCache: pathCache } = Module;
export const { load: loadModule } = Module.prototype;
export const { createHook, executionAsyncResource, AsyncResource } = host.require('async_hooks');
export const { defineProperty, hasOwn, setPrototypeOf: withoutPrototype } = Object;
export const { getHeapStatistics } = v8;
export const { hrtime, cwd, cpuUsage, reallyExit, exit, _kill: kill, _fatalException: fatalException, _tickCallback: runQueued } = process;
export const describe = uncurry(Error.prototype.toString);
export const textOfFunction = uncurry(Function.prototype.toString);
export const { setTimeout, setInterval, clearInterval, clearTimeout } = globalThis;
export const { getActiveResourcesInfo, _getActiveHandles: getActiveHandles } = process;
export const exec = uncurry(RegExp.prototype.exec);
export const slice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const split = uncurry(String.prototype.split);
export const repeat = uncurry(String.prototype.repeat);
export const push = uncurry(Array.prototype.push);
export const shift = uncurry(Array.prototype.shift);
export const join = uncurry(Array.prototype.join);
export const includes = uncurry(Array.prototype.includes);
export const then = uncurry(Promise.prototype.then);
export const forEach = uncurry(Map.prototype.forEach);
export const remove = uncurry(Map.prototype.delete);
export const clear = uncurry(Map.prototype.clear);
export const { compareExchange, load, notify, store, wait } = Atomics;
export const { writeSync, readSync, statSync, readFileSync, writeFileSync, renameSync } = fs;
export const { openSync, closeSync, fstatSync, readlinkSync, realpathSync } = fs;
export const Bytes = Uint8Array;
const bytesPrototype = Object.getPrototypeOf(Uint8Array.prototype);
export const findByte = uncurry(bytesPrototype.indexOf);
export const part = uncurry(bytesPrototype.subarray);
export const copyInto = uncurry(bytesPrototype.set);
export const encoder = new TextEncoder();
export const encode = uncurry(TextEncoder.prototype.encode);
export const latin1 = uncurry(Buffer.prototype.latin1Slice);
export const utf8 = uncurry(Buffer.prototype.utf8Slice);
export const { inspect } = util;
export const soon = setImmediate;
export const { nextTick } = process;
export const on = uncurry(process.on);
export const listeners = uncurry(process.listeners);
export const removeListener = uncurry(process.removeListener);
export const JupyterDisplay = Symbol.for('Jupyter.display');
export const noop = () => {};
export const objectPrototype = Object.prototype;
export const tie = uncurry(WeakMap.prototype.set);
export const tiedTo = uncurry(WeakMap.prototype.get);
export const { _load: loadByName, isBuiltin } = Module;
