// SPDX-License-Identifier: MIT
// values.cjs - values as text and MIME bundles, and the names that cells make.
//
// What a name holds is looked at without running anything of the user's: no getter, no proxy trap,
// no custom inspect. A value that is shown may run its own code; then it is as if the cell did.
'use strict';

const util = host.require('util');
const vm = host.require('vm');

const { getOwnPropertyDescriptor, getPrototypeOf, keys, is } = Object;
const { isProxy, isUint8Array, isPromise, isNativeError, isMap, isSet, isArrayBuffer, isDataView,
  isModuleNamespaceObject } = util.types;
const { isArray } = Array;
const { floor } = Math;
const { isView } = ArrayBuffer;
const { inspect } = util;
const encoder = new TextEncoder();
const encode = Function.prototype.call.bind(TextEncoder.prototype.encode);
const base64Write = Function.prototype.call.bind(Buffer.prototype.base64Write);
const Bytes = Uint8Array;
const call = Function.prototype.call;
const uncurry = (method) => call.bind(method);
const exec = uncurry(RegExp.prototype.exec);
const replace = uncurry(String.prototype.replace);
const slice = uncurry(String.prototype.slice);
const trim = uncurry(String.prototype.trim);
const split = uncurry(String.prototype.split);
const push = uncurry(Array.prototype.push);
const join = uncurry(Array.prototype.join);
const getter = (object, name) => uncurry(getOwnPropertyDescriptor(object, name).get);
const mapSize = getter(Map.prototype, 'size');
const setSize = getter(Set.prototype, 'size');
const subarray = uncurry(getPrototypeOf(Uint8Array.prototype).subarray);
const viewBytes = getter(getPrototypeOf(Uint8Array.prototype), 'byteLength');
const viewLength = getter(getPrototypeOf(Uint8Array.prototype), 'length');
const bufferBytes = getter(ArrayBuffer.prototype, 'byteLength');
const OwnMap = Map;
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapDelete = uncurry(Map.prototype.delete);
const mapEach = uncurry(Map.prototype.forEach);
const OwnWeakRef = WeakRef;
const deref = uncurry(WeakRef.prototype.deref);
const OwnWeakSet = WeakSet;
const weakAdd = uncurry(WeakSet.prototype.add);
const weakHas = uncurry(WeakSet.prototype.has);
const listPrototype = Array.prototype;
const objectPrototype = Object.prototype;
const stringify = JSON.stringify;
const display = Symbol.for('Jupyter.display');

const VALUE_LIMIT = 20000; // characters of a value's text form
const PREVIEW_LIMIT = 200;
const NAMES_KEPT = 20;
const ITEMS_LOOKED_AT = 1000;

// ---- values as text ---------------------------------------------------------------------------

function plainText(value) {
  if (typeof value === 'string' && value.length > VALUE_LIMIT) {
    const half = VALUE_LIMIT / 4;
    return `${inspect(slice(value, 0, half))} ... ${inspect(slice(value, -half))} (string, length ${value.length})`;
  }
  const options = { depth: 4, maxArrayLength: 200, maxStringLength: VALUE_LIMIT, breakLength: 100 };
  return bounded(`${inspect(value, options)}`, VALUE_LIMIT);
}

function bounded(text, limit) {
  if (text.length <= limit) return text;
  const head = floor(limit * 2 / 3);
  const tail = floor(limit / 3);
  const left = text.length - head - tail;
  return `${slice(text, 0, head)}\n... [${left} characters left out] ...\n${slice(text, -tail)}`;
}

// The words of a page, a line a block: enough for a model to know what it shows.
function textOfHtml(html) {
  let text = slice(html, 0, 20 * VALUE_LIMIT);
  text = replace(text, /<(script|style)\b[^]*?<\/\1\s*>|<!--[^]*?-->/gi, '');
  text = replace(text, /<\/t[dh]>/gi, '\t');
  text = replace(text, /<(br|\/p|\/div|\/tr|\/li|\/h[1-6]|\/table|\/ul|\/ol|\/pre)\b[^>]*>/gi, '\n');
  text = replace(text, /<[^>]*>/g, '');
  text = replace(text, /&lt;/g, '<');
  text = replace(text, /&gt;/g, '>');
  text = replace(text, /&quot;/g, '"');
  text = replace(text, /&nbsp;/g, ' ');
  text = replace(text, /&amp;/g, '&');
  const lines = split(text, '\n');
  const kept = [];
  for (let i = 0; i < lines.length; i++) if (trim(lines[i]) !== '') push(kept, trim(lines[i]));
  return join(kept, '\n');
}

// ---- values as MIME bundles -------------------------------------------------------------------

// The value's own bundle, or a promise of it, or undefined. Runs the user's code.
function ownBundle(value) {
  if (value === null || typeof value !== 'object' || isProxy(value)) return undefined;
  if (isUint8Array(value)) {
    const type = imageType(value);
    return type === undefined ? undefined : { [type]: value };
  }
  if (typeof value[display] === 'function') return value[display]();
  if (typeof value.toDataURL === 'function') {
    if (typeof value.toBufferSync === 'function') return { 'image/png': value.toBufferSync('png') };
    if (typeof value.toBuffer === 'function') {
      const data = value.toBuffer('image/png');
      return isPromise(data) ? data.then((bytes) => ({ 'image/png': bytes })) : { 'image/png': data };
    }
  }
  return undefined;
}

function imageType(bytes) {
  if (bytes[0] === 0x89 && bytes[1] === 0x50 && bytes[2] === 0x4e && bytes[3] === 0x47) return 'image/png';
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg';
  return undefined;
}

const MIME = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/;

// A bundle as parts of a frame, [[type, data], ...]; `save(bytes, ending)` keeps a picture as a
// file and returns its name. text/plain is always there.
function partsOf(bundle, value, save) {
  const parts = [];
  let text;
  const types = keys(bundle);
  for (let i = 0; i < types.length; i++) {
    const type = types[i];
    const data = bundle[type];
    if (data === undefined || data === null || type.length > 64 || exec(MIME, type) === null) continue;
    if (type === 'text/plain') text = bounded(`${data}`, VALUE_LIMIT);
    else if (type === 'image/png' || type === 'image/jpeg') addImage(parts, type, data, save);
    else push(parts, [type, dataOf(data)]);
  }
  if (text === undefined) text = textFor(bundle, value, save);
  push(parts, ['text/plain', text]);
  return parts;
}

function dataOf(data) {
  if (typeof data === 'string' || isUint8Array(data)) return data;
  const text = stringify(data);
  return text === undefined ? plainText(data) : text;
}

function bytesOfBase64(text) {
  const bytes = new Bytes(floor(text.length * 3 / 4));
  return subarray(bytes, 0, base64Write(bytes, text, 0, bytes.length));
}

function addImage(parts, type, data, save) {
  const bytes = typeof data === 'string' ? bytesOfBase64(data) : isUint8Array(data) ? data : undefined;
  if (bytes === undefined || bytes.length === 0) return;
  const name = save(bytes, type === 'image/png' ? 'png' : 'jpg');
  if (name === null) return;
  push(parts, [type, bytes]);
  if (name !== undefined) push(parts, ['file', name]);
}

function textFor(bundle, value, save) {
  if (typeof bundle['text/markdown'] === 'string') return bounded(bundle['text/markdown'], VALUE_LIMIT);
  if (typeof bundle['image/svg+xml'] === 'string') {
    const name = save(encode(encoder, bundle['image/svg+xml']), 'svg');
    return name ? `[drawing: output/${name}]` : '[a drawing as SVG]';
  }
  if (typeof bundle['text/html'] === 'string') return bounded(textOfHtml(bundle['text/html']), VALUE_LIMIT);
  return plainText(value);
}

// ---- names ------------------------------------------------------------------------------------

// The class's name without asking the value: a constructor may be a getter.
function typeName(value) {
  if (value === null) return 'null';
  if (typeof value === 'function') {
    if (isProxy(value)) return 'Proxy';
    const prototype = getOwnPropertyDescriptor(value, 'prototype');
    return prototype !== undefined && prototype.writable === false ? 'class' : 'function';
  }
  if (typeof value !== 'object') return typeof value;
  if (isProxy(value)) return 'Proxy';
  for (let at = value, depth = 0; at !== null && depth < 10; at = getPrototypeOf(at), depth++) {
    if (isProxy(at)) break;
    const found = getOwnPropertyDescriptor(at, 'constructor');
    if (found === undefined) continue;
    const name = typeof found.value === 'function' && !isProxy(found.value) ?
      getOwnPropertyDescriptor(found.value, 'name') : undefined;
    if (name === undefined || typeof name.value !== 'string') break;
    const word = exec(/^[\w$]{1,80}/, name.value);
    return word === null ? 'Object' : word[0];
  }
  return 'Object';
}

function shapeOf(value) {
  if (typeof value === 'string') return `${value.length}`;
  if (value === null || typeof value !== 'object' || isProxy(value)) return '';
  if (isArray(value)) return `${value.length}`;
  if (isMap(value)) return `${mapSize(value)}`;
  if (isSet(value)) return `${setSize(value)}`;
  return isView(value) && !isDataView(value) ? `${viewLength(value)}` : '';
}

function bytesOf(value) {
  if (typeof value === 'string') return `${value.length}`;
  if (value === null || typeof value !== 'object' || isProxy(value)) return '';
  if (isView(value) && !isDataView(value)) return `${viewBytes(value)}`;
  return isArrayBuffer(value) ? `${bufferBytes(value)}` : '';
}

function isPlain(value) {
  return value === null || (typeof value !== 'object' && typeof value !== 'function');
}

// Plain values, and lists and objects of nothing but those.
function preview(value) {
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
    const property = getOwnPropertyDescriptor(value, names[i]);
    if (!('value' in property) || !isPlain(property.value)) return '';
  }
  const options = { customInspect: false, breakLength: Infinity, compact: true, maxStringLength: PREVIEW_LIMIT };
  return slice(inspect(value, options), 0, PREVIEW_LIMIT);
}

// What a name held is remembered weakly: what the user lets go of must go.
function remember(value) {
  return isPlain(value) ? { value, ref: undefined, shape: '' } :
    { value: undefined, ref: new OwnWeakRef(value), shape: shapeOf(value) };
}

function isUnchanged(before, value) {
  if (isPlain(value)) return before.ref === undefined && is(before.value, value);
  return before.ref !== undefined && deref(before.ref) === value && before.shape === shapeOf(value);
}

const known = new OwnMap(); // name -> what it held after the last cell
const readers = new OwnMap(); // let, const and class: name -> function that returns its value
const hidden = { __proto__: null }; // names of globalThis that are not the user's

function hideGlobals() {
  const names = Object.getOwnPropertyNames(globalThis);
  for (let i = 0; i < names.length; i++) hidden[names[i]] = true;
}

function addLexical(names) {
  for (let i = 0; i < names.length; i++) {
    if (mapGet(readers, names[i]) !== undefined) continue;
    try {
      mapSet(readers, names[i], vm.runInThisContext(`() => ${names[i]}`));
    } catch {
      // Not a name that a script can say.
    }
  }
}

// Calls each(name, value) for every name of the user's.
function eachName(each) {
  const names = keys(globalThis);
  for (let i = 0; i < names.length; i++) {
    if (hidden[names[i]] === true || mapGet(readers, names[i]) !== undefined) continue;
    const property = getOwnPropertyDescriptor(globalThis, names[i]);
    if (property !== undefined && 'value' in property) each(names[i], property.value);
  }
  mapEach(readers, (read, name) => {
    let value;
    try {
      value = read();
    } catch {
      return; // declared, and its value never came
    }
    each(name, value);
  });
}

// Names that this cell changed, as frame.h has them; undefined when there are none.
function changedNames() {
  const lines = [];
  const seen = { __proto__: null };
  eachName((name, value) => {
    seen[name] = true;
    const before = mapGet(known, name);
    if (before !== undefined && isUnchanged(before, value)) return;
    mapSet(known, name, remember(value));
    if (lines.length >= NAMES_KEPT || isModule(value)) return;
    const shape = shapeOf(value);
    push(lines, `${name} ${typeName(value)}${shape === '' ? '' : ` ${shape}`}`);
  });
  mapEach(known, (_, name) => {
    if (seen[name] === true) return;
    mapDelete(known, name);
    push(lines, `-${name}`);
  });
  return lines.length === 0 ? undefined : join(lines, '\n');
}

// What a cell has got by require or import is a module, whatever else it may be.
const loaded = new OwnWeakSet();

function noteModule(value) {
  if (!isPlain(value)) weakAdd(loaded, value);
}

function isModule(value) {
  return !isPlain(value) && (weakHas(loaded, value) || isModuleNamespaceObject(value));
}

function field(text) {
  return replace(replace(replace(replace(text, /\\/g, '\\\\'), /\t/g, '\\t'), /\n/g, '\\n'), /\r/g, '\\r');
}

// The answer to `vars`.
function variables(limit) {
  const lines = [];
  let total = 0;
  eachName((name, value) => {
    if (isModule(value)) return;
    total++;
    if (lines.length >= limit) return;
    push(lines, join([name, typeName(value), shapeOf(value), bytesOf(value), field(preview(value))], '\t'));
  });
  const parts = [['status', 'ok'], ['vars', join(lines, '\n')]];
  if (total > lines.length) push(parts, ['total', `${total}`]);
  return parts;
}

exports.plainText = plainText;
exports.bounded = bounded;
exports.ownBundle = ownBundle;
exports.partsOf = partsOf;
exports.typeName = typeName;
exports.hideGlobals = hideGlobals;
exports.addLexical = addLexical;
exports.changedNames = changedNames;
exports.variables = variables;
exports.isNativeError = isNativeError;
exports.isPromise = isPromise;
exports.noteModule = noteModule;
