// SPDX-License-Identifier: MIT
// loader.mjs - sees and forgets what Node's ES loader has loaded.
//
// Node keeps each ES module for good, also one that failed, and has no call that forgets it. V8
// shows what a function of Node's sees: so the driver finds the loader's map of URLs to jobs. A
// record stands for each job. A Node that has the map elsewhere goes without: `esModules` stays
// undefined.

import {
  apply, forEach, isBuiltin, loadModule, noop, push, remove, then, tie, tiedTo, util,
} from './own.mjs';
import { cell } from './cells.mjs';
import { look, noteFile, noteImporter } from './changes.mjs';
import { IN_LOADER, post, privateOf, scopeOf } from './console.mjs';
import { placeRefusalFor } from './imports.mjs';
import { cache, fileOfUrl, isOfPackage } from './workspace.mjs';

export const recordOf = new WeakMap(); // of a job of Node's ES loader, which loads one module
export let records = []; // of all of its jobs
export let recordsMade = 0;
export let esModules; // the map of Node's ES loader: URL -> its jobs by their type
export let relativePaths; // Node's cache of relative names
export let realPaths; // and of links' targets
export let resolvedNames; // and of what import() was given
export let manifestTexts; // and of each package.json; undefined where Node keeps them out of reach
export let loaderSought = false;
export const EVALUATED = 4; // V8's Module::Status
const ERRORED = 5;

// Wraps the function of Node's ES loader that each import() calls.
function watchImports(loader) {
  const { import: importOf } = loader;
  const { set } = esModules;
  esModules.set = function (url, type, job) {
    const result = apply(set, this, arguments);
    noteJob(url, job);
    return result;
  };
  loader.import = function (specifier, parent) {
    if (isBuiltin(specifier)) return apply(importOf, this, arguments);
    if (!isOfPackage(parent)) look();
    return settleImport(apply(importOf, this, arguments), specifier, parent);
  };
}

async function settleImport(importing, specifier, parent) {
  try {
    const module = await importing;
    noteImported(module, parent);
    return module;
  } catch (error) {
    await watchLinks();
    forgetFailed();
    placeRefusalFor(error, specifier, parent);
    throw error;
  }
}

function noteJob(url, job) {
  if (typeof job !== 'object' || tiedTo(recordOf, job) !== undefined) return;
  const file = fileOfUrl(url);
  const record = { __proto__: null, url, file, job, linked: undefined, failed: false, whole: false, watched: false,
    number: ++recordsMade, cell: cell === null ? 0 : cell.number };
  tie(recordOf, job, record);
  push(records, record);
  if (file !== undefined) noteFile(file);
  watchLink(record, job.linked, (linked) => { record.linked = linked; });
}

function watchLink(record, promise, done) {
  if (util.types.isPromise(promise)) then(promise, done, () => { record.failed = true; });
}

// Returns once it is known whose names do not fit.
async function watchLinks() {
  for (let i = 0; i < records.length; i++) {
    const record = records[i];
    if (record.watched || !util.types.isPromise(record.job.instantiated)) continue;
    record.watched = true;
    watchLink(record, record.job.instantiated, noop);
  }
  await undefined;
}

// Returns the jobs of the modules that a module imports; undefined while Node looks for them.
export function linkedOf(record) {
  if (record.linked !== undefined) return record.linked;
  const { linked } = record.job;
  return typeof linked?.length === 'number' ? linked : undefined;
}

export function statusOf({ job }) {
  return job.module?.getStatus();
}

function noteImported(module, parent) {
  const record = recordOfModule(module);
  if (record === undefined) return;
  noteWhole(record);
  if (record.file !== undefined) noteImporter(fileOfUrl(parent), record.file);
}

function recordOfModule(module) {
  for (let i = records.length - 1; i >= 0; i--) {
    if (statusOf(records[i]) === EVALUATED && records[i].job.module.getNamespace() === module) return records[i];
  }
  return undefined;
}

function noteWhole(first) {
  const found = [first];
  for (let i = 0; i < found.length; i++) {
    if (found[i] === undefined || found[i].whole) continue;
    found[i].whole = true;
    const linked = linkedOf(found[i]) ?? [];
    for (let k = 0; k < linked.length; k++) push(found, tiedTo(recordOf, linked[k]));
  }
}

export function forgetRecords(isMeant) {
  const rest = [];
  for (let i = 0; i < records.length; i++) {
    if (isMeant(records[i])) remove(esModules, records[i].url);
    else push(rest, records[i]);
  }
  records = rest;
}

// Forgets the modules that failed, so that they are loaded anew the next time.
export function forgetFailed() {
  forgetRecords((record) => record.failed || statusOf(record) === ERRORED);
}

// Forgets the modules that a cell, else the current one, was loading when it was interrupted or
// ended, so that they are loaded anew the next time.
export function forgetHalves(number = cell === null ? 0 : cell.number) {
  for (const file in cache) if (cache[file].loaded === false) delete cache[file];
  forgetRecords((record) => record.cell === number && !record.whole);
}

// Finds the map of Node's ES loader, once.
export function findLoader() {
  if (loaderSought) return;
  loaderSought = true;
  try {
    const { require: requireOfNode, relativeResolveCache } = scopeOf(loadModule);
    relativePaths = relativeResolveCache;
    const loader = loaderOf(requireOfNode);
    forEach(loader.loadCache, noop);
    esModules = loader.loadCache;
    watchImports(loader);
    realPaths = scopeOf(requireOfNode('internal/modules/helpers').toRealPath).realpathCache;
    forEach(esModules, (jobs, url) => { for (const type in jobs) noteJob(url, jobs[type]); });
    manifestTexts = scopeOf(requireOfNode('internal/modules/package_json_reader').read).cache;
    resolvedNames = privateOf(loader, '#resolveCache');
  } catch {
    // This Node has it elsewhere.
  }
  post('Runtime.releaseObjectGroup', { __proto__: null, silent: true, objectGroup: IN_LOADER }, noop);
}

function loaderOf(requireOfNode) {
  const { getOrInitializeCascadedLoader: get } = requireOfNode('internal/modules/esm/loader');
  return get === undefined ? requireOfNode('internal/process/esm_loader').esmLoader : get(); // Node 18
}
