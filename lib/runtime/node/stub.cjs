// SPDX-License-Identifier: MIT
(function () {
'use strict';
var fs = require('fs'), vm = require('vm'), received = Buffer.alloc(0), parts = {};
if (parseInt(process.versions.node, 10) < 18) {
  fs.writeSync(2, 'ptycell needs Node.js 18 or later; this is ' + process.version + '\n');
  process.exit(1);
}
function fill(length) {
  while (received.length < length) {
    var chunk = Buffer.alloc(262144), n = fs.readSync(3, chunk, 0, chunk.length, null);
    if (n === 0) process.exit(0);
    received = Buffer.concat([received, chunk.subarray(0, n)]);
  }
}
function take(length) {
  fill(length);
  var taken = received.subarray(0, length);
  received = received.subarray(length);
  return taken;
}
function line() {
  while (received.indexOf(10) < 0) fill(received.length + 1);
  return take(received.indexOf(10) + 1).toString('latin1').split(' ');
}
function frame() {
  var count = Number(line()[2]), found = {};
  for (; count > 0; count--) {
    var head = line();
    found[head[0]] = take(Number(head[1])).toString();
  }
  return found;
}
var sources = frame(), hello = frame();
function part(name, text) {
  return name + ' ' + Buffer.byteLength(text) + '\n' + text;
}
function onSigint() {
  // The frame beside the signal says whom it is for. Node must not die of it from here on, as cells may come.
  if (host !== undefined && host.interrupted !== undefined) host.interrupted();
}
process.on('SIGINT', onSigint);
fs.writeSync(3, 'ready 0 6\n' + part('proto', '1') + part('nonce', hello.nonce) +
  part('language', 'javascript') + part('version', process.versions.node) +
  part('executable', process.execPath) + part('pid', String(process.pid)));
var host = {
  hello: hello,
  received: received,
  onSigint: onSigint,
  require: require,
  // Only code that Node itself compiles may import.
  import: (0, eval)('(specifier, options) => import(specifier, options)'),
  load: function (name) {
    if (!(name in parts)) {
      parts[name] = {};
      vm.runInThisContext('(function (exports, host) {' + sources[name] + '\n})',
        { filename: 'ptycell:' + name })(parts[name], host);
    }
    return parts[name];
  },
};
host.load('driver');
})();
