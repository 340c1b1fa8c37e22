// SPDX-License-Identifier: MIT
// types.mjs - describes a value in a word, a size and a preview, and asks it for nothing.

import { bufferBytes, descriptorOf, exec, getPrototypeOf, inspect, isArray, isArrayBuffer, isDataView, isMap,
  isProxy, isSet, isView, keys, listPrototype, mapSize, objectPrototype, setSize, slice, viewBytes, viewLength } from './own.mjs';

const PREVIEW_LIMIT = 200;
const ITEMS_LOOKED_AT = 1000;

// Returns the class's name without asking the value: a constructor may be a getter.
export function typeName(value) {
  if (value === null) return 'null';
  if (typeof value === 'function') {
    if (isProxy(value)) return 'Proxy';
    const prototype = descriptorOf(value, 'prototype');
    return prototype !== undefined && prototype.writable === false ? 'class' : 'function';
  }
  if (typeof value !== 'object') return typeof value;
  if (isProxy(value)) return 'Proxy';
  for (let at = value, depth = 0; at !== null && depth < 10; at = getPrototypeOf(at), depth++) {
    if (isProxy(at)) break;
    const found = descriptorOf(at, 'constructor');
    if (found === undefined) continue;
    const name = typeof found.value === 'function' && !isProxy(found.value) ?
      descriptorOf(found.value, 'name') : undefined;
    if (name === undefined || typeof name.value !== 'string') break;
    const word = exec(/^[\w$]{1,80}/, name.value);
    return word === null ? 'Object' : word[0];
  }
  return 'Object';
}

export function shapeOf(value) {
  if (typeof value === 'string') return `${value.length}`;
  if (value === null || typeof value !== 'object' || isProxy(value)) return '';
  if (isArray(value)) return `${value.length}`;
  if (isMap(value)) return `${mapSize(value)}`;
  if (isSet(value)) return `${setSize(value)}`;
  return isView(value) && !isDataView(value) ? `${viewLength(value)}` : '';
}

export function bytesOf(value) {
  if (typeof value === 'string') return `${value.length}`;
  if (value === null || typeof value !== 'object' || isProxy(value)) return '';
  if (isView(value) && !isDataView(value)) return `${viewBytes(value)}`;
  return isArrayBuffer(value) ? `${bufferBytes(value)}` : '';
}

export function isPlain(value) {
  return value === null || (typeof value !== 'object' && typeof value !== 'function');
}

// Returns a preview of plain values, and of lists and objects of nothing but those; '' for other
// values.
export function preview(value) {
  if (typeof value === 'string') return slice(inspect(slice(value, 0, PREVIEW_LIMIT)), 0, PREVIEW_LIMIT);
  if (isPlain(value)) return slice(inspect(value), 0, PREVIEW_LIMIT);
  if (typeof value !== 'object' || isProxy(value)) return '';
  const prototype = getPrototypeOf(value);
  const isList = isArray(value) && prototype === listPrototype;
  if (!isList && prototype !== objectPrototype && prototype !== null) return '';
  if (isList && value.length > ITEMS_LOOKED_AT) return '';
  const names = keys(value);
  if (names.length > ITEMS_LOOKED_AT) return '';
  for (let i = 0; i < names.length; i++) {
    const property = descriptorOf(value, names[i]);
    if (!('value' in property) || !isPlain(property.value)) return '';
  }
  const options = { __proto__: null, customInspect: false, breakLength: Infinity, compact: true, maxStringLength: PREVIEW_LIMIT };
  return slice(inspect(value, options), 0, PREVIEW_LIMIT);
}
