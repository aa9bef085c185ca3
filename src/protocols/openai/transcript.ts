import { hash } from 'node:crypto';
import type { EndedLeg, ImportedMessage, LegBook } from '../../runtime/index.ts';
import { type ContentBlock, textOf } from '../../schema/message.ts';
import type { Leg } from '../../schema/run.ts';
import type { Store, Transcript } from '../../store/index.ts';
import { type FileLink, legText, messagesOfLeg } from './chat-leg.ts';
import { waitsOf } from './waits.ts';

/**
 * The answers that the service gave in a chat, by which a later request finds its thread (openai.md 5.2).
 *
 * Front ends rewrite, edit and branch the messages of users, but send answers back as they received them, apart from
 * details that they add. So the position of a request is the last answer in it that this service gave.
 * Guarantees: the row of an answer is part of the commit that ends it. Cost: one hash per answer of a request, once for a request, and one
 * range read per lookup.
 */

/** The digest of a conversation without answers. */
const EMPTY = '';

const DIGEST_DIGITS = 32;

/**
 * Blocks that front ends add to answers, or that they take for reasoning and do not send back. One without an end
 * extends to the end of the text.
 */
const ADDED =
  /<(details|think(?:ing)?|reason(?:ing)?|[Tt]hought)(?:\s[^>]*)?>.*?(?:<\/\1>|$)|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|$)/gs;

/** A link to a file that an answer contains is signed with the time at which the answer was created. */
const SIGNED = /(\/v1\/files\/file-[0-9a-f]{32}\/content)\?expires=\d{1,15}&signature=[0-9a-f]{64}/g;

/** Whitespace that is not one space; single spaces, which are most of it, need no replacement. */
const UNEVEN = /\s\s+|[^\S ]/g;

/** Characters that composition may change: V8 finds none in a text of one byte per character without a search. */
const COMPOSABLE = /[\u0300-\uffff]/;

/** Returns the text without what front ends change in it, and without signatures of links. */
export const normalized = (text: string): string => {
  const composed = COMPOSABLE.test(text) ? text.normalize('NFC') : text;
  const own = composed.includes('<') ? composed.replace(ADDED, ' ') : composed;
  const unsigned = own.includes('&signature=') ? own.replaceAll(SIGNED, '$1') : own;
  return unsigned.replaceAll(UNEVEN, ' ').trim();
};

const digestOf = (before: string, text: string): string =>
  hash('sha256', `${before}\0${text}`).slice(0, DIGEST_DIGITS);

/** Digest of the message of a user. */
export const askedDigest = (content: readonly ContentBlock[]): string =>
  digestOf(EMPTY, normalized(textOf(content)));

/** Returns the digest of a conversation with one more answer. */
export const nextDigest = (before: string, answer: string): string => {
  const text = normalized(answer);
  return text === '' ? before : digestOf(before, text);
};

/** An answer in the messages of a request. */
export type Anchor = {
  /** Position of the message. */
  index: number;
  /** The text as it is compared. */
  text: string;
  /** Digest of the conversation up to it. */
  digest: string;
  /** The message of the user in front of it. */
  question: ImportedMessage['content'] | undefined;
};

const anchorsOf = new WeakMap<readonly ImportedMessage[], Anchor[]>();

/** Returns the answers of a request, oldest first; messages without a text are none. */
export const anchorsIn = (messages: readonly ImportedMessage[]): readonly Anchor[] => {
  const known = anchorsOf.get(messages);
  if (known) return known;
  const anchors = findAnchors(messages);
  anchorsOf.set(messages, anchors);
  return anchors;
};

const findAnchors = (messages: readonly ImportedMessage[]): Anchor[] => {
  const anchors: Anchor[] = [];
  let digest = EMPTY;
  let question: ImportedMessage['content'] | undefined;
  for (const [index, { role, content }] of messages.entries()) {
    if (role === 'user') question = content;
    if (role !== 'assistant') continue;
    const text = normalized(textOf(content));
    if (text === '') continue;
    digest = digestOf(digest, text);
    anchors.push({ index, text, digest, question });
  }
  return anchors;
};

/** Returns the digests that the run of a request keeps. */
export const digestsOf = (messages: readonly ImportedMessage[]): Omit<NonNullable<Leg['chat']>, 'id'> => {
  const question = messages.findLast(({ role }) => role === 'user');
  const [before, last] = anchorsIn(messages).slice(-2);
  const answer = last ?? before;
  const continues = answer?.index === messages.length - 1;
  return {
    digest: answer?.digest ?? EMPTY,
    asked: digestOfQuestion(question?.content),
    ...(continues && { behind: (last && before?.digest) ?? EMPTY }),
  };
};

const digestOfQuestion = (question: Anchor['question']): string => (question ? askedDigest(question) : EMPTY);

/** Answers of a request that are looked up, from the last one backwards. */
const MOST_LOOKUPS = 8;

/** Rows of one digest that are compared. */
const MOST_ROWS = 16;

/** The keys of a stopped answer behind this conversation, and of the continuation of an answer behind it. */
const stoppedDigest = (before: string): string => digestOf(before, '\0stopped');
const continuedDigest = (before: string): string => digestOf(before, '\0continued');

export type Position = { anchor: Anchor; transcript: Transcript };

export type Answers = {
  transcripts: Pick<Store['transcripts'], 'find'>;
  /** Returns whether the thread exists. */
  isThere(thread_id: string): boolean;
  /** Returns the text of the answer of the row. */
  answerText(transcript: Transcript): string;
};

type OfChat = { scope: string; chat: string; agent_id: string };

/**
 * Finds the last answer that this service gave. Of several equal ones, that of the same question counts, else the newest.
 * A client that stops an answer may know less of its text than was sent: its beginning counts as the answer. A client
 * that lets an answer be continued appends the continuation to it: its end counts.
 */
export const findPosition = (
  answers: Answers,
  of: OfChat,
  messages: readonly ImportedMessage[],
): Position | undefined => {
  const anchors = anchorsIn(messages);
  const oldest = Math.max(0, anchors.length - MOST_LOOKUPS);
  for (let index = anchors.length - 1; index >= oldest; index -= 1) {
    const anchor = anchors[index];
    if (!anchor) continue;
    const before = anchors[index - 1]?.digest ?? EMPTY;
    const transcript =
      findRow(answers, { ...of, digest: anchor.digest }, anchor) ??
      findRow(answers, { ...of, digest: stoppedDigest(before) }, anchor, (text) =>
        text.startsWith(anchor.text),
      ) ??
      findRow(
        answers,
        { ...of, digest: continuedDigest(before) },
        anchor,
        (text) => text !== '' && anchor.text.endsWith(text),
      );
    if (transcript) return { anchor, transcript };
  }
  return undefined;
};

const findRow = (
  { transcripts, isThere, answerText }: Answers,
  place: OfChat & { digest: string },
  { question }: Anchor,
  fits?: (text: string) => boolean,
): Transcript | undefined => {
  const [newest, ...others] = transcripts
    .find(place, MOST_ROWS)
    .filter((row) => isThere(row.thread_id) && (!fits || fits(answerText(row))));
  if (others.length === 0) return newest;
  const asked = digestOfQuestion(question);
  return [newest, ...others].find((each) => each?.asked === asked) ?? newest;
};

/** Returns the text of an answer as it is compared. */
export const createAnswerTexts =
  ({ messages, stopped }: Pick<Store, 'messages' | 'stopped'>, fileLink: FileLink) =>
  (scope: string, { thread_id, seq, answer }: Transcript): string => {
    if (!answer) return '';
    const { run_id, from_seq } = answer;
    const rows = Array.from(messages.ofRun(scope, thread_id, run_id, { from: from_seq + 1, to: seq }));
    const partial = stopped
      .range(scope, thread_id, { from: seq, to: seq })
      .find((each) => each.run_id === run_id);
    const history = rows.map(({ message }) => message);
    const of = { waits: waitsOf(undefined), stopped: partial?.message, fileLink };
    return normalized(legText(messagesOfLeg(history, 0, run_id), of));
  };

/** Stores the position of each answer of a chat, in the commit that ends it. */
export const createTranscriptBook = (
  { transcripts }: Pick<Store, 'transcripts'>,
  { fileLink, failed }: BookOptions,
): LegBook => ({
  ended(batch, leg) {
    try {
      for (const row of transcriptsOf(leg, fileLink)) transcripts.put(batch, row.place, row.transcript);
    } catch (error) {
      failed(error);
    }
  },
});

type BookOptions = { fileLink: FileLink; failed(error: unknown): void };

/**
 * None for a leg outside of a chat, and for one without a text. The text that counts has a row, and so has the text of a
 * stream, which contains withdrawn text because chunks cannot be retracted.
 */
const transcriptsOf = (ended: EndedLeg, fileLink: FileLink) => {
  const { scope, run, leg, seq, history, stopped, withdrawn, at } = ended;
  const { chat } = leg;
  if (!chat) return [];
  const waits = waitsOf(run.waiting, run.activation?.options.frontend_tools);
  const messages = messagesOfLeg(history, leg.seq, run.run_id);
  const texts = [
    legText(messages, { waits, stopped, fileLink }),
    ...(withdrawn.length > 0 ? [legText(messages, { waits, stopped, fileLink, withdrawn })] : []),
  ];
  const digests = new Set(texts.map((text) => nextDigest(chat.digest, text)));
  digests.delete(chat.digest);
  const agent_id = run.activation?.intent.agent_id ?? run.agent_id;
  const place = { scope, chat: chat.id, agent_id };
  const transcript = { thread_id: run.thread_id, seq, asked: chat.asked, at };
  const rows = Array.from(digests, (digest) => ({ place: { ...place, digest }, transcript }));
  const compared = { ...transcript, answer: { run_id: run.run_id, from_seq: leg.seq } };
  const keys = [
    ...(stopped ? [stoppedDigest(chat.digest)] : []),
    ...(chat.behind === undefined ? [] : [continuedDigest(chat.behind)]),
  ];
  return [...rows, ...keys.map((digest) => ({ place: { ...place, digest }, transcript: compared }))];
};
