// SPDX-License-Identifier: MIT
// npm, npx, yarn and pnpm of a session: what brings packages is asked for from the server, because a session has no
// network. What only looks at packages is the program's own, and so is what installs from the session's files.
// A script puts the program's name before its words.
'use strict';

const crypto = require('crypto');
const fs = require('fs');
const path = require('path');
const { spawnSync } = require('child_process');

const HERE = __dirname; // the folder `ask` of the packages
const PROGRAMS = `${HERE}/bin`;
const PACKAGES = path.join(HERE, '../javascript/node_modules');
const PIPES = `${HERE}/data/.cache/ask`;

const REQUEST_MAX = 1 << 20; // of the server
const OPTIONAL = ' --optional'; // behind a name with its range, for the server
const KEPT = ' --kept'; // so does this: what the session has and is in the range stays

const FOLDERS = ['--prefix', '-C', '--cwd', '--dir'];

const VALUED = new Set([...FOLDERS, '--loglevel', '--registry', '--tag', '--cache', '--fetch-timeout', '--fetch-retries', '-w',
  '--workspace', '--filter', '-F', '--network-timeout', '--reporter', '--omit', '--include']);

class Refusal extends Error {}

// ---- the server ----

// Asks the server and returns its answer, an object.
function ask(command, packages, locked) {
  const request = `${JSON.stringify({ language: 'javascript', command, packages, locked })}\n`;
  if (Buffer.byteLength(request) > REQUEST_MAX) throw new Refusal('These are too many packages at once.');
  const name = `${PIPES}/${crypto.randomBytes(8).toString('hex')}`;
  const names = [`${name}.request`, `${name}.answer`];
  try {
    fs.mkdirSync(PIPES, { recursive: true, mode: 0o700 });
    const made = spawnSync('mkfifo', names, { stdio: ['ignore', 'inherit', 'inherit'] });
    if (made.status !== 0) throw new Refusal('The server is not reached: mkfifo does not work here.');
    const [asks, held] = names.map((one) => fs.openSync(one, 'r+')); // opened so, a pipe waits for no other end
    const told = fs.openSync(names[1], 'r');
    const bell = fs.openSync(`${HERE}/../bell/pipe`, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK);
    fs.writeSync(bell, `${path.basename(name)}\n`);
    return exchange({ asks, told, held }, request);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(`The server is not reached: ${error.message}.`);
  } finally {
    for (const one of names) fs.rmSync(one, { force: true });
  }
}

// An empty line says that the server has taken the request; its answer is the next line. From then on the server alone
// holds the other end of `told`, which ends with it.
function exchange(pipes, request) {
  const first = readLine(pipes.told);
  fs.closeSync(pipes.held);
  if (first !== '') return parse(first);
  fs.writeSync(pipes.asks, request);
  return parse(readLine(pipes.told));
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    throw new Refusal('The server ended the request without an answer.');
  }
}

function readLine(pipe) {
  const bytes = [];
  const one = Buffer.alloc(1);
  while (fs.readSync(pipe, one) === 1 && one[0] !== 10) bytes.push(one[0]);
  return Buffer.from(bytes).toString('utf8');
}

function bring(names, locked, out = process.stdout) {
  out.write(`Asking ptycell to install ${names.map((name) => name.replace(OPTIONAL, '').replace(KEPT, '')).join(' ')}.\n`);
  return tell(ask('install', names, locked), out);
}

function tell(answer, out = process.stdout) {
  (answer.ok ? out : process.stderr).write(`${answer.text}\n`);
  return answer.ok ? 0 : 1;
}

// ---- the programs themselves ----

function find(name, folders) {
  return folders.map((folder) => path.join(folder, name)).find((file) => {
    try {
      fs.accessSync(file, fs.constants.X_OK);
      return fs.statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

function folders() {
  return (process.env.PATH ?? '').split(':').filter((folder) => folder !== '' && path.resolve(folder) !== PROGRAMS);
}

function run(file, words, more) {
  const done = spawnSync(file, words, { stdio: 'inherit', env: { ...process.env, ...more } });
  if (done.error) throw new Refusal(`${file} could not be started: ${done.error.message}.`);
  if (done.signal) process.kill(process.pid, done.signal);
  return done.status ?? 1;
}

function own(name, words, more) {
  const file = find(name, folders());
  if (file === undefined) throw new Refusal(`${name} is not installed here; npm install NAME asks the server for packages.`);
  return run(file, words, { PATH: folders().join(':'), ...more });
}

// ---- words ----

function isFile(word) {
  return /^(?:[./~]|file:)/.test(word) || (/\.(?:tgz|tar\.gz)$/.test(word) && fs.existsSync(word));
}

// What is no option: NAME, NAME@RANGE, and paths.
function plain(words) {
  return words.filter((word, at) => !word.startsWith('-') && !VALUED.has(words[at - 1]));
}

function readJson(file) {
  try {
    const found = JSON.parse(fs.readFileSync(file, 'utf8').replace(/^\ufeff/, ''));
    if (found !== null && typeof found === 'object' && !Array.isArray(found)) return found;
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${error.message}.`);
  }
  throw new Refusal(`${file} has no object.`);
}

// The value of the last of these options, or undefined.
function valueOf(words, options) {
  const at = words.findLastIndex((word) => options.includes(word.split('=')[0]));
  return at < 0 ? undefined : /=(.*)/.exec(words[at])?.[1] ?? words[at + 1];
}

// Goes to the project's folder.
function enter(words) {
  const folder = valueOf(words, FOLDERS);
  try {
    if (folder !== undefined) process.chdir(folder);
  } catch (error) {
    throw new Refusal(`${folder} is no folder of a project: ${error.code}.`);
  }
}

// Says what of the words does not hold here.
function warn(words) {
  const registry = valueOf(words, ['--registry']) ?? process.env.npm_config_registry;
  if (registry) process.stderr.write(`npm warn ${registry} is not used: which registry is asked is the user's to set, with registry= in .npmrc.\n`);
}

function manifest() {
  for (let folder = process.cwd(); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (fs.existsSync(file)) return { ...readJson(file), folder };
    if (folder === path.dirname(folder)) throw new Refusal('There is no package.json in this folder: npm install NAME... asks for packages by name.');
  }
}

function rangesOf(told, production) {
  return { ...peers(told), ...(production ? {} : told.devDependencies), ...told.dependencies, ...told.optionalDependencies };
}

function leadsElsewhere(range) {
  return /[:/]/.test(range);
}

function whyNot(range) {
  return range.startsWith('npm:') ? `gives a package another name, which is not supported; run npm install ${range.slice(4)}` : 'leads elsewhere than to the registry';
}

function peers(told) {
  return Object.fromEntries(Object.entries(told.peerDependencies ?? {}).filter(([name]) => !told.peerDependenciesMeta?.[name]?.optional));
}

// The ranges of package.json. What comes from elsewhere than the registry does not cross.
function dependencies(production) {
  const names = [];
  const told = manifest();
  if (told.workspaces !== undefined) process.stderr.write('npm warn Workspaces are not looked at: run npm install in the folder of each.\n');
  if (told.overrides ?? told.resolutions ?? told.pnpm?.overrides) process.stderr.write('npm warn Overrides are not used: what a package needs comes as that package asks for it.\n');
  for (const [name, range] of Object.entries(rangesOf(told, production))) {
    if (leadsElsewhere(range)) process.stderr.write(`npm warn ${name} is not asked for: '${range}' ${whyNot(range)}.\n`);
    else if (told.optionalDependencies?.[name] !== undefined) names.push(`${name}@${range || '*'}${OPTIONAL}${KEPT}`);
    else names.push(range === '' || range === '*' ? name : `${name}@${range}${KEPT}`);
  }
  return names;
}

// ---- package.json of what is asked for by name ----

const SECTIONS = {
  devDependencies: ['-D', '--save-dev', '--dev'],
  optionalDependencies: ['-O', '--save-optional', '--optional'],
  dependencies: ['-P', '--save-prod', '-S', '--save'],
  peerDependencies: ['--save-peer', '--peer'],
};

// In which sections npm leaves no second entry of a package.
const REPLACED = {
  devDependencies: ['dependencies'],
  optionalDependencies: ['dependencies', 'peerDependencies'],
  dependencies: ['devDependencies', 'optionalDependencies', 'peerDependencies'],
  peerDependencies: ['dependencies', 'optionalDependencies'],
};

function isUnsaved(words) {
  return words.some((word) => ['--no-save', '--save=false', '-g', '--global', '--location=global'].includes(word));
}

// The package.json of the project, as npm finds it: in the folder or above, up to one with packages.
function projectFile(words) {
  for (let folder = path.resolve(valueOf(words, FOLDERS) ?? '.'); ; folder = path.dirname(folder)) {
    const file = path.join(folder, 'package.json');
    if (fs.existsSync(file)) return file;
    if (folder === path.dirname(folder) || fs.existsSync(path.join(folder, 'node_modules'))) return undefined;
  }
}

// Changes package.json, and leaves its indentation and the order of its entries.
function rewrite(file, change) {
  const told = readJson(file);
  change(told);
  for (const section of Object.keys(SECTIONS).filter((one) => told[one] !== undefined)) {
    const rows = Object.entries(told[section]).sort(([a], [b]) => a.localeCompare(b, 'en'));
    if (rows.length > 0) told[section] = Object.fromEntries(rows);
    else delete told[section];
  }
  const [, end, indent] = /^\ufeff?\s*\{(\r?\n)\n*([ \t]*)/.exec(fs.readFileSync(file, 'utf8')) ?? [undefined, '\n', '  '];
  try {
    fs.writeFileSync(file, `${JSON.stringify(told, null, indent)}\n`.replace(/\n/g, end));
  } catch (error) {
    throw new Refusal(`${file} could not be written: ${error.message}.`);
  }
}

// The range that npm writes: one of later versions too, unless a range was asked for that would not allow all of these.
function rangeToSave(asked, version, exact) {
  if (exact) return version;
  const isNarrower = /^[~<]|[ |]|^>(?!=)|^[v=]*\d+\.\d+(?:\.[xX*])?$/.test(asked);
  return isNarrower ? asked : `^${version}`;
}

// Writes what came into package.json, if there is one.
function save(specs, words) {
  const file = isUnsaved(words) ? undefined : projectFile(words);
  if (file === undefined) return 0;
  const exact = words.some((word) => ['-E', '--save-exact', '--exact'].includes(word));
  const chosen = Object.keys(SECTIONS).findLast((section) => words.some((word) => SECTIONS[section].includes(word)));
  const came = new Map(topLevel(PACKAGES).map(({ name, version }) => [name, version]));
  const rows = specs.filter((spec) => came.has(nameOf(spec))).map((spec) => [nameOf(spec), rangeToSave(spec.slice(nameOf(spec).length + 1), came.get(nameOf(spec)), exact)]);
  rewrite(file, (told) => {
    for (const [name, range] of rows) {
      const section = chosen ?? Object.keys(SECTIONS).find((one) => told[one]?.[name] !== undefined) ?? 'dependencies';
      drop(told, name, REPLACED[section]);
      (told[section] ??= {})[name] = range;
    }
  });
  process.stdout.write(`Written to ${path.relative('.', file)}: ${rows.map((row) => row.join(' ')).join(', ')}.\n`);
  return 0;
}

function drop(told, name, sections) {
  for (const section of sections) delete told[section]?.[name];
}

function forget(specs, words) {
  const file = projectFile(words);
  const names = specs.map(nameOf);
  const told = file === undefined ? {} : readJson(file);
  const named = names.filter((name) => Object.keys(SECTIONS).some((section) => told[section]?.[name] !== undefined));
  if (named.length === 0) return;
  rewrite(file, (now) => named.forEach((name) => drop(now, name, Object.keys(SECTIONS))));
  process.stdout.write(`Taken out of ${path.relative('.', file)}: ${named.join(', ')}.\n`);
}

// ---- lock files ----

// The lock file beside package.json.
function readLock() {
  const { folder } = manifest();
  const file = ['npm-shrinkwrap.json', 'package-lock.json'].find((name) => fs.existsSync(path.join(folder, name)));
  return file === undefined ? undefined : { ...readJson(path.join(folder, file)), file };
}

// Why the lock file is none of this package.json, or undefined. The oldest form has no ranges.
function misfit(found) {
  const wanted = rangesOf(manifest(), false);
  const root = found.packages?.[''];
  const locked = root === undefined ? undefined : rangesOf(root, false);
  const missing = Object.keys(wanted).find((name) => !leadsElsewhere(wanted[name]) && found.packages?.[`node_modules/${name}`] === undefined && found.dependencies?.[name] === undefined);
  if (missing !== undefined) return `it has no ${missing}`;
  const changed = locked && [...Object.keys(wanted), ...Object.keys(locked)].find((name) => wanted[name] !== locked[name]);
  return changed && `${changed} is '${wanted[changed] ?? ''}' in package.json and '${locked[changed] ?? ''}' in the lock file`;
}

// [names, row] of each package of a lock file; `names` are those of the packages in which it lies, and its own.
function* rowsOf(found) {
  if (found.packages === undefined) {
    yield* oldRowsOf(found.dependencies, []);
    return;
  }
  for (const [place, row] of Object.entries(found.packages)) {
    const names = place.split(/(?:^|\/)node_modules\//);
    if (place !== '' && names.shift() === '') yield [names, row];
  }
}

function* oldRowsOf(rows, above) {
  for (const [name, row] of Object.entries(rows ?? {})) {
    yield [[...above, name], { ...row, resolved: /^(?!npm:).*[:/]/.test(row.version) ? row.version : row.resolved, inBundle: row.bundled }];
    yield* oldRowsOf(row.dependencies, [...above, name]);
  }
}

const STRENGTH = ['sha512', 'sha384', 'sha256', 'sha1'];

function strongest(integrity) {
  const hashes = (integrity ?? '').split(/\s+/);
  return STRENGTH.map((kind) => hashes.find((hash) => hash.startsWith(`${kind}-`))).find(Boolean);
}

// The registry's name of a package that lies under another one, or undefined. The oldest form has it before the version.
function ownName(row) {
  const found = /^npm:(.+)@[^@]+$/.exec(row.version ?? '');
  return found === null ? row.name : found[1];
}

// What crosses of a lock file: names, versions and hashes. A package from elsewhere than the registry, or one that
// package.json wants under another name than its own, stays out with all that lies in it.
function linesOf(found, production) {
  const lines = [];
  const out = [];
  const elsewhere = new Set(Object.entries(rangesOf(manifest(), false)).filter(([, range]) => leadsElsewhere(range)).map(([name]) => name));
  for (const [names, row] of rowsOf(found)) {
    const place = names.join('>');
    if (out.some((outer) => place.startsWith(`${outer}>`)) || row.inBundle || (production && row.dev)) continue;
    const own = ownName(row) ?? names.at(-1);
    const known = own === names.at(-1) ? place : `${place}@npm:${own}`;
    if (row.link || !/^(?:https?:|$)/.test(row.resolved ?? '') || elsewhere.has(place)) out.push(place);
    else lines.push([`${known}@${row.version?.replace(/^npm:.*@/, '')}`, strongest(row.integrity)].filter(Boolean).join(' '));
  }
  return lines;
}

// ---- commands ----

const PRODUCTION = ['--production', '--prod', '-P', '--omit=dev', '--only=production', '--only=prod'];

function isProduction(words) {
  if (words.some((word, at) => PRODUCTION.includes(word) || (word === 'dev' && words[at - 1] === '--omit'))) return true;
  return process.env.NODE_ENV === 'production' && !words.some((word) => ['--include=dev', '--production=false'].includes(word));
}

function install(words, name) {
  const wanted = plain(words);
  if (wanted.some(isFile)) return own(name, ['install', ...words], { npm_config_offline: 'true', npm_config_audit: 'false' });
  warn(words);
  if (wanted.length > 0) return bring(wanted) || save(wanted, words);
  enter(words);
  return installProject(words, fitting);
}

// Asks for what package.json names. `lines` returns those of the lock file.
function installProject(words, lines) {
  const production = isProduction(words);
  const asked = dependencies(production);
  if (asked.length > 0) return bring(asked, lines(production));
  process.stdout.write('package.json names no dependencies.\n');
  return 0;
}

// The lines of the lock file for `npm install`, which does without one.
function fitting(production) {
  const found = readLock();
  if (found === undefined) return undefined;
  const why = misfit(found);
  if (why === undefined) return linesOf(found, production);
  process.stderr.write(`npm warn ${found.file} does not fit package.json (${why}); its versions are not used.\n`);
  return undefined;
}

// `npm ci`: what the lock file has, or nothing.
function cleanInstall(words) {
  warn(words);
  enter(words);
  const found = readLock();
  if (found === undefined) throw new Refusal('npm ci needs package-lock.json or npm-shrinkwrap.json beside package.json; npm install does without.');
  const why = misfit(found);
  if (why !== undefined) throw new Refusal(`${found.file} does not fit package.json: ${why}. npm install takes the ranges of package.json instead.`);
  return installProject(words, (production) => linesOf(found, production));
}

function uninstall(words) {
  const names = plain(words);
  if (names.length === 0) throw new Refusal('Name the packages to uninstall.');
  const answer = ask('uninstall', names);
  const status = tell(answer);
  if ((answer.ok || answer.code === 'not_found') && !isUnsaved(words)) forget(names, words);
  return status;
}

// The packages that the server brought for this session.
function list(words, name) {
  if (fs.existsSync('node_modules')) return own(name, ['ls', ...words]);
  const wanted = plain(words);
  const found = topLevel(PACKAGES).filter((one) => wanted.length === 0 || wanted.includes(one.name));
  process.stdout.write(written(found, words));
  return found.length > 0 || wanted.length === 0 ? 0 : 1;
}

function written(found, words) {
  if (words.includes('--json')) return `${JSON.stringify({ dependencies: Object.fromEntries(found.map(({ name, version }) => [name, { version }])) }, null, 2)}\n`;
  if (words.includes('--parseable') || words.includes('-p')) return found.map(({ name }) => `${PACKAGES}/${name}\n`).join('');
  const rows = found.map((one, at) => `${at === found.length - 1 ? '`' : '+'}-- ${one.name}@${one.version}\n`);
  return `${PACKAGES}\n${rows.join('') || '`-- (empty)\n'}`;
}

function topLevel(folder) {
  const names = fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => !name.startsWith('.')) : [];
  return names.flatMap((name) => (name.startsWith('@') ? fs.readdirSync(`${folder}/${name}`).map((more) => `${name}/${more}`) : [name]))
    .filter((name) => fs.existsSync(`${folder}/${name}/package.json`))
    .map((name) => ({ name, version: JSON.parse(fs.readFileSync(`${folder}/${name}/package.json`, 'utf8')).version }));
}

// The programs of a package of the session, by name. A name in .bin would not say whose program it is.
function programsOf(name) {
  try {
    const { bin } = JSON.parse(fs.readFileSync(`${PACKAGES}/${name}/package.json`, 'utf8'));
    const programs = typeof bin === 'string' ? { [toolOf(name)]: bin } : bin ?? {};
    return Object.entries(programs).map(([tool, file]) => [tool, path.join(PACKAGES, name, file)]);
  } catch {
    return [];
  }
}

// The program: that of the project, of a package of the session, or of the machine.
function findTool(tool) {
  const ours = topLevel(PACKAGES).flatMap(({ name }) => programsOf(name)).find(([name]) => name === tool);
  return find(tool, [path.resolve('node_modules/.bin')]) ?? ours?.[1] ?? find(tool, folders());
}

// `npx [-y] [-p PACKAGE] [-c LINE] TOOL WORDS...`
function execute(words) {
  const packages = [];
  let at = 0;
  for (; at < words.length && words[at].startsWith('-') && words[at] !== '--'; at += 1) {
    if (['-p', '--package'].includes(words[at])) packages.push(words[at += 1]);
    else if (words[at].startsWith('--package=')) packages.push(words[at].slice(10));
    else if (['-c', '--call'].includes(words[at])) throw new Refusal('npx -c is not taken here: npm install NAME, then run the line.');
  }
  const [spec, ...rest] = words.slice(words[at] === '--' ? at + 1 : at);
  if (spec === undefined) throw new Refusal('Name the tool to run: npx TOOL WORDS...');
  const tool = packages.length > 0 ? spec : toolOf(spec);
  if (findTool(tool) === undefined || spec.indexOf('@', 1) > 0) {
    const status = bring(packages.length > 0 ? packages : [spec], undefined, process.stderr); // its output is the tool's
    if (status !== 0) return status;
  }
  const file = findTool(tool) ?? onlyTool(spec);
  if (file === undefined) throw new Refusal(`The package ${spec} has no program ${tool}.`);
  return run(file, rest, { PATH: `${process.env.PATH ?? ''}:${path.dirname(process.execPath)}` }); // its first line may name node
}

function nameOf(spec) {
  const at = spec.indexOf('@', 1);
  return at > 0 ? spec.slice(0, at) : spec;
}

// As npx: the program with the package's name, without its scope and version.
function toolOf(spec) {
  const name = nameOf(spec);
  return name.slice(name.lastIndexOf('/') + 1);
}

// The only program of a package, if it has one.
function onlyTool(spec) {
  const programs = programsOf(nameOf(spec));
  return programs.length === 1 ? programs[0][1] : undefined;
}

// The commands that npm itself would answer from an empty folder, or ask a registry for, and what there is instead: npm would
// say that all is well, or wait for a network.
const NOT_HERE = [
  [['update', 'up', 'upgrade', 'udpate'], 'npm install NAME@latest takes the newest version of a package'],
  [['outdated'], 'npm ls shows which versions are here, and npm install NAME@latest takes the newest version'],
  [['audit'], 'what is known against packages is asked of a registry, and the session has no network; npm ls shows which versions are here'],
  [['prune', 'dedupe', 'ddp', 'find-dupes'], 'npm ls shows what is here, and npm uninstall NAME takes a package away'],
  [['view', 'v', 'info', 'show', 'search', 'find', 'fund'], 'the session has no network; npm install NAME asks the server for a package'],
];

// Refuses a command that would look at none of the packages that the server brought.
function refuse(name, word) {
  const why = NOT_HERE.find(([words]) => words.includes(word))?.[1];
  if (why !== undefined && !fs.existsSync('node_modules')) throw new Refusal(`${name} ${word} is not offered here: ${why}.`);
}

function globalWords(words) {
  let at = 0;
  while (at < words.length && words[at].startsWith('-')) at += VALUED.has(words[at]) ? 2 : 1;
  return at;
}

const COMMANDS = {
  install: ['install', 'i', 'in', 'add', 'isntall'],
  cleanInstall: ['ci', 'clean-install', 'ic', 'install-clean', 'isntall-clean'],
  uninstall: ['uninstall', 'un', 'remove', 'rm', 'r', 'unlink'],
  list: ['ls', 'list', 'la', 'll'],
  execute: ['exec', 'x', 'dlx'],
};

function managed(name, words) {
  const at = globalWords(words);
  const word = words[at];
  const rest = [...words.slice(0, at), ...words.slice(at + 1)];
  if (COMMANDS.install.includes(word)) return install(rest, name);
  if (name === 'npm' && COMMANDS.cleanInstall.includes(word)) return cleanInstall(rest);
  if (COMMANDS.uninstall.includes(word)) return uninstall(rest);
  if (COMMANDS.list.includes(word)) return list(rest, name);
  if (COMMANDS.execute.includes(word)) return execute(name === 'npm' ? rest.filter((one, n) => n !== rest.indexOf('--')) : rest);
  if (name === 'yarn' && word === 'global' && rest.includes('add')) return install([...rest.filter((one) => one !== 'add'), '--global'], name);
  if (name === 'yarn' && word === undefined) return install([], name);
  refuse(name, word);
  return own(name, words);
}

try {
  const [name, ...words] = process.argv.slice(2);
  process.exitCode = name === 'npx' || name === 'pnpx' ? execute(words) : managed(name, words);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`npm error ${error.message}\n`);
  process.exitCode = 1;
}
