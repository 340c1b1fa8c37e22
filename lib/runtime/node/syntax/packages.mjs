// SPDX-License-Identifier: MIT
// packages.mjs - takes `npm install` and its like from a cell's head.

import { exec, push, slice } from './own.mjs';
import { at } from './lexer.mjs';

// `npm install x` is a syntax error wherever it stands. It is taken at a cell's head only, before
// the first line of code, where it cannot be within a string or a template.
const INSTALL = /^((?:[ \t]*(?:\/\/[^\n]*)?\r?\n)*)[ \t]*[!%]?[ \t]*npm[ \t]+(?:install|i|add)([ \t][^\n;|&$`<>(){}#]*)(?=\n|$)/;
// Other lines of these programs, which are no JavaScript either: the shell runs them.
const LINE = /^((?:[ \t]*(?:\/\/[^\n]*)?\r?\n)*)[ \t]*[!%]?[ \t]*((?:(?:npm|pnpm|yarn)[ \t]+(?:install|i|add|ci|ls|list|uninstall|remove|rm|un|exec|run|dlx)(?=[ \t\r\n]|$)|npx[ \t]+(?:(?:-y|--yes)[ \t]+)?[\w@])[^\n]*)(?=\n|$)/;
const NPM_OPTION = /^(?:-[gsSDE]|--(?:global|save|save-dev|save-exact|silent|no-audit|no-fund|no-save|yes))$/;
const LOCAL = /^(?:[./~]|file:)/;

function wordsOf(line) {
  const words = [];
  const word = /"[^"]*"|'[^']*'|[^ \t\r]+/y;
  const space = /[ \t\r]*/y;
  for (let index = at(space, line, 0).length; index < line.length;) {
    const text = at(word, line, index);
    if (text === '') return words;
    index += text.length;
    index += at(space, line, index).length;
    push(words, exec(/^["']/, text) === null ? text : slice(text, 1, -1));
  }
  return words;
}

// Returns the names of a line that only installs some from the registry, else none.
function packagesOf(code) {
  const line = exec(INSTALL, code);
  const words = line === null ? [] : wordsOf(line[2]);
  const names = [];
  for (let i = 0; i < words.length; i++) {
    if (exec(LOCAL, words[i]) !== null) return [];
    if (exec(NPM_OPTION, words[i]) === null) push(names, words[i]);
  }
  return names;
}

// Returns what the lines at a cell's head install, and the cell without them: `packages` that are
// wanted by name, and `commands` of the shell, which run first. Returns undefined when there are none.
export function installs(code) {
  const found = { packages: [], commands: [], rest: code };
  for (let line = exec(LINE, found.rest); line !== null; line = exec(LINE, found.rest)) {
    const names = packagesOf(found.rest);
    if (names.length === 0) push(found.commands, line[2]);
    for (let i = 0; i < names.length; i++) push(found.packages, names[i]);
    found.rest = line[1] + slice(found.rest, line[0].length);
  }
  return found.rest === code ? undefined : found;
}
