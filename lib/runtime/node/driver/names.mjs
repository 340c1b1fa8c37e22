// SPDX-License-Identifier: MIT
// names.mjs - makes imported names live, and asks V8 for the names that cells have declared.
//
// A module may change what it exports, and who has imported the name sees it. So the name is a
// property of globalThis that reads the module's, where no older declaration hides that; such a
// name keeps a value of its own.

import {
  captureStackTrace, defineProperty, describe, descriptorOf, globals, indexOf, ReferenceError,
  replaceProperty, slice, SyntaxError, values,
} from './own.mjs';
import { post } from './console.mjs';
import { constants } from './constants.mjs';
import { read } from './errors.mjs';
import { importModule } from './imports.mjs';

let lexicalAsked = true;

export function refreshNames() {
  if (!lexicalAsked) return;
  lexicalAsked = false;
  post('Runtime.globalLexicalScopeNames', { __proto__: null, silent: true }, (error, reply) => {
    if (reply) values.addLexical(reply.names);
  });
}

const standIns = { __proto__: null }; // name -> the function that reads it until the import has come

// Returns what an imported name becomes; see importStatement() of syntax.
export function standFor(name) {
  if (values.isLexical(name)) return 'let';
  const own = descriptorOf(globals, name);
  if (own === undefined) {
    standIns[name] = () => { throw new ReferenceError(`Cannot access '${name}' before initialization`); };
    return defineImport(name, standIns[name]) ? 'live' : 'let';
  }
  if (own.get !== undefined && (values.isImport(own) || own.get === standIns[name])) return 'live';
  return own.configurable ? 'let' : 'var';
}

// Makes the name read what `get` returns. Returns false when globalThis is frozen.
function defineImport(name, get) {
  const set = (value) => defineProperty(globals, name, { __proto__: null, value, writable: true, enumerable: true, configurable: true });
  return replaceProperty(globals, name, { __proto__: null, get, set, enumerable: true, configurable: true });
}

export function dropStandIns() {
  for (const name in standIns) {
    if (descriptorOf(globals, name)?.get === standIns[name]) {
      delete globals[name];
      if (!values.isLexical(name)) delete constants[name];
    }
    delete standIns[name];
  }
}

// Serves `import own, {a, b as c} from`: makes the `locals` read these names of the module.
export async function importLive(specifier, names, locals, options) {
  const module = await importNames(specifier, names, options);
  for (let i = 0; i < names.length; i++) {
    const readName = () => module[names[i]];
    values.noteImport(readName);
    defineImport(locals[i], readName);
  }
  return module;
}

// Returns the module. Throws a SyntaxError unless it exports these names.
export async function importNames(specifier, names, options) {
  const from = {};
  captureStackTrace(from);
  const module = await importModule(specifier, options);
  for (let i = 0; i < names.length; i++) {
    if (names[i] in module) continue;
    const error = new SyntaxError(`The requested module '${specifier}' does not provide an export named '${names[i]}'`);
    const stack = read(from, 'stack') ?? '';
    error.stack = describe(error) + slice(stack, indexOf(`${stack}\n`, '\n'));
    throw error;
  }
  values.noteModule(module.default);
  return module;
}

// Makes the next refreshNames() ask V8, as a cell has declared names.
export function askLexical() {
  lexicalAsked = true;
}
