import { isDeepStrictEqual } from 'node:util';
import type { Artifact, Part } from './model.ts';
import { responseOf } from './projection.ts';

/**
 * The answer of an agent in pieces (a2a.md 10.1): what is appended together is the artifact that the task ends with.
 *
 * What tools and plugins add stands in front of the answer that asks for no more tools. An answer that
 * begins again replaces what was said of it; when the end is not what was heard, the artifact comes whole.
 */
export type Answer = {
  /** An execution begins. */
  start(): void;
  /** The next answer begins; or the same again, where it came to no end. */
  open(): void;
  /** What was heard of it is void. */
  reset(): void;
  /** It asks for tools, so another one will come. */
  ask(): void;
  /** The model has answered. */
  close(): void;
  /** It is under way, and this is what was said of it. `told`: whoever follows it has that. */
  resume(said: readonly Part[], told: boolean): void;
  add(delta: string): void;
  addPart(part: Part): void;
  /** Something that no piece had yet. */
  hasNews(): boolean;
  /** The next piece; undefined when there is none. */
  take(): Piece | undefined;
  /** What is missing of the artifact, as its last piece. */
  last(whole: Artifact): Piece;
  /** What the pieces so far say. */
  said(): Artifact | undefined;
};

export type Piece = { artifact: Artifact; append: boolean; lastChunk: boolean };

/** So many whole parts, and so much of the text behind them. */
type Told = { parts: number; chars: number };

const NOTHING: Told = { parts: 0, chars: 0 };

export const createAnswer = (): Answer => {
  /** With which the answer has begun. */
  let front: readonly Part[] = [];
  /** For the answer that comes next. */
  let waiting: Part[] = [];
  let parts: Part[] = [];
  let told = NOTHING;
  let isOpen = false;
  let asks = false;

  const begin = (): void => {
    parts = [...front];
    told = NOTHING;
  };

  const pieceOf = (rest: readonly Part[], lastChunk: boolean): Piece => ({
    artifact: responseOf(rest.length > 0 ? [...rest] : [{ text: '' }]),
    append: told !== NOTHING,
    lastChunk,
  });

  return {
    start() {
      front = [];
      waiting = [];
      isOpen = false;
      asks = false;
      begin();
    },
    open() {
      front = isOpen || asks ? [...front, ...waiting] : waiting;
      waiting = [];
      isOpen = true;
      asks = false;
      begin();
    },
    reset: begin,
    ask() {
      asks = true;
    },
    close() {
      isOpen = false;
    },
    resume(said, isTold) {
      parts = said.map((part) => ({ ...part }));
      isOpen = true;
      if (isTold) told = allOf(parts);
    },
    add(delta) {
      const last = parts.at(-1);
      if (last && isText(last) && parts.length > front.length) last.text += delta;
      else parts.push({ text: delta });
    },
    addPart(part) {
      if (isOpen) parts.push(part);
      else waiting.push(part);
    },
    hasNews() {
      const all = allOf(parts);
      return all.parts > told.parts || all.chars > told.chars;
    },
    take() {
      const rest = restOf(parts, told);
      if (rest.length === 0) return undefined;
      const piece = pieceOf(rest, false);
      told = allOf(parts);
      return piece;
    },
    last(whole) {
      if (told === NOTHING || !begins(whole.parts, parts, told))
        return { artifact: whole, append: false, lastChunk: true };
      const { artifact, ...piece } = pieceOf(restOf(whole.parts, told), true);
      const { metadata } = whole;
      return { ...piece, artifact: { ...artifact, ...(metadata && { metadata }) } };
    },
    said: () => (told === NOTHING ? undefined : responseOf(toldOf(parts, told))),
  };
};

type Text = { text: string };

const isText = (part: Part): part is Text => 'text' in part;

const allOf = (parts: readonly Part[]): Told => {
  const last = parts.at(-1);
  if (!last) return NOTHING;
  // Text may grow.
  return isText(last)
    ? { parts: parts.length - 1, chars: last.text.length }
    : { parts: parts.length, chars: 0 };
};

const restOf = (parts: readonly Part[], { parts: from, chars }: Told): Part[] => {
  // Text may grow while the piece is on its way.
  const [first, ...others] = parts.slice(from).map((part) => ({ ...part }));
  if (!first) return [];
  if (chars === 0 || !isText(first)) return [first, ...others];
  return first.text.length > chars ? [{ ...first, text: first.text.slice(chars) }, ...others] : others;
};

const toldOf = (parts: readonly Part[], { parts: count, chars }: Told): Part[] => {
  const partial = parts[count];
  const head = parts.slice(0, count);
  return chars > 0 && partial && isText(partial) ? [...head, { text: partial.text.slice(0, chars) }] : head;
};

/** Does this begin with what was told? */
const begins = (whole: readonly Part[], parts: readonly Part[], told: Told): boolean => {
  const start = toldOf(parts, told);
  const last = told.chars > 0 ? start.pop() : undefined;
  if (!start.every((part, index) => isDeepStrictEqual(part, whole[index]))) return false;
  const partial = whole[told.parts];
  if (!last || !isText(last)) return true;
  return partial !== undefined && isText(partial) && partial.text.startsWith(last.text);
};
