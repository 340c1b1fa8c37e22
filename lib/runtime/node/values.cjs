// SPDX-License-Identifier: MIT
// values.cjs - values as text and MIME bundles, and the names that cells make.
//
// What a name holds is looked at without running anything of the user's: no getter, no proxy trap,
// no custom inspect. A value that is shown may run its own code; then it is as if the cell did.
'use strict';

const util = host.require('util');
const vm = host.require('vm');
const Emitter = host.require('events');

const { create, defineProperty, hasOwn, getOwnPropertyDescriptor, getPrototypeOf, setPrototypeOf, keys, is } = Object;
const { isProxy, isUint8Array, isPromise, isNativeError, isMap, isSet, isArrayBuffer, isDataView,
  isModuleNamespaceObject } = util.types;
const { defineProperty: tryDefine, ownKeys } = Reflect;
const { isArray } = Array;
const globals = globalThis; // a cell may declare that name
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
const trimEnd = uncurry(String.prototype.trimEnd);
const lower = uncurry(String.prototype.toLowerCase);
const split = uncurry(String.prototype.split);
const symbolText = uncurry(Symbol.prototype.toString);
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
const OwnRangeError = RangeError;
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
const emitterPrototype = Emitter.prototype;
const stringify = JSON.stringify;
const display = Symbol.for('Jupyter.display');

const TEXT_LIMIT = 1000000; // characters of a text on its way to the server, which cuts what is shown
const PAGE_LIMIT = 4000000; // characters of a page that are read
const HANDLE_LIMIT = 200; // characters in which a stream or process may show itself
const PREVIEW_LIMIT = 200;
// The server takes no larger frame (FRAME_UP_PART_MAX of runtime/frame.h): what is too large is refused here.
const PICTURE_MAX = 8 * 1024 * 1024; // bytes of the pictures of a value
const NAMED_MAX = 16000; // characters of a form that answers only name: longer ones go without what is in them
const FORMS_MAX = 40; // such forms of a value
const LIST_MAX = 50000; // characters of names and packages
const NAMES_KEPT = 20;
const ITEMS_LOOKED_AT = 1000;

// Returns the descriptor of a property with no prototype: the code may have given all objects `get`
// or `value`.
function descriptorOf(object, name) {
  const found = getOwnPropertyDescriptor(object, name);
  return found === undefined ? undefined : setPrototypeOf(found, null);
}

// ---- values as text ---------------------------------------------------------------------------

const SHOWN = { __proto__: null, depth: 4, maxArrayLength: 200, maxStringLength: TEXT_LIMIT, breakLength: 100 };
const SHOWN_NAMES = keys(SHOWN);
const usual = { __proto__: null, ...inspect.defaultOptions };

function plainText(value) {
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
function bounded(text) {
  if (text.length <= TEXT_LIMIT) return text;
  return `${head(text, TEXT_LIMIT)}\n... [${text.length - TEXT_LIMIT} characters left out: console.log shows all]`;
}

// Returns the text, or its two ends if it is longer than `limit`.
function shortened(text, limit) {
  if (text.length <= limit) return text;
  const tail = floor(limit / 3);
  const left = text.length - limit;
  return `${head(text, limit - tail)}\n... [${left} characters left out] ...\n${slice(text, -tail)}`;
}

// Returns the beginning of a text without half a surrogate pair at its end.
function head(text, length) {
  return exec(/[\ud800-\udbff]$/, slice(text, length - 1, length)) === null ? slice(text, 0, length) : slice(text, 0, length - 1);
}

const TOKEN = /<!--[^]*?(?:-->|$)|<(\/?)([a-zA-Z][\w-]*)(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>|<|[^<]+/y;
const NOT_SHOWN = /^(?:script|style|template|title)$/;
const TABLE = /^(?:table|tbody|tfoot|thead|tr)$/;
const BLOCKS = new RegExp('^(?:address|article|aside|blockquote|br|caption|center|dd|div|dl|dt|fieldset|figcaption|' +
  'figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul)$');

// Returns the words of a page, one line for a block or a row, with `|` between cells: enough for a
// model to know what the page shows. End tags may be missing, as HTML allows.
function textOfHtml(html) {
  const page = slice(html, 0, PAGE_LIMIT);
  const words = { lines: [''], hidden: '', cells: 0, preformatted: false };
  TOKEN.lastIndex = 0;
  for (let token = exec(TOKEN, page); token !== null; token = exec(TOKEN, page)) {
    if (token[2] !== undefined) addTag(words, lower(token[2]), token[1] !== '');
    else if (slice(token[0], 0, 2) !== '<!') addText(words, withoutEntities(token[0]));
  }
  const kept = [];
  for (let i = 0; i < words.lines.length; i++) {
    if (trim(words.lines[i]) !== '') push(kept, trimEnd(words.lines[i]));
  }
  return join(kept, '\n');
}

function addTag(words, name, ends) {
  if (words.hidden !== '' || (!ends && exec(NOT_SHOWN, name) !== null)) {
    if (ends && name === words.hidden) words.hidden = '';
    else if (words.hidden === '') words.hidden = name;
  } else if (name === 'td' || name === 'th') {
    if (ends) return;
    if (words.cells > 0) words.lines[words.lines.length - 1] += ' | ';
    words.cells++;
  } else if (exec(BLOCKS, name) !== null) {
    if (words.cells > 0 && exec(TABLE, name) === null) {
      addText(words, ' ');
    } else {
      push(words.lines, '');
      words.cells = 0;
    }
    words.preformatted = name === 'pre' && !ends;
  }
}

function addText(words, text) {
  if (words.hidden !== '') return;
  const last = words.lines.length - 1;
  if (words.preformatted) {
    const added = split(text, '\n');
    words.lines[last] += added[0];
    for (let i = 1; i < added.length; i++) push(words.lines, added[i]);
    return;
  }
  const line = words.lines[last];
  const blanks = replace(text, /\s+/g, ' ');
  words.lines[last] = line + (line === '' || line[line.length - 1] === ' ' ? replace(blanks, /^ /, '') : blanks);
}

function withoutEntities(text) {
  const plain = replace(replace(replace(text, /&lt;/g, '<'), /&gt;/g, '>'), /&quot;/g, '"');
  return replace(replace(replace(plain, /&#0?39;/g, "'"), /&nbsp;/g, ' '), /&amp;/g, '&');
}

// ---- values that stand for something that goes on ---------------------------------------------

// Node's own emitters, by the class next to EventEmitter. Any other class is the code's, with data
// of the code's.
const BASES = new RegExp('^(?:Stream|Server|Socket|ChildProcess|Worker|Interface|InterfaceConstructor|FSWatcher|StatWatcher|' +
  'FileHandle|Agent|Http2Session|process)$');

// The names of these classes and of all that Node derives from them.
const NODES_OWN = { __proto__: null };
for (const name of ('Agent BrotliCompress BrotliDecompress ChildProcess Cipher Cipheriv ClientHttp2Session ClientHttp2Stream ' +
  'ClientRequest Decipher Decipheriv Deflate DeflateRaw Duplex Duplexify FSWatcher FileHandle Gunzip Gzip Hash Hmac ' +
  'Http2SecureServer Http2Server Http2ServerRequest Http2ServerResponse IncomingMessage Inflate InflateRaw Interface ' +
  'InterfaceConstructor JSStreamSocket LazyTransform OutgoingMessage PassThrough REPLServer ReadStream Readable Server ' +
  'ServerHttp2Session ServerHttp2Stream ServerResponse Sign Socket StatWatcher Stream SyncWriteStream TLSSocket TestsStream ' +
  'Transform Unzip Utf8Stream Verify Worker Writable WriteStream ZstdCompress ZstdDecompress process').split(' ')) NODES_OWN[name] = true;

function isHandle(value) {
  if (!(value instanceof Emitter)) return false;
  let at = value;
  for (let next = getPrototypeOf(at); next !== emitterPrototype; next = getPrototypeOf(at)) {
    if (next === null || isProxy(next)) return false;
    at = next;
  }
  return exec(BASES, typeName(at)) !== null;
}

// Returns the short text of a process, a stream, a server or a timer; undefined for other values.
// As a cell's value their fields are of no use; fields that a class of the code's adds are.
function handleText(value) {
  if (value === null || typeof value !== 'object' || isProxy(value)) return undefined;
  const name = typeName(value);
  if (name !== 'Timeout' && name !== 'Immediate' && !isHandle(value)) return undefined;
  if (plainText(value).length <= HANDLE_LIMIT) return undefined;
  const short = shortForm(value);
  return typeof short === 'string' ? short : plainText(short);
}

function shortForm(value) {
  const name = typeName(value);
  if (name !== 'Timeout' && name !== 'Immediate' && !NODES_OWN[name]) return ownFields(value);
  if (typeof value.pid !== 'number') return `[${name}]`;
  return name === 'process' ? `[process ${value.pid}]` : `[${name}, process ${value.pid}]`;
}

const NODES_FIELD = /^(?:_events|_eventsCount|_maxListeners|_readableState|_writableState|allowHalfOpen|domain|Symbol\((?:k[A-Z]\w*|shapeMode|async_id_symbol)\))$/;
let likes = new OwnMap(); // a handle, or its like -> its like, which has the fields of the code's

function ownFields(value) {
  const known = mapGet(likes, value);
  if (known !== undefined) return known;
  const like = create(getPrototypeOf(value));
  mapSet(likes, value, like);
  mapSet(likes, like, like);
  const names = ownKeys(value);
  for (let i = 0; i < names.length; i++) {
    const name = typeof names[i] === 'symbol' ? symbolText(names[i]) : names[i];
    if (exec(NODES_FIELD, name) === null) defineProperty(like, names[i], descriptorOf(value, names[i]));
  }
  return like;
}

let whole; // a handle that is shown with all that it holds

// Returns what inspect() does, with handles within the value in their short form.
function inspectBriefly(value, options) {
  const holds = (typeof value === 'object' && value !== null) || typeof value === 'function';
  if (!holds) return `${inspect(value, options)}`;
  putMethodsBack();
  if (descriptorOf(emitterPrototype, inspect.custom) === undefined) {
    whole = value;
    tryDefine(emitterPrototype, inspect.custom, { __proto__: null, value: briefly, configurable: true }); // it may be frozen
  }
  try {
    return `${inspect(value, options)}`;
  } finally {
    stopBrevity();
  }
}

// The methods that Node calls by name while it shows a value or makes an error, and in its inspector: the code may have replaced them.
const METHODS = [];
for (const [object, names] of [[Array.prototype, ['push', 'pop', 'splice', 'includes', Symbol.iterator]],
  [Map.prototype, ['get', 'set', 'has']], [Set.prototype, ['has']], [String.prototype, ['startsWith']]]) {
  for (const name of names) METHODS.push({ object, name, method: object[name] });
}

let replaced = []; // what stood in their places

function putMethodsBack() {
  for (let i = 0; i < METHODS.length; i++) {
    const { object, name, method } = METHODS[i];
    const own = descriptorOf(object, name);
    if (own !== undefined && own.value === method) continue;
    const there = tryDefine(object, name, { __proto__: null, value: method, writable: true, configurable: true, enumerable: false });
    if (there) push(replaced, { object, name, own });
  }
}

function replaceMethodsAgain() {
  for (let i = 0; i < replaced.length; i++) {
    const { object, name, own } = replaced[i];
    if (own === undefined) delete object[name];
    else tryDefine(object, name, own);
  }
  if (replaced.length > 0) replaced = [];
}

function briefly() {
  return this === whole || isProxy(this) || !isHandle(this) ? this : shortForm(this);
}

// Ends the short form of handles, also after a cell that was ended meanwhile.
function stopBrevity() {
  replaceMethodsAgain();
  if (descriptorOf(emitterPrototype, inspect.custom)?.value === briefly) delete emitterPrototype[inspect.custom];
  whole = undefined;
  if (mapSize(likes) > 0) likes = new OwnMap();
}

// ---- values as MIME bundles -------------------------------------------------------------------

// Returns the value's own bundle, or a promise of it, or undefined. Runs the user's code.
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

// Returns a bundle as parts of a frame, [[type, data], ...]. `save(bytes, ending)` keeps a picture
// as a file and returns its name. text/plain is always present.
function partsOf(bundle, value, save) {
  const parts = [];
  let text;
  const types = keys(bundle);
  let forms = 0;
  for (let i = 0; i < types.length; i++) {
    const type = types[i];
    const data = bundle[type];
    if (data === undefined || data === null || type.length > 64 || exec(MIME, type) === null) continue;
    if (type === 'text/plain') text = bounded(`${data}`);
    else if (type === 'image/png' || type === 'image/jpeg') addImage(parts, type, data, save);
    else if (forms++ < FORMS_MAX) push(parts, [type, dataOf(data)]);
  }
  refuseLarge(parts);
  if (text === undefined) text = textFor(bundle, value, save);
  push(parts, ['text/plain', text]);
  return parts;
}

function dataOf(data) {
  const text = typeof data === 'string' || isUint8Array(data) ? data : stringify(data) ?? plainText(data);
  return text.length <= NAMED_MAX ? text : '';
}

function refuseLarge(parts) {
  let size = 0;
  let saved = '';
  for (let i = 0; i < parts.length; i++) {
    if (parts[i][0] === 'image/png' || parts[i][0] === 'image/jpeg') size += parts[i][1].length;
    else if (parts[i][0] === 'file') saved = `; it is saved as output/${parts[i][1]}`;
  }
  if (size <= PICTURE_MAX) return;
  throw new OwnRangeError(`a picture of ${size} bytes is too large to be shown: at most ${PICTURE_MAX} are${saved}`);
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
  if (typeof bundle['text/markdown'] === 'string') return bounded(bundle['text/markdown']);
  if (typeof bundle['image/svg+xml'] === 'string') {
    const name = save(encode(encoder, bundle['image/svg+xml']), 'svg');
    return name ? `[drawing: output/${name}]` : '[a drawing as SVG: it could not be kept in output/]';
  }
  if (typeof bundle['text/html'] === 'string') return bounded(textOfHtml(bundle['text/html']));
  return plainText(value);
}

// ---- names ------------------------------------------------------------------------------------

// Returns the class's name without asking the value: a constructor may be a getter.
function typeName(value) {
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

// Returns a preview of plain values, and of lists and objects of nothing but those; '' for other
// values.
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
    const property = descriptorOf(value, names[i]);
    if (!('value' in property) || !isPlain(property.value)) return '';
  }
  const options = { __proto__: null, customInspect: false, breakLength: Infinity, compact: true, maxStringLength: PREVIEW_LIMIT };
  return slice(inspect(value, options), 0, PREVIEW_LIMIT);
}

// Remembers a name's value weakly, so that what the user releases can be collected.
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
const imported = new OwnWeakSet(); // functions by which globalThis reads names of modules

function hideGlobals() {
  const names = Object.getOwnPropertyNames(globals);
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
  const names = keys(globals);
  for (let i = 0; i < names.length; i++) {
    if (hidden[names[i]] === true || mapGet(readers, names[i]) !== undefined) continue;
    const property = getOwnPropertyDescriptor(globals, names[i]);
    if (property === undefined) continue;
    if (hasOwn(property, 'value')) each(names[i], property.value);
    else if (isImport(property)) eachRead(property.get, names[i], each);
  }
  mapEach(readers, (read, name) => eachRead(read, name, each));
}

function eachRead(read, name, each) {
  let value;
  try {
    value = read();
  } catch {
    return; // declared, and its value never came
  }
  each(name, value);
}

// Notes the function that reads an imported name. `read` must run no code of the user's.
function noteImport(read) {
  weakAdd(imported, read);
}

function isImport(property) {
  return property.get !== undefined && weakHas(imported, property.get);
}

// Returns the names that this cell changed, as frame.h has them; undefined when there are none.
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
    push(lines, `${nameField(name)} ${typeName(value)}${shape === '' ? '' : ` ${shape}`}`);
  });
  mapEach(known, (_, name) => {
    if (seen[name] === true) return;
    mapDelete(known, name);
    push(lines, `-${nameField(name)}`);
  });
  return lines.length === 0 ? undefined : join(linesWithin(lines), '\n');
}

// Returns the first of these lines, as many as a frame has room for.
function linesWithin(lines) {
  const kept = [];
  let room = LIST_MAX;
  for (let i = 0; i < lines.length && room >= 0; i++) {
    room -= lines[i].length + 1;
    if (room >= 0) push(kept, lines[i]);
  }
  return kept;
}

// What a cell has got by require or import is a module, whatever else it may be.
const loaded = new OwnWeakSet();

function noteModule(value) {
  if (!isPlain(value)) weakAdd(loaded, value);
}

function isModule(value) {
  return !isPlain(value) && (weakHas(loaded, value) || isModuleNamespaceObject(value));
}

// Replaces a part without a pattern: replacing by one calls RegExp.prototype.exec, which may be the
// code's.
function replaceAll(text, part, by) {
  return join(split(text, part), by);
}

function field(text) {
  return replaceAll(replaceAll(replaceAll(replaceAll(text, '\\', '\\\\'), '\t', '\\t'), '\n', '\\n'), '\r', '\\r');
}

// Returns a name as `names` of frame.h has it.
function nameField(name) {
  const text = replaceAll(field(name), ' ', '\\s');
  return text[0] === '-' ? `\\${text}` : text;
}

// Returns the answer to `vars`, at most `limit` names.
function variables(limit) {
  const lines = [];
  let total = 0;
  eachName((name, value) => {
    if (isModule(value)) return;
    total++;
    if (lines.length >= limit) return;
    push(lines, join([field(name), typeName(value), shapeOf(value), bytesOf(value), field(preview(value))], '\t'));
  });
  const kept = linesWithin(lines);
  const parts = [['status', 'ok'], ['vars', join(kept, '\n')]];
  if (total > kept.length) push(parts, ['total', `${total}`]);
  return parts;
}

exports.descriptorOf = descriptorOf;
exports.LIST_MAX = LIST_MAX;
exports.plainText = plainText;
exports.handleText = handleText;
exports.inspectBriefly = inspectBriefly;
exports.putMethodsBack = putMethodsBack;
exports.replaceMethodsAgain = replaceMethodsAgain;
exports.stopBrevity = stopBrevity;
exports.shortened = shortened;
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
exports.noteImport = noteImport;
exports.isImport = isImport;
exports.isLexical = (name) => mapGet(readers, name) !== undefined;
