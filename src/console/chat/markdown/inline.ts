import { withoutTrailing } from '../../../schema/trailing.ts';

/** What stands in a line of Markdown. HTML is text like any other: nothing of it is ever put on the page as HTML. */
export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong' | 'em' | 'strike'; children: Inline[] }
  | { kind: 'link'; href: string; children: Inline[] }
  | { kind: 'break' };

/** A link leads to the web or to a mailbox, and nowhere else. */
export const safeHref = (href: string): string | undefined =>
  /^(https?:\/\/|mailto:)[^\s]+$/i.test(href) ? href : undefined;

type Found = { length: number; node: Inline };
type Rule = (text: string, before: string) => Found | undefined;

const link = (label: string, href: string, length: number): Found => {
  const safe = safeHref(href);
  const children = parseInline(label);
  return {
    length,
    node: safe === undefined ? { kind: 'text', text: label } : { kind: 'link', href: safe, children },
  };
};

const wrapped =
  (pattern: RegExp, kind: 'strong' | 'em' | 'strike'): Rule =>
  (text) => {
    const [whole, inside] = pattern.exec(text) ?? [];
    return whole === undefined || inside === undefined
      ? undefined
      : { length: whole.length, node: { kind, children: parseInline(inside) } };
  };

const isWord = (character: string): boolean => /[\p{L}\p{N}]/u.test(character);

/** Underscores in names such as `get_weather` are no emphasis. */
const betweenWords =
  (rule: Rule): Rule =>
  (text, before) => {
    const found = isWord(before) ? undefined : rule(text, before);
    return found && isWord(text[found.length] ?? '') ? undefined : found;
  };

/** The text between the brackets at the start, which may hold brackets of one more level. */
const labelOf = (text: string): string | undefined => {
  for (let at = 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\n') return undefined;
    if (character === ']') return text.slice(1, at);
    if (character !== '[') continue;
    const end = text.indexOf(']', at);
    if (end < 0 || text.slice(at, end).includes('\n')) return undefined;
    at = end;
  }
  return undefined;
};

/** The address in parentheses, which may hold parentheses of one more level, and a title that is not shown. */
const TARGET = /^\(<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+"[^"]*")?\)/;

/** Code may be set off from its marks by one blank on each side. */
const unpadded = (code: string): string =>
  code.startsWith(' ') && code.endsWith(' ') && code.trim() !== '' ? code.slice(1, -1) : code;

const RULES: Readonly<Record<string, readonly Rule[]>> = {
  '\\': [
    (text) => {
      if (text[1] === '\n') return { length: 2, node: { kind: 'break' } };
      return /^\\[!-/:-@[-`{-~]/.test(text)
        ? { length: 2, node: { kind: 'text', text: text.charAt(1) } }
        : undefined;
    },
  ],
  '`': [
    (text) => {
      const [whole, , code = ''] = /^(`+)(?!`)([\s\S]*?[^`])\1(?!`)/.exec(text) ?? [];
      return whole === undefined
        ? undefined
        : { length: whole.length, node: { kind: 'code', text: unpadded(code) } };
    },
  ],
  '*': [
    wrapped(/^\*\*(?=\S)([\s\S]*?[^\s*])\*\*(?!\*)/, 'strong'),
    wrapped(/^\*(?=[^\s*])([\s\S]*?[^\s*])\*(?!\*)/, 'em'),
  ],
  _: [
    betweenWords(wrapped(/^__(?=\S)([\s\S]*?[^\s_])__(?!_)/, 'strong')),
    betweenWords(wrapped(/^_(?=[^\s_])([\s\S]*?[^\s_])_(?!_)/, 'em')),
  ],
  '~': [wrapped(/^~~(?=\S)([\s\S]*?\S)~~/, 'strike')],
  '!': [
    // A picture would be fetched from anywhere: its address is a link.
    (text) => {
      const [whole, label = '', href = ''] = /^!\[([^\]\n]*)\]\(([^()\s]+)(?:\s+"[^"]*")?\)/.exec(text) ?? [];
      return whole === undefined ? undefined : link(label || href, href, whole.length);
    },
  ],
  '[': [
    (text) => {
      const label = labelOf(text);
      const [target, href = ''] = (label !== undefined && TARGET.exec(text.slice(label.length + 2))) || [];
      if (label === undefined || target === undefined) return undefined;
      return link(label || href, href, label.length + 2 + target.length);
    },
  ],
  '<': [
    (text) => {
      const [whole, href = ''] = /^<(https?:\/\/[^\s<>]+|mailto:[^\s<>]+)>/i.exec(text) ?? [];
      return whole === undefined ? undefined : link(href, href, whole.length);
    },
  ],
  h: [
    (text, before) => {
      const [found] = isWord(before) ? [] : (/^https?:\/\/[^\s<>"'`]+/i.exec(text) ?? []);
      const href = found && withoutTrailing(found, '.,;:!?)]*_');
      return href
        ? { length: href.length, node: { kind: 'link', href, children: [{ kind: 'text', text: href }] } }
        : undefined;
    },
  ],
  '\n': [() => ({ length: 1, node: { kind: 'text', text: '\n' } })],
  ' ': [
    (text) => {
      const [whole] = /^ {2,}\n/.exec(text) ?? [];
      return whole === undefined ? undefined : { length: whole.length, node: { kind: 'break' } };
    },
  ],
};

const PLAIN = /^[^\\`*_~![<h\n ]+/;

/** So far behind a mark its end is looked for: however many marks there are, a text costs what its length does. */
const REACH = 500;

export const parseInline = (text: string): Inline[] => {
  const nodes: Inline[] = [];
  const addText = (more: string): void => {
    const last = nodes.at(-1);
    if (last?.kind === 'text') last.text += more;
    else nodes.push({ kind: 'text', text: more });
  };
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + REACH);
    const [plain] = PLAIN.exec(rest) ?? [];
    if (plain !== undefined) {
      addText(plain);
      at += plain.length;
      continue;
    }
    const before = text.charAt(at - 1);
    let found: Found | undefined;
    for (const rule of RULES[rest.charAt(0)] ?? []) found ??= rule(rest, before);
    if (found?.node.kind === 'text') addText(found.node.text);
    else if (found) nodes.push(found.node);
    else addText(rest.charAt(0));
    at += found?.length ?? 1;
  }
  return nodes;
};
