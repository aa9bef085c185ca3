import type { ImportedMessage } from '../../runtime/index.ts';
import { textOf } from '../../schema/message.ts';
import type { Store, Transcript } from '../../store/index.ts';
import { type FileLink, failureOfLeg, legText, messagesOfLeg } from './chat-leg.ts';
import { parseCallId } from './ids.ts';
import {
  type Anchor,
  anchorsIn,
  continuedDigest,
  digestOfQuestion,
  EMPTY,
  normalized,
  unfinishedDigest,
} from './transcript.ts';
import { waitsOf } from './waits.ts';

/**
 * The positions in threads that a request of a chat may continue (openai.md 5.2).
 *
 * A request continues behind the last answer in it that the service gave. A turn that failed, was stopped, or was cut off
 * from its client has no answer that the client repeats: it sends none, a part of it, or the text of an error. There,
 * the request continues behind the question.
 * Cost: four range reads for each answer that is looked up.
 */

/** Answers of a request that are looked up, from the last one backwards. */
const MOST_LOOKUPS = 8;

/** Rows of one digest that are compared. */
const MOST_ROWS = 16;

export type Position = {
  /** Position of the last message of the request that the thread contains, in some form. */
  index: number;
  transcript: Transcript;
  /** Whether an answer ends here, behind which a thread may be forked. */
  isAnswer: boolean;
};

/** A turn as it is stored; texts are in the form in which they are compared. */
export type StoredTurn = {
  question: string;
  text: string;
  /** Message of the error that ended it. */
  failure: string | undefined;
};

export type Answers = {
  transcripts: Pick<Store['transcripts'], 'find'>;
  /** Returns whether the thread exists. */
  isThere(thread_id: string): boolean;
  /** Returns the turn of a row with `answer`. */
  turn(transcript: Transcript): StoredTurn | undefined;
};

type OfChat = { scope: string; chat: string; agent_id: string };

type Lookup = {
  answers: Answers;
  of: OfChat;
  messages: readonly ImportedMessage[];
  anchors: readonly Anchor[];
};

/**
 * Finds the last answer that this service gave, and the questions around it that have no whole answer, in the order in
 * which a request continues them if they are at the ends of their threads.
 */
export function* findPositions(
  answers: Answers,
  of: OfChat,
  messages: readonly ImportedMessage[],
): Generator<Position, void> {
  const anchors = anchorsIn(messages);
  const lookup: Lookup = { answers, of, messages, anchors };
  const oldest = Math.max(0, anchors.length - MOST_LOOKUPS);
  for (let at = anchors.length - 1; at >= oldest; at -= 1) {
    const answer = findAnswer(lookup, at);
    if (answer) yield answer;
    yield* findQuestions(lookup, at);
    if (!answer) continue;
    // The run of an answer may have continued without the client.
    yield* findQuestions(lookup, at - 1, answer.index);
    return;
  }
  if (oldest === 0) yield* findQuestions(lookup, -1);
}

const digestAt = (anchors: readonly Anchor[], at: number): string => anchors[at]?.digest ?? EMPTY;

/**
 * If several answers are equal, that of the same question counts, else the newest. A client that stops an answer may
 * know less of its text than was sent: its beginning counts as the answer. The message of the error that ended an answer
 * counts too, alone or behind its text. A client that lets an answer be continued appends the continuation to it: its
 * end counts.
 */
const findAnswer = (lookup: Lookup, at: number): Position | undefined => {
  const anchor = lookup.anchors[at];
  if (!anchor) return undefined;
  const before = digestAt(lookup.anchors, at - 1);
  const transcript =
    findRow(lookup, anchor, anchor.digest) ??
    findRow(lookup, anchor, unfinishedDigest(before), (turn) => isPartOf(turn, anchor.text)) ??
    findRow(lookup, anchor, continuedDigest(before), ({ text }) => text !== '' && anchor.text.endsWith(text));
  return transcript && { index: anchor.index, transcript, isAnswer: true };
};

const isPartOf = ({ text, failure }: StoredTurn, shown: string): boolean => {
  if (text.startsWith(shown)) return true;
  if (failure === undefined) return false;
  return (failure !== '' && shown.includes(failure)) || (text !== '' && shown.startsWith(text));
};

const findRow = (
  { answers, of }: Lookup,
  { question }: Anchor,
  digest: string,
  fits?: (turn: StoredTurn) => boolean,
): Transcript | undefined => {
  const rows = rowsOf(answers, of, digest);
  const [newest, ...others] = fits ? rows.filter((row) => fitsTurn(answers.turn(row), fits)) : rows;
  if (others.length === 0) return newest;
  const asked = digestOfQuestion(question);
  return [newest, ...others].find((each) => each?.asked === asked) ?? newest;
};

const fitsTurn = (turn: StoredTurn | undefined, fits: (turn: StoredTurn) => boolean): boolean =>
  turn !== undefined && fits(turn);

const rowsOf = ({ transcripts, isThere }: Answers, of: OfChat, digest: string): Transcript[] =>
  transcripts.find({ ...of, digest }, MOST_ROWS).filter(({ thread_id }) => isThere(thread_id));

/**
 * Finds the questions without a whole answer behind an answer of the request, or at its beginning. A question with
 * nothing behind it is a repeated one: it continues a turn that failed, while a stopped one begins another branch.
 *
 * @param known the position of the next answer, if the service gave it
 */
function* findQuestions(
  { answers, of, messages, anchors }: Lookup,
  at: number,
  known?: number,
): Generator<Position, void> {
  const begin = (anchors[at]?.index ?? -1) + 1;
  const behind = messages.slice(begin, anchors[at + 1]?.index);
  if (behind.length === 0) return;
  const earlier = anchors[at + 1] ? behind : behind.slice(0, -1);
  for (const transcript of rowsOf(answers, of, unfinishedDigest(digestAt(anchors, at)))) {
    const found = behind.findLastIndex((message) => isQuestionOf(transcript, message));
    const isRepeated = begin + found === messages.length - 1;
    if (isRepeated && answers.turn(transcript)?.failure === undefined) continue;
    const index = found < 0 ? rewrittenQuestion(earlier, () => answers.turn(transcript)) : found;
    if (index >= 0) yield { index: known ?? begin + index, transcript, isAnswer: false };
  }
}

/** The results of calls of the client are the question of a run that waited for them. */
const isQuestionOf = (
  { asked, answer }: Transcript,
  { role, content, tool_call_id = '' }: ImportedMessage,
): boolean => {
  if (role === 'user') return digestOfQuestion(content) === asked;
  return role === 'tool' && answer !== undefined && parseCallId(tool_call_id)?.run_id === answer.run_id;
};

/** A front end that retrieves texts puts them around the question, and later sends the question alone. */
const rewrittenQuestion = (
  messages: readonly ImportedMessage[],
  turn: () => StoredTurn | undefined,
): number => {
  if (messages.length === 0) return -1;
  const asked = turn()?.question ?? '';
  return messages.findLastIndex(({ role, content }) => {
    const text = role === 'user' ? normalized(textOf(content)) : '';
    return text !== '' && asked.includes(text);
  });
};

type TurnStore = Pick<Store, 'messages' | 'stopped' | 'runs'>;

/** Returns a function that reads the turn of a row. */
export const createTurns =
  ({ messages, stopped, runs }: TurnStore, fileLink: FileLink) =>
  (scope: string, { thread_id, seq, answer }: Transcript): StoredTurn | undefined => {
    if (!answer) return undefined;
    const { run_id, from_seq } = answer;
    const rows = Array.from(messages.ofRun(scope, thread_id, run_id, { from: from_seq + 1, to: seq }));
    const partial = stopped
      .range(scope, thread_id, { from: seq, to: seq })
      .find((each) => each.run_id === run_id);
    const history = rows.map(({ message }) => message);
    const of = { waits: waitsOf(undefined), stopped: partial?.message, fileLink };
    const failure = failureOfLeg(runs.get(scope, run_id)?.termination_reason);
    const asked = history.filter(({ role, visibility }) => role === 'user' && visibility === undefined);
    return {
      question: normalized(asked.map(({ content }) => textOf(content)).join('\n')),
      text: normalized(legText(messagesOfLeg(history, 0, run_id), of)),
      failure: failure && normalized(failure.message),
    };
  };
