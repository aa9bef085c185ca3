import { withoutTrailing } from '../../../schema/trailing.ts';
import { type Inline, parseInline } from './inline.ts';

/**
 * Markdown as models write it, made into a tree that React draws: headings, lists, quotes, tables, code. Nothing of it
 * becomes HTML by itself, so there is nothing to sanitise. What is still being written is shown as far as it is.
 */
export type Node =
  | { kind: 'heading'; level: number; children: Inline[] }
  | { kind: 'paragraph'; children: Inline[] }
  | { kind: 'code'; language: string; text: string }
  | { kind: 'list'; start: number | undefined; items: ListItem[] }
  | { kind: 'quote'; children: Node[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { kind: 'rule' };

export type ListItem = { checked: boolean | undefined; children: Node[] };

/** What begins at this line, and the line behind it. */
type Found = { node: Node; next: number };
type Lines = readonly string[];

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(?!\S)(\s*)([\s\S]*)$/;
const QUOTE = /^ {0,3}> ?/;
const DIVIDER_CELL = /^:?-+:?$/;

/** The mark of a fence and its language. */
const openedFence = (line: string): { mark: string; language: string } | undefined => {
  const [before = '', mark = ''] = FENCE.exec(line) ?? [];
  const rest = line.slice(before.length);
  if (mark === '' || rest.includes('`')) return undefined;
  return { mark, language: rest.trim().split(/\s/, 1)[0] ?? '' };
};

const isDivider = (line: string): boolean => {
  if (!line.includes('-')) return false;
  const trimmed = line.trim();
  const inside = trimmed.slice(trimmed.startsWith('|') ? 1 : 0, trimmed.endsWith('|') ? -1 : undefined);
  return inside.split('|').every((cell) => DIVIDER_CELL.test(cell.trim()));
};

const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '';
const indentOf = (line: string): number => line.length - line.trimStart().length;

const fence = (lines: Lines, at: number): Found | undefined => {
  const opened = openedFence(lines[at] ?? '');
  if (!opened) return undefined;
  const { mark, language } = opened;
  const indent = indentOf(lines[at] ?? '');
  const text: string[] = [];
  let next = at + 1;
  for (; next < lines.length; next += 1) {
    const line = lines[next] ?? '';
    const trimmed = line.trim();
    if (trimmed.startsWith(mark) && trimmed.replaceAll(mark.charAt(0), '') === '') break;
    text.push(line.slice(Math.min(indent, indentOf(line))));
  }
  return { node: { kind: 'code', language, text: text.join('\n') }, next: next + 1 };
};

const heading = (lines: Lines, at: number): Found | undefined => {
  const line = lines[at] ?? '';
  const [before = '', marks = ''] = HEADING.exec(line) ?? [];
  if (marks === '') return undefined;
  const text = withoutTrailing(line.slice(before.length).trim(), '#').trimEnd();
  return { node: { kind: 'heading', level: marks.length, children: parseInline(text) }, next: at + 1 };
};

const quote = (lines: Lines, at: number, depth: number): Found | undefined => {
  let next = at;
  while (QUOTE.test(lines[next] ?? '')) next += 1;
  if (next === at) return undefined;
  const inside = lines.slice(at, next).map((line) => line.replace(QUOTE, ''));
  return { node: { kind: 'quote', children: blocks(inside, depth + 1) }, next };
};

const cellsOf = (line: string): Inline[][] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => parseInline(cell.trim().replaceAll('\\|', '|')));

const table = (lines: Lines, at: number): Found | undefined => {
  const [first = '', divider = ''] = [lines[at], lines[at + 1]];
  if (!first.includes('|') || !isDivider(divider)) return undefined;
  const head = cellsOf(first);
  if (head.length < 2 && !first.trim().startsWith('|')) return undefined;
  let next = at + 2;
  const rows: Inline[][][] = [];
  for (; !isBlank(lines[next]) && (lines[next] ?? '').includes('|'); next += 1) {
    rows.push(cellsOf(lines[next] ?? '').slice(0, head.length));
  }
  return { node: { kind: 'table', head, rows }, next };
};

const checkOf = (text: string): { checked: boolean | undefined; text: string } => {
  const [whole, mark] = /^\[([ xX])\]\s+/.exec(text) ?? [];
  return whole === undefined
    ? { checked: undefined, text }
    : { checked: mark !== ' ', text: text.slice(whole.length) };
};

const list = (lines: Lines, at: number, depth: number): Found | undefined => {
  const [, indent = '', marker = ''] = ITEM.exec(lines[at] ?? '') ?? [];
  if (marker === '') return undefined;
  const isOrdered = /\d/.test(marker);
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const [, ownIndent = '', own = '', gap = '', rest = ''] = ITEM.exec(lines[next] ?? '') ?? [];
    if (own === '' || ownIndent.length !== indent.length || /\d/.test(own) !== isOrdered) break;
    const first = checkOf(rest);
    const inside = [first.text];
    const width = ownIndent.length + own.length + Math.min(Math.max(gap.length, 1), 4);
    for (next += 1; next < lines.length; next += 1) {
      const line = lines[next] ?? '';
      if (isBlank(line)) {
        const text = nextText(lines, next);
        if (indentOf(lines[text] ?? '') <= ownIndent.length) break;
        for (; next < text - 1; next += 1) inside.push('');
      } else if (indentOf(line) <= ownIndent.length && !isLazy(lines, next)) break;
      inside.push(line.slice(Math.min(width, indentOf(line))));
    }
    items.push({ checked: first.checked, children: blocks(inside, depth + 1) });
    while (isBlank(lines[next]) && next < lines.length && ITEM.test(lines[next + 1] ?? '')) next += 1;
  }
  const start = isOrdered ? Number.parseInt(marker, 10) : undefined;
  return { node: { kind: 'list', start, items }, next };
};

/** The first line from here on that says something; behind the last where none does. */
const nextText = (lines: Lines, at: number): number => {
  let next = at;
  while (next < lines.length && isBlank(lines[next])) next += 1;
  return next;
};

const BEGINNINGS = [HEADING, RULE, ITEM, QUOTE];
const begins = (line: string): boolean =>
  openedFence(line) !== undefined || BEGINNINGS.some((pattern) => pattern.test(line));

/** A line that goes on with the text above it without being indented. */
const isLazy = (lines: Lines, at: number): boolean => !isBlank(lines[at - 1]) && !begins(lines[at] ?? '');

const rule = (lines: Lines, at: number): Found | undefined =>
  RULE.test(lines[at] ?? '') ? { node: { kind: 'rule' }, next: at + 1 } : undefined;

const paragraph = (lines: Lines, at: number): Found => {
  let next = at + 1;
  while (!isBlank(lines[next]) && !begins(lines[next] ?? '') && !table(lines, next)) next += 1;
  const text = lines
    .slice(at, next)
    .map((line) => line.trimStart())
    .join('\n');
  return { node: { kind: 'paragraph', children: parseInline(text.trimEnd()) }, next };
};

const KINDS = [fence, heading, rule, quote, table, list];

/** Nobody reads what lies deeper: it is text. */
const DEEPEST = 12;

/** @returns where each block begins, by its line */
const placed = (lines: Lines, depth: number): { node: Node; line: number }[] => {
  const found: { node: Node; line: number }[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    let block: Found | undefined;
    if (depth < DEEPEST) for (const kind of KINDS) block ??= kind(lines, at, depth);
    block ??= paragraph(lines, at);
    found.push({ node: block.node, line: at });
    at = block.next;
  }
  return found;
};

const blocks = (lines: Lines, depth: number): Node[] => placed(lines, depth).map(({ node }) => node);

/** The blocks of a text, and where in it each begins. */
export const parseMarkdown = (text: string): { node: Node; start: number }[] => {
  const lines = text.split('\n');
  const starts: number[] = [];
  let start = 0;
  for (const line of lines) {
    starts.push(start);
    start += line.length + 1;
  }
  const plain = lines.map((line) => line.replace(/\r$/, '').replaceAll('\t', '    '));
  return placed(plain, 0).map(({ node, line }) => ({ node, start: starts[line] ?? 0 }));
};
