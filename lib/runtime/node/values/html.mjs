// SPDX-License-Identifier: MIT
// html.mjs - reads the words of a page.

import { exec, join, lower, push, replace, slice, split, trim, trimEnd } from './own.mjs';

const PAGE_LIMIT = 4000000; // characters of a page that are read

const TOKEN = /<!--[^]*?(?:-->|$)|<(\/?)([a-zA-Z][\w-]*)(?:"[^"<]*"|'[^'<]*'|[^'"<>])*>|<|[^<]+/y;
const NOT_SHOWN = /^(?:script|style|template|title)$/;
const TABLE = /^(?:table|tbody|tfoot|thead|tr)$/;
const BLOCKS = new RegExp('^(?:address|article|aside|blockquote|br|caption|center|dd|div|dl|dt|fieldset|figcaption|' +
  'figure|footer|form|h[1-6]|header|hr|li|main|nav|ol|option|p|pre|section|summary|table|tbody|tfoot|thead|tr|ul)$');

// Returns the words of a page, one line for a block or a row, with `|` between cells: enough for a
// model to know what the page shows. End tags may be missing, as HTML allows.
export function textOfHtml(html) {
  const page = slice(html, 0, PAGE_LIMIT);
  const words = { lines: [''], hidden: '', cells: 0, preformatted: false };
  TOKEN.lastIndex = 0;
  for (let token = exec(TOKEN, page); token !== null; token = exec(TOKEN, page)) {
    if (token[2] !== undefined) addTag(words, lower(token[2]), token[1] !== '');
    else if (slice(token[0], 0, 2) !== '<!') addText(words, withoutEntities(token[0]));
  }
  const kept = [];
  for (let i = 0; i < words.lines.length; i++) {
    if (trim(words.lines[i]) !== '') push(kept, trimEnd(words.lines[i]));
  }
  return join(kept, '\n');
}

function addTag(words, name, ends) {
  if (words.hidden !== '' || (!ends && exec(NOT_SHOWN, name) !== null)) {
    if (ends && name === words.hidden) words.hidden = '';
    else if (words.hidden === '') words.hidden = name;
  } else if (name === 'td' || name === 'th') {
    if (ends) return;
    if (words.cells > 0) words.lines[words.lines.length - 1] += ' | ';
    words.cells++;
  } else if (exec(BLOCKS, name) !== null) {
    if (words.cells > 0 && exec(TABLE, name) === null) {
      addText(words, ' ');
    } else {
      push(words.lines, '');
      words.cells = 0;
    }
    words.preformatted = name === 'pre' && !ends;
  }
}

function addText(words, text) {
  if (words.hidden !== '') return;
  const last = words.lines.length - 1;
  if (words.preformatted) {
    const added = split(text, '\n');
    words.lines[last] += added[0];
    for (let i = 1; i < added.length; i++) push(words.lines, added[i]);
    return;
  }
  const line = words.lines[last];
  const blanks = replace(text, /\s+/g, ' ');
  words.lines[last] = line + (line === '' || line[line.length - 1] === ' ' ? replace(blanks, /^ /, '') : blanks);
}

function withoutEntities(text) {
  const plain = replace(replace(replace(text, /&lt;/g, '<'), /&gt;/g, '>'), /&quot;/g, '"');
  return replace(replace(replace(plain, /&#0?39;/g, "'"), /&nbsp;/g, ' '), /&amp;/g, '&');
}
