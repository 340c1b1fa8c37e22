// SPDX-License-Identifier: MIT
// Installs JavaScript packages, in a sandbox of its own, as python.py does for Python: one order on
// descriptor 3, one answer. npm resolves into a lock file, the policy is applied to that, and `npm ci`
// fetches and unpacks what it names, by its hashes. No script of a package runs unless builds are
// allowed; "unpack", without network, judges the lock file once more and what was unpacked by it.
'use strict';

const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const CHANNEL = 3;
const TAIL = 1200;
const PROXY = 'http://127.0.0.1:3128';

class Refusal extends Error {}

// ---- npm ----

function npmPath() {
  const prefix = path.dirname(path.dirname(fs.realpathSync(process.execPath)));
  const places = [`${prefix}/lib/node_modules/npm`, '/usr/lib/node_modules/npm', '/usr/share/nodejs/npm', '/usr/local/lib/node_modules/npm'];
  const found = places.map((place) => `${place}/bin/npm-cli.js`).find((file) => fs.existsSync(file));
  if (found === undefined) {
    throw new Refusal(`npm is not installed beside this Node (${process.execPath}). On Debian it is the user's to install: apt install npm.`);
  }
  return found;
}

function writeConfiguration(order) {
  const lines = Object.entries(order.options).map(([name, value]) => `${name}=${value}`);
  if (order.indexes.length > 0) lines.push(`registry=${order.indexes[0]}`);
  if (order.proxied) lines.push(`proxy=${PROXY}`, `https-proxy=${PROXY}`, 'noproxy=');
  if (process.env.SSL_CERT_FILE) lines.push(`cafile=${process.env.SSL_CERT_FILE}`);
  lines.push('audit=false', 'fund=false', 'update-notifier=false', 'progress=false', 'color=false');
  fs.writeFileSync('.npmrc-installer', lines.join('\n') + '\n', { mode: 0o600 });
}

function npm(...words) {
  const env = { PATH: '/usr/bin:/bin', HOME: process.cwd(), LC_ALL: 'C.UTF-8', npm_config_userconfig: path.resolve('.npmrc-installer'),
    npm_config_globalconfig: '/dev/null', npm_config_cache: path.resolve('cache'), TMPDIR: path.resolve('tmp') };
  if (process.env.SSL_CERT_FILE) env.NODE_EXTRA_CA_CERTS = process.env.SSL_CERT_FILE;
  const done = spawnSync(process.execPath, [npmPath(), ...words], { env, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status !== 0) throw new Refusal(explain(`${done.stdout}\n${done.stderr}`));
  return done.stdout;
}

function explain(said) {
  const errors = said.split('\n').filter((line) => /^npm (error|ERR!)/.test(line) && !/complete log|\.log$/.test(line));
  const text = errors.map((line) => line.replace(/^npm (error|ERR!) ?/, '').trimEnd()).filter(Boolean).join('\n').slice(-TAIL);
  const more = /E403|403 Forbidden|tunneling socket|ECONNREFUSED/.test(said)
    ? '\nThe installer reaches only the registry of the user\'s npm configuration; hosts that it leads to besides go into PTYCELL_INSTALL_HOSTS.' : '';
  return `npm could not install it:\n${text || said.trim().slice(-TAIL)}${more}`;
}

// ---- what was asked for ----

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

function quote(text) {
  const clean = text.replace(/[^\x20-\x7e\u00a1-\uffff]+/g, ' ').trim();
  return `'${clean.length > 80 ? clean.slice(0, 77) + '...' : clean}'`;
}

// NAME, NAME@RANGE or NAME@TAG: whatever else npm takes leads elsewhere than to the registry.
function parse(text) {
  const spec = text.trim();
  const at = spec.indexOf('@', 1);
  const name = at > 0 ? spec.slice(0, at) : spec;
  const range = at > 0 ? spec.slice(at + 1) : '';
  if (spec.startsWith('-')) throw new Refusal(`${quote(spec)} is an option; where packages come from is the user's to set.`);
  if (/^[./~]/.test(spec) || /[:\\]|\.tgz$|\.tar\.gz$/.test(spec) || (range === '' && /^[^@].*\//.test(spec))) {
    throw new Refusal(`${quote(spec)} is a path or a URL; packages come from the registry only, by name.`);
  }
  if (!NAME.test(name) || !/^[\w.*^~<>=| +-]*$/.test(range)) {
    throw new Refusal(`${quote(spec)} is no package; write NAME, NAME@VERSION or NAME@RANGE.`);
  }
  return { name: name.toLowerCase(), spec: range === '' ? name.toLowerCase() : `${name.toLowerCase()}@${range}` };
}

// Later ones of the same name replace earlier ones.
function parseAll(texts) {
  const wanted = new Map();
  for (const text of texts) {
    const { name, spec } = parse(text);
    wanted.set(name, spec);
  }
  return wanted;
}

// ---- the policy ----

function normal(name) {
  return name.toLowerCase();
}

function matches(name, entries) {
  return entries.find((entry) => (entry.endsWith('*') ? name.startsWith(normal(entry.slice(0, -1))) : normal(entry) === name));
}

// Semantic versions in their order; build metadata does not count.
function compare(left, right) {
  const cut = (text) => {
    const [core, ...pre] = text.replace(/^v/, '').split('+')[0].split('-');
    return [core.split('.').map(Number), pre.join('-')];
  };
  const [a, preA] = cut(left);
  const [b, preB] = cut(right);
  for (let i = 0; i < 3; i++) if ((a[i] || 0) !== (b[i] || 0)) return (a[i] || 0) - (b[i] || 0);
  if (preA === preB) return 0;
  if (preA === '' || preB === '') return preA === '' ? 1 : -1;
  return comparePre(preA.split('.'), preB.split('.'));
}

function comparePre(a, b) {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    if (a[i] === undefined || b[i] === undefined) return a[i] === undefined ? -1 : 1;
    const numbers = /^\d+$/.test(a[i]) && /^\d+$/.test(b[i]);
    if (a[i] !== b[i]) {
      if (numbers) return Number(a[i]) - Number(b[i]);
      if (/^\d+$/.test(a[i]) !== /^\d+$/.test(b[i])) return /^\d+$/.test(a[i]) ? -1 : 1;
      return a[i] < b[i] ? -1 : 1;
    }
  }
  return 0;
}

function verdict(row, policy) {
  const name = normal(row.name);
  const entry = matches(name, policy.block);
  if (entry !== undefined) return ['block', `is on the block list (javascript.block has ${quote(entry)})`];
  if (policy.allow.length > 0 && matches(name, policy.allow) === undefined) return ['allow', 'is not on the allow list (javascript.allow)'];
  const least = Object.entries(policy.minimum).find(([key]) => normal(key) === name);
  if (least !== undefined && row.version !== undefined && compare(row.version, least[1]) < 0) {
    return ['minimum', `is version ${row.version}, and the least that may be installed is ${least[1]} (javascript.minimum)`];
  }
  return null;
}

function judge(rows, order) {
  const change = { block: 'take it from javascript.block', allow: 'add it to javascript.allow', minimum: 'change javascript.minimum' };
  for (const row of rows) {
    const why = verdict(row, order.policy);
    if (why === null) continue;
    const needed = rows.filter((other) => other.requires && row.name in other.requires).map((other) => other.name);
    const by = needed.length > 0 ? ` (needed by ${needed.slice(0, 3).join(', ')})` : '';
    throw new Refusal(`Refused by the policy: ${row.name}${by} ${why[1]}. Nothing was installed. The user can allow it: ` +
      `${change[why[0]]} in ${order.policy_path}, then start ptycell again.`);
  }
}

// Every package of the lock file, by the place where it will lie.
function lockRows() {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  return Object.entries(lock.packages).filter(([place]) => place !== '').map(([place, item]) => {
    const name = item.name || place.slice(place.lastIndexOf('node_modules/') + 13);
    if (item.link || !/^https?:/.test(item.resolved || 'https:') || !item.version) {
      throw new Refusal(`${quote(name)} does not come from the registry; it was not installed.`);
    }
    return { place, name, version: item.version, requires: { ...item.dependencies, ...item.optionalDependencies },
      file: item.resolved ? path.basename(new URL(item.resolved).pathname) : undefined, hash: item.integrity };
  });
}

// ---- steps ----

const steps = {
  where(order) {
    writeConfiguration({ ...order, indexes: [], proxied: false });
    return { url: npm('config', 'get', 'registry').trim(), hosts: [] };
  },

  fetch(order) {
    const wanted = parseAll(order.packages);
    const scripts = order.builds ? [] : ['--ignore-scripts'];
    judge([...wanted.keys()].map((name) => ({ name })), order);
    writeConfiguration(order);
    fs.writeFileSync('package.json', JSON.stringify({ name: 'session', version: '1.0.0', private: true }));
    npm('install', '--package-lock-only', '--ignore-scripts', ...wanted.values());
    const rows = lockRows();
    judge(rows, order);
    npm('ci', ...scripts);
    return { files: rows.map(({ place, version, hash }) => ({ file: `${place}@${version}`, sha256: hash || '' })), present: [] };
  },

  unpack(order) {
    const rows = lockRows();
    const all = new Map(rows.map((row) => [row.place, row]));
    for (const row of rows) {
      if (!fs.existsSync(row.place)) continue; // for another system
      const told = JSON.parse(fs.readFileSync(`${row.place}/package.json`, 'utf8'));
      if (told.version !== row.version && all.get(row.place).hash === undefined) {
        throw new Refusal(`${quote(row.name)} is another version than its lock says.`);
      }
    }
    judge(rows, order);
    fs.mkdirSync('site', { recursive: true });
    if (fs.existsSync('node_modules')) fs.renameSync('node_modules', 'site/node_modules');
    const top = rows.filter((row) => row.place.lastIndexOf('node_modules/') === 0);
    return { packages: top.map(({ name, version, file }) => ({ name, version, file, modules: [] })) };
  },
};

function readOrder() {
  let data = '';
  const chunk = Buffer.alloc(65536);
  while (!data.endsWith('\n')) {
    let count;
    try {
      count = fs.readSync(CHANNEL, chunk);
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error;
      continue;
    }
    if (count === 0) break;
    data += chunk.toString('utf8', 0, count);
  }
  return JSON.parse(data);
}

function answer(order) {
  for (const folder of ['tmp', 'cache']) fs.mkdirSync(folder, { recursive: true });
  try {
    return { ok: true, ...steps[order.step](order) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, text: error.message };
    throw error;
  }
}

fs.writeSync(CHANNEL, JSON.stringify(answer(readOrder())) + '\n');
