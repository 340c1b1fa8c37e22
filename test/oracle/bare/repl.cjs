// SPDX-License-Identifier: MIT
// Node's repl module without its prompt: runs the file .cell once for each line that comes through the pipe
// .commands, and ends each with \x1e. Standard input is the code's own.
'use strict';
const fs = require('fs');
const { PassThrough } = require('stream');
const { inspect } = require('util');
const server = require('repl').start({ prompt: '', input: new PassThrough(), output: new PassThrough(), terminal: false, useGlobal: true });

const FILE = require('path').resolve('.cell');
let number = 0;

// As ptycell's: a stack ends with the cell.
Error.prepareStackTrace = (error, trace) => {
  const own = trace.findIndex((site) => /repl\.cjs|^node:repl/.test(site.getFileName()));
  const kept = (own < 0 ? trace : trace.slice(0, own)).filter((site) => site.getFunctionName() !== 'runInThisContext');
  return [Error.prototype.toString.call(error), ...kept.map((site) => `    at ${site}`)].join('\n');
};

function end(text) {
  setTimeout(() => process.stdout.write(`${text}\x1e`), 2);
}

function run() {
  const code = fs.readFileSync(FILE, 'utf8');
  number++;
  server.eval(`${code}\n`, server.context, `cell-${number}.js`, (error, value) => {
    if (error) end(`${inspect(error.err ?? error)}\n`);
    else Promise.resolve(value).then((done) => end(done === undefined ? '' : `${inspect(done)}\n`), (failed) => end(`${inspect(failed)}\n`));
  });
}

server._domain.removeAllListeners('error');
server._domain.on('error', (error) => end(`${inspect(error)}\n`));
process.on('uncaughtException', (error) => end(`${inspect(error)}\n`));
process.stdout.write('\x1e');
fs.createReadStream('.commands').on('data', run);
