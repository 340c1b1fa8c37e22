// SPDX-License-Identifier: MIT
// globals.mjs - gives cells what a script has: require, module, display, and the names that
// syntax puts in.
//
// They are not enumerable, and those that stand in rewritten text cannot be replaced. A
// function's text is as the cell has it, because code hands it to workers and pages or writes it
// to files.

import {
  defineProperty, globals, JupyterDisplay, Module, pathToFileURL, process, slice, syntax,
  textOfFunction, tiedTo,
} from './own.mjs';
import { made, makeFirst } from './attempt.mjs';
import { onComeBack } from './console.mjs';
import { assignToConstant, constantOf } from './constants.mjs';
import { display } from './display.mjs';
import { asWritten } from './errors.mjs';
import { endCell } from './exit.mjs';
import { keepHandlers } from './handlers.mjs';
import { importModule, require } from './imports.mjs';
import { importLive, importNames } from './names.mjs';
import { SECRET } from './shared.mjs';
import { prepareStacks } from './stacks.mjs';
import { anchor, requireFromCell, resolve, WORKSPACE } from './workspace.mjs';

// Makes Function.prototype.toString() give a function's text as its cell has it.
function showFunctionsAsWritten() {
  const { toString } = Function.prototype;
  const value = new Proxy(toString, { __proto__: null, apply: (method, self) => asWritten(withName(self, textOfFunction(self))) });
  defineProperty(Function.prototype, 'toString', { __proto__: null, value });
}

function withName(own, text) {
  const found = tiedTo(made, own);
  return found === undefined ? text : slice(text, 0, found.at) + found.name + slice(text, found.at + found.name.length);
}

function hide(name, value, fixed) {
  defineProperty(globals, name, { __proto__: null, value, writable: !fixed, configurable: !fixed, enumerable: false });
}

export function setUpGlobals() {
  const module = new Module(anchor, null);
  module.filename = anchor;
  module.paths = requireFromCell.resolve.paths('x');
  for (const name of ['cache', 'extensions']) require[name] = requireFromCell[name];
  resolve.paths = requireFromCell.resolve.paths;
  require.resolve = resolve;
  require.main = module;
  importModule.names = importNames;
  importModule.live = importLive;
  importModule.meta = { __proto__: null, url: pathToFileURL(anchor).href, dirname: WORKSPACE, filename: anchor,
    resolve: (specifier) => pathToFileURL(resolve(specifier)).href };
  hide('require', require);
  process.nextTick(() => hide('module', module)); // Node puts its own back when the stub ends
  hide('exports', module.exports);
  hide('__filename', anchor);
  hide('__dirname', WORKSPACE);
  hide('display', display);
  hide('Jupyter', { display, symbol: JupyterDisplay });
  hide(syntax.IMPORT, importModule, true);
  hide(SECRET, onComeBack, true);
  defineProperty(globals, syntax.CONSTANT, { __proto__: null, get: () => constantOf, set: assignToConstant, enumerable: false });
  defineProperty(globals, syntax.FIRST, { __proto__: null, get: makeFirst, enumerable: false });
  defineProperty(globals, syntax.NOWHERE, { __proto__: null, get: () => undefined, set: () => {}, enumerable: false });
  process.execArgv = []; // the stub is not for children
  process.exit = endCell;
  keepHandlers();
  showFunctionsAsWritten();
  prepareStacks();
}
