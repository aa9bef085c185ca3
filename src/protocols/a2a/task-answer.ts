import { isDeepStrictEqual } from 'node:util';
import type { Artifact, Part } from './model.ts';
import { createResponse } from './projection.ts';

/**
 * The response of an agent in chunks (a2a.md 10.1); together they form the artifact that the task ends with.
 *
 * Parts that tools and plugins add precede the final completion. A completion that restarts replaces its earlier
 * chunks. If the final artifact differs from the sent chunks, it is sent whole.
 */
export type Answer = {
  /** Starts an execution. */
  start(): void;
  /** Starts the next completion, or repeats one that did not finish. */
  open(): void;
  /** Discards the received part of the completion. */
  reset(): void;
  /** Records a tool call, after which another completion will follow. */
  ask(): void;
  /** Ends the completion. */
  close(): void;
  /** Continues a completion in progress. The flag is set if the followers already have its earlier parts. */
  resume(earlier: readonly Part[], isSent: boolean): void;
  add(delta: string): void;
  addPart(part: Part): void;
  /** Returns whether there is content that has not been sent. */
  hasNews(): boolean;
  /** Returns the next chunk, or undefined if there is none. */
  take(): ArtifactChunk | undefined;
  /** Returns the missing part of the artifact as its last chunk. */
  last(whole: Artifact): ArtifactChunk;
  /** Returns the content of the chunks so far. */
  sentArtifact(): Artifact | undefined;
};

export type ArtifactChunk = { artifact: Artifact; append: boolean; lastChunk: boolean };

/** The extent of the sent content: complete parts, and characters of the text after them. */
type Extent = { parts: number; chars: number };

const NOTHING: Extent = { parts: 0, chars: 0 };

export const createAnswer = (): Answer => {
  /** Parts that precede the completion. */
  let front: readonly Part[] = [];
  /** Parts that will precede the next completion. */
  let waiting: Part[] = [];
  let parts: Part[] = [];
  let sent = NOTHING;
  let isOpen = false;
  let needsInput = false;

  const begin = (): void => {
    parts = [...front];
    sent = NOTHING;
  };

  return {
    start() {
      front = [];
      waiting = [];
      isOpen = false;
      needsInput = false;
      begin();
    },
    open() {
      front = isOpen || needsInput ? [...front, ...waiting] : waiting;
      waiting = [];
      isOpen = true;
      needsInput = false;
      begin();
    },
    reset: begin,
    ask() {
      needsInput = true;
    },
    close() {
      isOpen = false;
    },
    resume(earlier, isSent) {
      parts = earlier.map((part) => ({ ...part }));
      isOpen = true;
      if (isSent) sent = extentOf(parts);
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
      const all = extentOf(parts);
      return all.parts > sent.parts || all.chars > sent.chars;
    },
    take() {
      const rest = unsentParts(parts, sent);
      if (rest.length === 0) return undefined;
      const chunk = { artifact: artifactOf(rest), append: sent !== NOTHING, lastChunk: false };
      sent = extentOf(parts);
      return chunk;
    },
    last(whole) {
      if (sent === NOTHING || !begins(whole.parts, parts, sent))
        return { artifact: whole, append: false, lastChunk: true };
      const { metadata } = whole;
      const artifact = { ...artifactOf(unsentParts(whole.parts, sent)), ...(metadata && { metadata }) };
      return { artifact, append: true, lastChunk: true };
    },
    sentArtifact: () => (sent === NOTHING ? undefined : createResponse(sentParts(parts, sent))),
  };
};

/** An artifact without parts is not valid. */
const artifactOf = (parts: readonly Part[]): Artifact =>
  createResponse(parts.length > 0 ? [...parts] : [{ text: '' }]);

type Text = { text: string };

const isText = (part: Part): part is Text => 'text' in part;

const extentOf = (parts: readonly Part[]): Extent => {
  const last = parts.at(-1);
  if (!last) return NOTHING;
  // The last text may still grow.
  return isText(last)
    ? { parts: parts.length - 1, chars: last.text.length }
    : { parts: parts.length, chars: 0 };
};

const unsentParts = (parts: readonly Part[], { parts: from, chars }: Extent): Part[] => {
  // Copied because the text may grow while the chunk is being sent.
  const [first, ...others] = parts.slice(from).map((part) => ({ ...part }));
  if (!first) return [];
  if (chars === 0 || !isText(first)) return [first, ...others];
  return first.text.length > chars ? [{ ...first, text: first.text.slice(chars) }, ...others] : others;
};

const sentParts = (parts: readonly Part[], { parts: count, chars }: Extent): Part[] => {
  const partial = parts[count];
  const head = parts.slice(0, count);
  return chars > 0 && partial && isText(partial) ? [...head, { text: partial.text.slice(0, chars) }] : head;
};

/** Returns whether the artifact begins with the sent content. */
const begins = (whole: readonly Part[], parts: readonly Part[], sent: Extent): boolean => {
  const start = sentParts(parts, sent);
  const last = sent.chars > 0 ? start.pop() : undefined;
  if (!start.every((part, index) => isDeepStrictEqual(part, whole[index]))) return false;
  const partial = whole[sent.parts];
  if (!last || !isText(last)) return true;
  return partial !== undefined && isText(partial) && partial.text.startsWith(last.text);
};
