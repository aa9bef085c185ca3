import { marked, type Token, type Tokens } from 'marked';
import type { Tabs } from './tabs.ts';
import type { Terminals } from './terminals.ts';

/**
 * Reads a tutorial as the steps that it asks its reader for.
 *
 * Guarantees: each code block and each item of a numbered list is at least one step. A block or an item without a
 * known meaning is an error, so that no part of the page is left out.
 */

/** A person who follows the tutorial. */
export type Reader = Terminals & Tabs;

export type Step = {
  /** The text of the page. */
  asks: string;
  follow(reader: Reader): Promise<void>;
};

type Phrase = readonly [
  pattern: RegExp,
  follow: (reader: Reader, groups: readonly string[]) => Promise<void>,
];

const PHRASES: readonly Phrase[] = [
  [/\b(?:Open|Return to) <([^>]+)>/g, (reader, [url = '']) => reader.open(url)],
  [/\bOpen the link to the \[console\]/g, (reader) => reader.openConsole()],
  [/\bchoose \*\*([^*]+)\*\*/g, (reader, [screen = '']) => reader.chooseScreen(screen)],
  [/\bSend "([^"]+)"/g, (reader, [text = '']) => reader.send(text)],
  [/\bword by word\b/g, (reader) => reader.seesDeltas()],
  [/\bclick \*\*([^*]+)\*\*/gi, (reader, [button = '']) => reader.click(button)],
  [/\bChoose the first run\b/g, (reader) => reader.chooseRun()],
  [/\bshows the state `(\w+)`/g, (reader, [state = '']) => reader.seesState(state)],
  [/\bconsole shows "([^"]+)"/g, (reader, [text = '']) => reader.sees(text)],
  [/`([^`]+)` is unchanged\b/g, (reader, [file = '']) => reader.findsUnchanged(file)],
  [
    /`([^`]+)` (now|no longer) contains `([^`]+)`/g,
    (reader, [file = '', when, text = '']) => reader.finds(file, text, when === 'now'),
  ],
  [/\bPress Ctrl\+C in the first terminal\b/g, (reader) => reader.interrupt()],
  [/\bpage shows an error\b/g, (reader) => reader.seesError()],
  [/\bReload the page\b/g, (reader) => reader.reload()],
  [
    /\bReplace `([^`]+)` with `([^`]+)` in `([^`]+)`/g,
    (reader, [old = '', by = '', file = '']) => reader.replace(file, old, by),
  ],
];

/** @throws Error with a block or an item that has no known meaning */
export function stepsOf(source: string): Step[] {
  const steps: Step[] = [];
  let paragraph = '';
  for (const token of marked.lexer(source)) {
    if (token.type === 'paragraph') paragraph = textOf(token);
    else if (isCode(token)) steps.push(...stepsOfCode(token, paragraph));
    else if (isList(token) && token.ordered) steps.push(...token.items.flatMap(stepsOfItem));
  }
  return steps;
}

function stepsOfItem({ text, tokens }: Tokens.ListItem): Step[] {
  const steps: Step[] = [];
  let paragraph = '';
  for (const token of tokens) {
    if (isCode(token)) steps.push(...stepsOfCode(token, paragraph));
    else if (token.type !== 'space') {
      paragraph = textOf(token);
      steps.push(...stepsOfText(paragraph));
    }
  }
  if (steps.length === 0) throw new Error(`the item asks for no known step: ${text}`);
  return steps;
}

/** The steps of a text, in the order of its phrases. */
function stepsOfText(text: string): Step[] {
  return PHRASES.flatMap(([pattern, follow]) =>
    Array.from(text.matchAll(pattern), (match) => {
      const [asks, ...groups] = match;
      return { at: match.index, step: { asks, follow: (reader: Reader) => follow(reader, groups) } };
    }),
  )
    .sort((one, other) => one.at - other.at)
    .map(({ step }) => step);
}

function stepsOfCode({ lang, text }: Tokens.Code, paragraph: string): Step[] {
  if (lang === 'sh') {
    return text.split('\n').map((line) => ({ asks: line, follow: (reader) => reader.run(line) }));
  }
  if (lang === 'text') {
    const lines = text.split('\n').map((line) => line.trim());
    const isOutput = /\bprints\b/.test(paragraph);
    return [
      { asks: text, follow: (reader) => (isOutput ? reader.seesOutput(lines) : reader.seesLines(lines)) },
    ];
  }
  const [asks, file] = /Create `([^`]+)`:$/.exec(paragraph) ?? [];
  if (asks === undefined || file === undefined) throw new Error(`no file is named before ${text}`);
  return [{ asks, follow: (reader) => reader.create(file, `${text}\n`) }];
}

const isCode = (token: Token): token is Tokens.Code => token.type === 'code';

const isList = (token: Token): token is Tokens.List => token.type === 'list';

const textOf = (token: Token): string => token.raw.replaceAll(/\s+/g, ' ').trim();
