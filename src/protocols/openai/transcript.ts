import { hash } from 'node:crypto';
import type { EndedLeg, ImportedMessage, LegBook } from '../../runtime/index.ts';
import type { Leg } from '../../schema/activation.ts';
import { type ContentBlock, textOf } from '../../schema/message.ts';
import type { Store } from '../../store/index.ts';
import { type FileLink, failureOfLeg, legText, messagesOfLeg } from './chat-leg.ts';
import { waitsOf } from './waits.ts';

/**
 * The answers that the service gave in a chat, by which a later request finds its thread (openai.md 5.2).
 *
 * Front ends rewrite, edit and branch the messages of users, but send answers back as they received them, apart from
 * details that they add. So the position of a request is the last answer in it that this service gave
 * (`chat-position.ts`).
 * Guarantees: the row of an answer is part of the commit that ends it.
 * Cost: one hash for each answer of a request.
 */

/** The digest of a conversation without answers. */
export const EMPTY = '';

const DIGEST_DIGITS = 32;

/**
 * Blocks that front ends add to answers, or that they take for reasoning and do not send back. One without an end
 * extends to the end of the text. Attributes contain no `<`, which front ends escape, so that each tag without an end is
 * read up to the next one only.
 */
const ADDED =
  /<(details|think(?:ing)?|reason(?:ing)?|[Tt]hought)(?:\s[^<>]*)?>.*?(?:<\/\1>|$)|<\|begin_of_thought\|>.*?(?:<\|end_of_thought\|>|$)/gs;

/** A link to a file that an answer contains is signed with the time at which the answer was created. */
const SIGNED = /(\/v1\/files\/file-[0-9a-f]{32}\/content)\?expires=\d{1,15}&signature=[0-9a-f]{64}/g;

/** Whitespace that is not one space; single spaces, which are most of it, need no replacement. */
const UNEVEN = /\s\s+|[^\S ]/g;

/** Characters that composition may change: V8 finds none in a text of one byte per character without a search. */
const COMPOSABLE = /[\u0300-\uffff]/;

/**
 * More combining characters in a row than a language has. Composition sorts such a run in quadratic time, so a text that
 * contains one is compared without it.
 */
const UNCOMPOSED = /(?<!\p{M})\p{M}{32}/u;

/** Returns the text without what front ends change in it, and without signatures of links. */
export const normalized = (text: string): string => {
  const isComposed = COMPOSABLE.test(text) && !UNCOMPOSED.test(text);
  const composed = isComposed ? text.normalize('NFC') : text;
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

export const digestOfQuestion = (question: Anchor['question']): string =>
  question ? askedDigest(question) : EMPTY;

/** The keys of a turn without a whole answer behind this conversation, and of the continuation of an answer behind it. */
export const unfinishedDigest = (before: string): string => digestOf(before, '\0stopped');
export const continuedDigest = (before: string): string => digestOf(before, '\0continued');

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
 * None for a leg outside of a chat. The text that counts has a row, and so has the text of a stream, which contains
 * withdrawn text because chunks cannot be retracted. A turn of which the client may show less than that, or something
 * else, has a row too.
 */
const transcriptsOf = (ended: EndedLeg, fileLink: FileLink) => {
  const { scope, run, leg, seq, history, stopped, withdrawn, isRead, at } = ended;
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
  const { termination_reason: termination } = run;
  const isWhole =
    isRead && digests.size > 0 && termination?.type !== 'cancelled' && !failureOfLeg(termination);
  const keys = [
    ...(isWhole ? [] : [unfinishedDigest(chat.digest)]),
    ...(chat.behind === undefined ? [] : [continuedDigest(chat.behind)]),
  ];
  return [...rows, ...keys.map((digest) => ({ place: { ...place, digest }, transcript: compared }))];
};
