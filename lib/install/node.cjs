// SPDX-License-Identifier: MIT
// Installs JavaScript packages, in a sandbox of its own, as python.py does for Python: one request on
// descriptor 3, one answer. npm resolves into a lock file, the policy is applied to that, and `npm ci`
// fetches and unpacks what it names, by its hashes; "unpack", without network, judges the lock file once
// more and everything that was unpacked. No script of a package runs in either. Where builds are allowed
// "build" runs them after that, without network: nothing that they write is judged, or told, again.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const CHANNEL = 3;
const TAIL = 1200;
const AUTHORITIES = 'authorities.pem';
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

function writeConfiguration(request) {
  const lines = Object.entries(request.options).map(([name, value]) => `${name}=${value}`);
  if (request.indexes.length > 0) lines.push(`registry=${request.indexes[0]}`);
  if (request.proxied) lines.push(`proxy=${PROXY}`, `https-proxy=${PROXY}`, 'noproxy=');
  const system = process.env.SSL_CERT_FILE ? fs.readFileSync(process.env.SSL_CERT_FILE, 'utf8') : '';
  fs.writeFileSync(AUTHORITIES, `${system}\n${request.certificates ?? ''}`);
  if (system || request.certificates) lines.push(`cafile=${path.resolve(AUTHORITIES)}`);
  lines.push('audit=false', 'fund=false', 'update-notifier=false', 'progress=false', 'color=false');
  fs.writeFileSync('.npmrc-installer', lines.join('\n') + '\n', { mode: 0o600 });
}

function npm(...words) {
  return npmIn(process.cwd(), ...words);
}

function npmIn(cwd, ...words) {
  const env = { PATH: `${path.dirname(process.execPath)}:/usr/bin:/bin`, HOME: process.cwd(), LC_ALL: 'C.UTF-8',
    npm_config_userconfig: path.resolve('.npmrc-installer'),
    npm_config_globalconfig: '/dev/null', npm_config_cache: path.resolve('cache'), TMPDIR: path.resolve('tmp'),
    npm_config_nodedir: path.dirname(path.dirname(fs.realpathSync(process.execPath))) };
  if (fs.existsSync(AUTHORITIES)) env.NODE_EXTRA_CA_CERTS = path.resolve(AUTHORITIES);
  const done = spawnSync(process.execPath, [npmPath(), ...words], { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe'] });
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
  if (spec.startsWith('-')) throw new Refusal(`${quote(spec)} is an option, and none is taken here; where packages come from is the user's to set.`);
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

function judge(rows, request) {
  const change = { block: 'take it from javascript.block', allow: 'add it to javascript.allow', minimum: 'change javascript.minimum' };
  for (const row of rows) {
    const why = verdict(row, request.policy);
    if (why === null) continue;
    const needed = rows.filter((other) => other.requires && row.name in other.requires).map((other) => other.name);
    const by = needed.length > 0 ? ` (needed by ${needed.slice(0, 3).join(', ')})` : '';
    throw new Refusal(`Refused by the policy: ${row.name}${by} ${why[1]}. Nothing was installed. The user can allow it: ` +
      `${change[why[0]]} in ${request.policy_path}, then start ptycell again.`);
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

// Every package that lies where npm puts them: archives may hold some that no lock names.
function* unpacked(folder) {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
  for (const name of names.flatMap((one) => (one.startsWith('@') ? fs.readdirSync(`${folder}/${one}`).map((two) => `${one}/${two}`) : [one]))) {
    const place = `${folder}/${name}`;
    if (!fs.statSync(place).isDirectory()) continue;
    yield { place, ...manifest(place) };
    yield* unpacked(`${place}/node_modules`);
  }
}

function manifest(place) {
  const name = place.slice(place.lastIndexOf('node_modules/') + 13);
  let told = {};
  try {
    told = JSON.parse(fs.readFileSync(`${place}/package.json`, 'utf8')) ?? {};
  } catch {
    // A folder without one can be required all the same.
  }
  const scripts = ['preinstall', 'install', 'postinstall'].some((script) => told.scripts && script in Object(told.scripts));
  return { name: typeof told.name === 'string' ? told.name : name, version: typeof told.version === 'string' ? told.version : '0.0.0',
    builds: scripts || fs.existsSync(`${place}/binding.gyp`) };
}

// For a package whose registry tells no hash: of all that lies at its place, by name and content.
function digest(place) {
  const hash = crypto.createHash('sha256');
  const add = (file) => {
    const stat = fs.lstatSync(file);
    const content = stat.isFile() ? fs.readFileSync(file) : Buffer.alloc(0);
    hash.update(`${JSON.stringify(file)} ${stat.mode} ${content.length}\n`).update(content);
    if (stat.isDirectory()) fs.readdirSync(file).sort().forEach((name) => add(`${file}/${name}`));
  };
  if (fs.existsSync(place)) add(place);
  return hash.digest('hex');
}

// ---- steps ----

const steps = {
  where(request) {
    writeConfiguration({ ...request, indexes: [], proxied: false });
    return { url: npm('config', 'get', 'registry').trim(), hosts: [] };
  },

  // Whether npm works and its registry answers, for the person; it need not have what is asked for.
  check(request) {
    writeConfiguration(request);
    const tool = `npm ${npm('--version').trim()}`;
    try {
      npm('view', 'npm', 'version', '--fetch-retries=0', '--fetch-timeout=15000');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!/\bE404\b/.test(error.message)) throw new Refusal(error.message.replace('could not install it', 'does not get through'));
    }
    return { tool };
  },

  fetch(request) {
    const wanted = parseAll(request.packages);
    judge([...wanted.keys()].map((name) => ({ name })), request);
    writeConfiguration(request);
    fs.writeFileSync('package.json', JSON.stringify({ name: 'session', version: '1.0.0', private: true }));
    npm('install', '--package-lock-only', '--ignore-scripts', ...wanted.values());
    const rows = lockRows();
    judge(rows, request);
    npm('ci', '--ignore-scripts');
    return { files: rows.map(({ place, version, hash }) => ({ file: `${place}@${version}`, sha256: hash || digest(place) })), present: [] };
  },

  unpack(request) {
    const rows = lockRows();
    const all = new Map(rows.map((row) => [row.place, row]));
    for (const row of rows) {
      if (!fs.existsSync(row.place)) continue; // for another system
      const told = JSON.parse(fs.readFileSync(`${row.place}/package.json`, 'utf8'));
      if (told.version !== row.version && all.get(row.place).hash === undefined) {
        throw new Refusal(`${quote(row.name)} is another version than its lock says.`);
      }
    }
    const found = [...unpacked('node_modules')];
    const more = found.filter((row) => !all.has(row.place)).flatMap(({ place, name, version }) => [
      { name, version }, { name: place.slice(place.lastIndexOf('node_modules/') + 13), version }]);
    judge([...rows, ...more], request);
    fs.mkdirSync('site', { recursive: true });
    if (fs.existsSync('node_modules')) fs.renameSync('node_modules', 'site/node_modules');
    const top = rows.filter((row) => row.place.lastIndexOf('node_modules/') === 0);
    return { packages: top.map(({ place, name, version, file }) => ({ name, version, file, modules: [place.slice(13)] })),
      build: request.builds && found.some((row) => row.builds) };
  },

  build() {
    writeConfiguration({ options: {}, indexes: [], proxied: false });
    try {
      npmIn('site', 'rebuild');
    } catch (error) {
      throw error instanceof Refusal ? new Refusal(`${error.message}\nScripts of packages run without network.`) : error;
    }
    return {};
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

function answer(request) {
  for (const folder of ['tmp', 'cache']) fs.mkdirSync(folder, { recursive: true });
  try {
    return { ok: true, ...steps[request.step](request) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, text: error.message };
    throw error;
  }
}

fs.writeSync(CHANNEL, JSON.stringify(answer(readOrder())) + '\n');
