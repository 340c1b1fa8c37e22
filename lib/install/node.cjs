// SPDX-License-Identifier: MIT
// Installs JavaScript packages, in a sandbox of its own, as python/ does for Python: one request on
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
const NOTES_MAX = 8;
const AUTHORITIES = 'authorities.pem';
const GUARD = '.logins-installer.cjs'; // npm begins with it
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

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

function parseUrl(text) {
  try {
    return new URL(text);
  } catch {
    return undefined; // npm says so
  }
}

// The host with its port of an option "//HOST/PATH/:_authToken", which npm takes without the last slash, too.
function hostOf(key) {
  return /^\/\/([^/]*)\//.exec(key.replace(/:[^:]*$/, '/'))?.[1];
}

// The options of npm's configuration. npm gives a login in a URL to pages alone, and not to files, so it becomes an
// option. A login goes over https, or to this machine.
function optionsOf(request) {
  const options = { ...request.options, ...(request.indexes.length > 0 ? { registry: request.indexes[0] } : {}) };
  for (const [name, value] of Object.entries(options)) {
    const url = name === 'registry' || name.startsWith('@') ? parseUrl(value) : undefined;
    if (url === undefined) continue;
    registries.push(url.host);
    if (url.username) {
      const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
      options[`//${url.host}${url.pathname.replace(/\/?$/, '/')}:_auth`] = Buffer.from(login).toString('base64');
      [url.username, url.password] = ['', ''];
      options[name] = url.href;
    }
    if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname)) {
      Object.keys(options).filter((key) => hostOf(key) === url.host).forEach((key) => delete options[key]);
    }
  }
  return options;
}

// Of each login that npm sends: the schemes, hosts and ports that it is for.
function placesOf(options) {
  const origins = Object.entries(options).filter(([name]) => name === 'registry' || name.startsWith('@'))
    .map(([, value]) => parseUrl(value)).filter((url) => url !== undefined);
  const places = {};
  for (const [key, value] of Object.entries(options).filter(([name]) => name.startsWith('//'))) {
    const [, start, kind] = /^(.*):([^:]*)$/.exec(key) ?? [];
    const password = Buffer.from(options[`${start}:_password`] ?? '', 'base64').toString();
    const login = { _authToken: `Bearer ${value}`, _auth: `Basic ${value}`,
      username: `Basic ${Buffer.from(`${value}:${password}`).toString('base64')}` }[kind];
    const known = origins.filter(({ host }) => host === hostOf(key)).map(({ origin }) => origin);
    const told = parseUrl(`https://${hostOf(key)}`);
    if (login !== undefined && told !== undefined) {
      (places[login] ??= []).push(...(known.length > 0 ? known : [told.origin, ...(LOOPBACK.test(told.hostname) ? [`http://${told.host}`] : [])]));
    }
  }
  return places;
}

// Takes a login from a request to another place than its own. npm compares only hosts when a registry leads it on, and
// neither ports nor schemes; for a file it compares no schemes.
function keepLogins(places) {
  for (const web of [require('http'), require('https')]) {
    const { request } = web;
    web.request = (options, ...more) => {
      const name = Object.keys(options.headers ?? {}).find((one) => one.toLowerCase() === 'authorization');
      if (name === undefined) return request(options, ...more);
      const { origin } = new URL(`${options.protocol}//${options.hostname}:${options.port ?? ''}`);
      const { [name]: login, ...headers } = options.headers;
      return request(places[String(login)]?.includes(origin) ? options : { ...options, headers }, ...more);
    };
  }
}

function writeConfiguration(request) {
  const options = optionsOf(request);
  const lines = Object.entries(options).map(([name, value]) => `${name}=${JSON.stringify(value)}`); // a token may have a # or a ;
  fs.writeFileSync(GUARD, `(${keepLogins})(${JSON.stringify(placesOf(options))});\n`, { mode: 0o600 });
  if (request.proxied) lines.push(`proxy=${PROXY}`, `https-proxy=${PROXY}`, 'noproxy=');
  const system = process.env.SSL_CERT_FILE ? fs.readFileSync(process.env.SSL_CERT_FILE, 'utf8') : '';
  fs.writeFileSync(AUTHORITIES, `${system}\n${request.certificates ?? ''}`);
  if (system || request.certificates) lines.push(`cafile=${path.resolve(AUTHORITIES)}`);
  lines.push('audit=false', 'fund=false', 'update-notifier=false', 'progress=false', 'color=false');
  lines.push('fetch-retry-mintimeout=1000', 'fetch-retry-maxtimeout=4000'); // a call waits; npm's own are 10 s and 60 s
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
  const done = spawnSync(process.execPath, ['--require', path.resolve(GUARD), npmPath(), ...words], { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20, stdio: ['ignore', 'pipe', 'pipe'] });
  if (done.status !== 0) throw new Refusal(explain(`${done.stdout}\n${done.stderr}`));
  return done.stdout;
}

// What the registry answered, by npm's code or by the status in its text: one sentence, and what to do.
const ANSWERS = [
  [/\bE401\b|\b401 Unauthorized/, 'wants a login (401). A login goes over https, or to this machine. The user sets one in .npmrc: //HOST/:_authToken=TOKEN, or //HOST/:_auth for a name and password'],
  [/- ptycell: '[^']*' leads to this machine/, 'leads to this machine or its networks. The user allows that with PTYCELL_ALLOW_PRIVATE_HOSTS=1, or corrects registry= in .npmrc'],
  [/\b(?:502 Bad Gateway|403 Forbidden) - ptycell: '[^']*' ([^.;]*)/, 'STATUS. The user corrects registry= in .npmrc, or starts it'], // our proxy's words
  [/\bE403\b|\b403 Forbidden/, 'refuses this package to this user (403). The user asks whoever runs the registry, or sets another login in .npmrc'],
  [/\bE429\b|\b429 Too Many/, 'takes no more requests for now (429). Try again later'],
  [/\bE(5\d\d)\b|\b(5\d\d) (?:Internal|Bad|Service|Gateway)/, 'fails (STATUS). Try again later, or the user names another registry in .npmrc'],
  [/\bENOTFOUND\b|\bEAI_AGAIN\b/, 'is unknown: its name has no address. The user corrects registry= in .npmrc'],
  [/\bECONNREFUSED\b|\bETIMEDOUT\b|\bERR_SOCKET_TIMEOUT\b/, 'is not reached. The user corrects registry= in .npmrc, or starts it'],
  [/Unexpected token '?<|invalid json response body/i, 'answered with a web page instead of a package, perhaps that of a login. The user corrects registry= in .npmrc'],
];

const registries = []; // hosts with ports, of the user's configuration

// Host and port that npm asked, if it names them.
function hostIn(said) {
  return /https?:\/\/(?:[^/\s@]*@)?([\w.-]+(?::\d+)?)\//.exec(said)?.[1];
}

function answered(said) {
  const host = hostIn(said);
  if (host !== undefined && !registries.includes(host) && /\b403\b/.test(said)) {
    return `The registry leads to ${host}, which is none of the user's registries. The user can allow it: PTYCELL_INSTALL_HOSTS=${host}.`;
  }
  const asked = host ?? ([...new Set(registries)].join(' or ') || 'of npm');
  for (const [pattern, text] of ANSWERS) {
    const found = pattern.exec(said);
    if (found !== null) return `The registry ${asked} ${text.replace('STATUS', found[1] ?? found[2])}.`;
  }
  return undefined;
}

// npm names the package by the URL of its file, or not at all.
function changed(said) {
  if (!/\bEINTEGRITY\b/.test(said)) return undefined;
  const file = /https?:\/\/\S+\/([^/\s]+\.tgz)/.exec(said)?.[1];
  return `The registry has another file than package-lock.json says${file ? ` for ${quote(file)}` : ''}: the hashes differ. Nothing was installed. ` +
    'Write the lock file again if the package may have changed.';
}

const PEERS = 'Ask for versions whose peer dependencies fit together; --force and --legacy-peer-deps change nothing here.';

function explain(said) {
  const other = changed(said);
  if (other !== undefined) return other;
  const sentence = answered(said);
  if (sentence !== undefined) return sentence;
  const errors = said.split(/^npm (?:error|ERR!) Clean install a project$/m)[0].split('\n').filter((line) => /^npm (error|ERR!)/.test(line) && !/complete log|full report|\.log$|-report\.txt$/.test(line));
  const text = errors.map((line) => line.replace(/^npm (error|ERR!) ?/, '').trimEnd()).filter(Boolean).join('\n')
    .replace(/Fix the upstream dependency conflict, or retry\s[^]*?dependency resolution\./, PEERS).slice(-TAIL);
  const more = /tunneling socket/.test(said)
    ? '\nThe installer reaches only the registry of the user\'s npm configuration; hosts that it leads to besides go into PTYCELL_INSTALL_HOSTS.' : '';
  return `npm could not install it:\n${text || said.trim().slice(-TAIL)}${more}`;
}

// ---- what was asked for ----

const NAME = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

function quote(text) {
  const clean = text.replace(/[^\x20-\x7e\u00a1-\uffff]+/g, ' ').trim();
  return `'${clean.length > 80 ? clean.slice(0, 77) + '...' : clean}'`;
}

// Behind a request: npm does without the package where there is none for this system, or at all (--optional); a version
// that the session has and that is in the range stays (--kept).
const OPTIONS = /(?:\s+--(?:optional|kept))+$/;

// NAME, NAME@RANGE or NAME@TAG: whatever else npm takes leads elsewhere than to the registry.
function parse(text) {
  const [options] = OPTIONS.exec(text.trim()) ?? [''];
  const spec = text.trim().replace(OPTIONS, '');
  const at = spec.indexOf('@', 1);
  const name = at > 0 ? spec.slice(0, at) : spec;
  const range = at > 0 ? spec.slice(at + 1) : '';
  if (spec.startsWith('-')) throw new Refusal(`${quote(spec)} is an option, and none is taken here; where packages come from is the user's to set.`);
  const [, own] = /^npm:((?:@[^@/:]+\/)?[^@/:]+(?:@[^@/:]*)?)$/.exec(range) ?? [];
  if (NAME.test(name) && own !== undefined) {
    throw new Refusal(`${quote(spec)} gives a package another name, which is not supported. Request ${quote(own)}, and require it by that package's own name.`);
  }
  if (/^[./~]/.test(spec) || /[:\\]|\.tgz$|\.tar\.gz$/.test(spec) || (range === '' && /^[^@].*\//.test(spec))) {
    throw new Refusal(`${quote(spec)} is a path or a URL; packages come from the registry only, by name.`);
  }
  if (!NAME.test(name) || !/^[\w.*^~<>=| +-]*$/.test(range)) {
    throw new Refusal(`${quote(spec)} is no package; write NAME, NAME@VERSION or NAME@RANGE.`);
  }
  return { name, optional: options.includes('--optional'), kept: options.includes('--kept'), spec: range === '' ? name : `${name}@${range}` };
}

// Later ones of the same name replace earlier ones, but for a name alone: it does not lift an earlier range.
function parseAll(texts) {
  const wanted = new Map();
  for (const text of texts) {
    const { name, optional, spec } = parse(text);
    wanted.set(name, { name, optional, spec: spec !== name || !wanted.has(name) ? spec : wanted.get(name).spec });
  }
  return wanted;
}

// The same, with the versions that the session has: they stay, unless a range is asked for now. A lock file counts more.
function pinned(wanted, request) {
  const have = new Map(request.have.map(({ name, version }) => [name, version]));
  const isKept = ({ name, kept, spec }) => kept && request.locked.length === 0 && have.has(name) && ofNpm('semver').satisfies(have.get(name), spec.slice(name.length + 1));
  const changed = new Set(request.asked.map(parse).filter((row) => row.spec !== row.name && !isKept(row)).map(({ name }) => name));
  return [...wanted.values()].map((row) => (have.has(row.name) && !changed.has(row.name) ? { ...row, spec: `${row.name}@${have.get(row.name)}` } : row));
}

// A line of the lock file of a session's project: the name with those of the packages in which it lies before it
// (`outer>inner`), the version and its hash. Where it comes from is the registry's to say. A package that lies under
// another name than its own has that one behind it (`inner@npm:own`).
const HASH = /^sha(?:1|256|384|512)-[A-Za-z0-9+/]+=*$/;

function parseLocked(text) {
  const [spec, hash, ...more] = text.split(' ');
  const at = spec.lastIndexOf('@');
  const [places, own] = spec.slice(0, Math.max(at, 0)).split('@npm:');
  const names = places.split('>');
  const version = spec.slice(at + 1);
  if (![...names, own ?? names[0]].every((name) => NAME.test(name)) || !/^\d[\w.+-]*$/.test(version) || !(hash === undefined || HASH.test(hash)) || more.length > 0) {
    throw new Refusal(`${quote(text)} is no line of a lock file.`);
  }
  return { names, name: names.at(-1), own, version, hash };
}

// Writes a lock file in its oldest form: for this one, npm asks the registry for all that it does not say. It has no hashes:
// of a package with another one npm would read nothing, and leave out what that package needs.
function writeLocked(locked) {
  const root = { lockfileVersion: 1, dependencies: Object.create(null) };
  for (const { names, own, version } of locked) {
    let row = root;
    for (const name of names) {
      row.dependencies ??= Object.create(null);
      row = row.dependencies[name] ??= {};
    }
    Object.assign(row, { version: own === undefined ? version : `npm:${own}@${version}` });
  }
  fs.writeFileSync('package-lock.json', JSON.stringify(root));
}

// What npm made of it has each version, and gets each hash: `npm ci` then checks it.
function checkLocked(locked) {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const rows = new Map(Object.entries(lock.packages).map(([place, item]) => [`${place.slice(place.lastIndexOf('node_modules/') + 13)}@${item.version}`, item]));
  for (const { name, own, version, hash } of locked) {
    const row = rows.get(`${name}@${version}`);
    if (row === undefined || (row.name ?? name) !== (own ?? name)) {
      throw new Refusal(`package-lock.json has ${name} ${version}, which does not go together with package.json and with what this session asked for before. ` +
        'Write the lock file again with npm install, take the other package away with npm uninstall NAME, or use a new session.');
    }
    if (hash !== undefined) row.integrity = hash;
  }
  fs.writeFileSync('package-lock.json', JSON.stringify(lock));
}

// Writes the lock file of these requests. Where a project's lock file holds, npm leaves what it has; a request that npm
// gets by its name would be looked for anew.
function lock(wanted, locked, policy) {
  const project = { name: 'session', version: '1.0.0', private: true };
  const ranges = (rows) => Object.fromEntries(rows.map(({ name, spec }) => [name, spec.slice(name.length + 1) || '*']));
  const needed = wanted.filter((row) => !row.optional);
  const optionalDependencies = ranges(wanted.filter((row) => row.optional));
  fs.writeFileSync('package.json', JSON.stringify({ ...project, dependencies: locked.length > 0 ? ranges(needed) : {}, optionalDependencies }));
  fs.rmSync('package-lock.json', { force: true });
  if (locked.length > 0) writeLocked(locked);
  const moment = latest(policy);
  npm('install', '--package-lock-only', '--ignore-scripts', ...(moment ? ['--before', moment.toISOString()] : []),
    ...(locked.length > 0 ? [] : needed.map(({ spec }) => spec)));
  dropOptional();
  checkLocked(locked);
}

// Whether npm found a package for the one that lies at a place, where Node looks for it.
function isFound(rows, place, name) {
  if (rows[`${place === '' ? '' : `${place}/`}node_modules/${name}`] !== undefined) return true;
  return place !== '' && isFound(rows, place.slice(0, Math.max(place.lastIndexOf('/node_modules/'), 0)), name);
}

// `npm ci` wants all that the lock file names, also optional packages that npm did not find.
function dropOptional() {
  const found = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const project = JSON.parse(fs.readFileSync('package.json', 'utf8'));
  for (const [place, row] of Object.entries(found.packages)) {
    for (const name of Object.keys(row.optionalDependencies ?? {}).filter((one) => !isFound(found.packages, place, one))) {
      delete row.optionalDependencies[name];
      if (place === '') delete project.optionalDependencies?.[name];
    }
  }
  fs.writeFileSync('package.json', JSON.stringify(project));
  fs.writeFileSync('package-lock.json', JSON.stringify(found));
}

// Resolves into the lock file: with the versions that the session has if that is possible, else without.
function resolve(wanted, request) {
  const locked = request.locked.map(parseLocked);
  try {
    lock(pinned(wanted, request), locked, request.policy);
  } catch (error) {
    if (!(error instanceof Refusal) || request.have.length === 0) throw error;
    lock([...wanted.values()], locked, request.policy);
  }
}

// ---- the policy ----

// Names differ by case for the registry. A rule that forbids means all of them, one that allows means its own.
function normal(name) {
  return name.toLowerCase();
}

function same(name) {
  return name;
}

function matches(name, entries, form) {
  return entries.find((entry) => (entry.endsWith('*') ? form(name).startsWith(form(entry.slice(0, -1))) : form(entry) === form(name)));
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
  const entry = matches(row.name, policy.block, normal);
  if (entry !== undefined) return ['block', `is on the block list (javascript.block has ${quote(entry)})`];
  if (policy.allow.length > 0 && matches(row.name, policy.allow, same) === undefined) return ['allow', 'is not on the allow list (javascript.allow)'];
  const least = Object.entries(policy.minimum).find(([key]) => normal(key) === normal(row.name));
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

// ---- the age of releases ----

const PAGES_AT_ONCE = 8;
const UNITS = { h: 3600e3, d: 86400e3, w: 7 * 86400e3 };

// When a release must have been there, by the policy's "7d", "12h" or "2w", which the server has checked; undefined for none.
function latest(policy) {
  const found = /^(\d+)([hdw])$/.exec(policy.minimum_age ?? '');
  return found ? new Date(Date.now() - found[1] * UNITS[found[2]]) : undefined;
}

// npm's own modules: they read the registry's pages as npm does, and choose from one.
function ofNpm(name) {
  return require(require.resolve(name, { paths: [npmPath()] }));
}

// Looks at what the registry has of each name, with the times of its releases. npm has it in its cache already. A page may have
// many megabytes, and a tree hundreds of packages: few pages are held at once.
async function eachPage(names, request, look) {
  const { packument } = ofNpm('pacote');
  const proxy = request.proxied ? { proxy: PROXY, httpsProxy: PROXY, noProxy: '' } : {};
  const ca = fs.readFileSync(AUTHORITIES, 'utf8').trim();
  const options = { ...optionsOf(request), ...proxy, ...(ca ? { ca } : {}), cache: path.resolve('cache/_cacache'), fullMetadata: true,
    preferOffline: true };
  keepLogins(placesOf(options));
  const read = async (name) => look(name, await packument(name, options).catch((error) => {
    throw new Refusal(explain(`npm error code ${error.code}\nnpm error ${error.message}`));
  }));
  const found = [];
  for (let n = 0; n < names.length; n += PAGES_AT_ONCE) found.push(...await Promise.all(names.slice(n, n + PAGES_AT_ONCE).map(read)));
  return found;
}

function ageText(ms) {
  const [unit, length] = [['days', 86400e3], ['hours', 3600e3], ['minutes', 60e3]].find((row) => ms >= 2 * row[1]) ?? ['s', 1e3];
  return `${Math.max(0, Math.floor(ms / length))} ${unit}`;
}

function whyYoung(page, version, request) {
  return `version ${version} is ${ageText(Date.now() - Date.parse(page.time[version]))} old, and javascript.minimum_age wants ` +
    `${request.policy.minimum_age}. No older one satisfies the request. The user can change it in ${request.policy_path}.`;
}

// The version that npm takes where no age is wanted, or undefined.
function choice(page, range) {
  try {
    return ofNpm('npm-pick-manifest')(page, range || 'latest').version;
  } catch {
    return undefined; // there is none, or the range is another package's name
  }
}

// Why releases of a page may not be installed: they are too young, or may be. Undefined if they may.
function whyRefused(name, page, versions, request) {
  for (const version of versions) {
    const time = Date.parse(page.time?.[version]);
    if (Number.isNaN(time)) {
      return `The registry does not tell when ${name} ${version} was published, and ` +
        `javascript.minimum_age wants it to be ${request.policy.minimum_age} old. The user can change it in ${request.policy_path}.`;
    }
    if (time > latest(request.policy)) return `${name}: ${whyYoung(page, version, request)}`;
  }
  return undefined;
}

// Refuses what is too young, or may be. Returns a sentence for each package of which a newer release was too young.
async function judgeAges(rows, wanted, request) {
  const moment = latest(request.policy);
  if (moment === undefined) return [];
  const own = rows.filter((row) => !row.bundled); // others came as files of a release that is judged
  const newest = (versions) => versions.filter(Boolean).sort(compare).at(-1);
  const judged = await eachPage([...new Set(own.map(({ name }) => name))], request, (name, page) => {
    const versions = own.filter((row) => row.name === name).map(({ version }) => version);
    const refused = whyRefused(name, page, versions, request);
    if (refused !== undefined) return { refused };
    const ranges = [...own.map(({ requires }) => requires[name]), wanted.get(name)?.spec.slice(name.length + 1)];
    const taken = newest(versions);
    const other = newest(ranges.filter((range) => range !== undefined).map((range) => choice(page, range)));
    const young = other !== undefined && compare(other, taken) > 0 && Date.parse(page.time[other]) > moment;
    return { note: young ? `${name} ${other} is not yet ${request.policy.minimum_age} old (javascript.minimum_age): ${taken} was taken.` : undefined };
  });
  const first = judged.find(({ refused }) => refused !== undefined);
  if (first !== undefined) throw new Refusal(`Nothing was installed. ${first.refused}`);
  return judged.map(({ note }) => note).filter(Boolean);
}

// npm finds no version that is old enough: says which one is too young, if that is why.
async function explainYoung(error, request) {
  const found = /No (?:matching version found|versions available) for ((?:@[^/\s]+\/)?[^@\s]+)(?:@(.*?) with a date before)?/.exec(error.message);
  if (found === null || latest(request.policy) === undefined) return error;
  const [, name, range] = found;
  const [why] = await eachPage([name], request, (_, page) => {
    const version = choice(page, range);
    return version === undefined ? undefined : whyYoung(page, version, request);
  });
  return why === undefined ? error : new Refusal(`Nothing was installed. ${name}${range && range !== '*' ? `@${range}` : ''}: ${why}`);
}

// Whether a list of package.json ("os", "cpu") has this system: "!win32" excludes one.
function lists(entries, value) {
  const words = [entries ?? []].flat();
  const wanted = words.filter((word) => !word.startsWith('!'));
  return !words.includes(`!${value}`) && (wanted.length === 0 || wanted.includes(value) || wanted.includes('any'));
}

// Every package of the lock file that is for this system, by the place where it will lie.
function lockRows() {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  return Object.entries(lock.packages).filter(([place, item]) => place !== ''
    && lists(item.os, process.platform) && lists(item.cpu, process.arch)).map(([place, item]) => {
    const name = item.name || place.slice(place.lastIndexOf('node_modules/') + 13);
    if (item.link || !/^https?:/.test(item.resolved || 'https:') || !item.version) {
      throw new Refusal(`${quote(name)} does not come from the registry; it was not installed.`);
    }
    return { place, name, version: item.version, requires: { ...item.dependencies, ...item.optionalDependencies },
      file: item.resolved ? path.basename(new URL(item.resolved).pathname) : undefined, hash: item.integrity, bundled: item.inBundle === true };
  });
}

// A sentence for the optional packages that are not there.
function leftOut(wanted, rows) {
  const places = new Set(rows.map(({ place }) => place));
  const names = [...wanted.values()].filter(({ name, optional }) => optional && !places.has(`node_modules/${name}`)).map(({ name }) => name);
  return names.length === 0 ? [] : [`Left out, as optional packages that the registry does not have for this system: ${names.slice(0, 8).join(', ')}.`];
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

// Sets of packages have no links: each of npm's in .bin becomes a script that starts the program.
function writePrograms() {
  const folder = 'site/node_modules/.bin';
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const file = `${folder}/${name}`;
    const target = fs.lstatSync(file).isSymbolicLink() ? fs.readlinkSync(file) : '';
    if (!/^\.\.\/[\w@.+/-]+$/.test(target)) continue; // none that npm makes
    fs.rmSync(file);
    fs.writeFileSync(file, `#!/bin/sh\nexec "\${0%/*}/${target}" "$@"\n`, { mode: 0o755 });
  }
}

// ---- steps ----

const steps = {
  where(request) {
    writeConfiguration({ ...request, indexes: [], proxied: false });
    return { url: npm('config', 'get', 'registry').trim(), hosts: [] };
  },

  // Whether npm works and its registry answers, for the user; it need not have what is asked for.
  check(request) {
    writeConfiguration(request);
    const tool = `npm ${npm('--version').trim()}`;
    try {
      npm('view', 'npm', 'version', '--fetch-retries=0', '--fetch-timeout=15000');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!/\bE404\b/.test(error.message)) throw new Refusal(`npm does not get through: ${error.message.replace('npm could not install it:\n', '')}`);
    }
    return { tool };
  },

  async fetch(request) {
    const wanted = parseAll(request.packages);
    judge([...wanted.keys()].map((name) => ({ name })), request);
    writeConfiguration(request);
    try {
      resolve(wanted, request);
    } catch (error) {
      throw await explainYoung(error, request);
    }
    const rows = lockRows();
    judge(rows, request);
    const young = await judgeAges(rows, wanted, request);
    npm('ci', '--ignore-scripts');
    return { files: rows.map(({ place, version, hash }) => ({ file: `${place}@${version}`, sha256: hash || digest(place) })), present: [],
      notes: [...leftOut(wanted, rows), ...young.slice(0, NOTES_MAX)] };
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
    const build = request.builds && found.some((row) => row.builds);
    if (!build) writePrograms();
    const top = rows.filter((row) => row.place.lastIndexOf('node_modules/') === 0);
    return { packages: top.map(({ place, name, version, file }) => ({ name, version, file, modules: [place.slice(13)] })), build };
  },

  build() {
    writeConfiguration({ options: {}, indexes: [], proxied: false });
    try {
      npmIn('site', 'rebuild');
    } catch (error) {
      throw error instanceof Refusal ? new Refusal(`${error.message}\nScripts of packages run without network.`) : error;
    }
    writePrograms();
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

async function answer(request) {
  for (const folder of ['tmp', 'cache']) fs.mkdirSync(folder, { recursive: true });
  try {
    return { ok: true, ...(await steps[request.step](request)) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, text: error.message };
    throw error;
  }
}

answer(readOrder()).then((reply) => fs.writeSync(CHANNEL, `${JSON.stringify(reply)}\n`));
