import { setTimeout as pause } from 'node:timers/promises';
import type { ShippedBatch, Sink, SinkOutcome } from '../store/engine/sink.ts';
import { type Commit, takeCommit } from './commits.ts';
import type { Statement } from './connection.ts';
import type { Lane } from './lane.ts';
import { refusalOf, sendResultOf } from './send-results.ts';
import { FIRST_STATE, type Outcome, type SettleEvent, type SettleState, settle } from './settle.ts';
import type { Statements } from './statements.ts';

/**
 * Sends group commits to the database: one at a time, each with the next number of the chain of its member.
 *
 * Guarantees: a batch is reported when its outcome is certain (`settle.ts`); until then nothing else is sent. With a
 * batch that is at fault, the later ones of its lineages in the group are refused, which were built on rows that do not
 * exist, and no other. A member that has lost its place sends nothing more.
 * Cost: one statement a commit.
 */
export type MemberSink = Sink & {
  /** The last number of the chain that is known to be taken. */
  readonly committed: number;
  /** Stops what is under way: its batches are reported as abandoned. */
  close(): void;
};

/** A commit without an answer, and later its outcome. */
export type CommitNotice =
  | { type: 'unknown'; number: number }
  /** `wasOpen`: the database did not have it, so that it was sent again. */
  | { type: 'settled'; number: number; outcome: Outcome; wasOpen: boolean };

export type SinkOptions = {
  member: string;
  lane: Lane;
  statements: Statements;
  /** How long a commit waits for its answer, in milliseconds. */
  timeoutMs: number;
  observe(notice: CommitNotice): void;
};

type Refused = Extract<SinkOutcome, { result: 'refused' }>;
type State = SinkOptions & {
  readonly closing: AbortController;
  number: number;
  /** Why this member commits nothing more. */
  end: Refused | undefined;
};

export const createSink = (options: SinkOptions): MemberSink => {
  const state: State = { ...options, closing: new AbortController(), number: 0, end: undefined };
  let last: Promise<unknown> = Promise.resolve();
  return {
    ship(group) {
      const shipped = last.then(() => ship(state, group));
      last = shipped;
      return shipped;
    },
    get committed() {
      return state.number;
    },
    close() {
      state.closing.abort();
      state.lane.close();
    },
  };
};

type Entry = { readonly batch: ShippedBatch; outcome: SinkOutcome | undefined };

const ship = async (state: State, group: readonly ShippedBatch[]): Promise<readonly SinkOutcome[]> => {
  const entries = group.map((batch): Entry => ({ batch, outcome: state.end }));
  await shipEntries(state, entries, entries);
  return entries.map(({ outcome }) => outcome ?? abandoned());
};

const isOpen = ({ outcome }: Entry): boolean => outcome === undefined;

/** Sends those of the entries that have no outcome. A refusal may extend to others of the group. */
const shipEntries = async (
  state: State,
  entries: readonly Entry[],
  group: readonly Entry[],
): Promise<void> => {
  for (let rest = entries.filter(isOpen); rest.length > 0; rest = rest.filter(isOpen)) {
    const { commit, taken } = takeCommit(rest.map(({ batch }) => batch));
    const sent = rest.slice(0, taken);
    const outcome = await send(state, commit);
    if (isFaulty(outcome) && sent.length > 1) {
      for (const each of sent) await shipEntries(state, [each], group);
    } else {
      record(state, sent, group, outcome);
    }
  }
};

const FAULTS: readonly Refused['why'][] = ['not-owner', 'clash', 'invalid'];

const isFaulty = (outcome: SinkOutcome): outcome is Refused =>
  outcome.result === 'refused' && FAULTS.includes(outcome.why);

const record = (
  state: State,
  sent: readonly Entry[],
  group: readonly Entry[],
  outcome: SinkOutcome,
): void => {
  for (const entry of sent) entry.outcome = outcome;
  if (outcome.result === 'applied') return;
  if (outcome.result === 'refused' && (outcome.why === 'fenced' || outcome.why === 'behind')) {
    state.end = outcome;
  }
  const refused = new Set(sent.map(({ batch }) => batch.lineage));
  const isOnTop = ({ lineage }: ShippedBatch): boolean => lineage !== null && refused.has(lineage);
  for (const entry of group.filter(isOpen)) {
    if (!isFaulty(outcome) || isOnTop(entry.batch)) entry.outcome = outcome;
  }
};

const abandoned = (): Refused => ({
  result: 'refused',
  why: 'abandoned',
  error: new Error('the database was closed before the outcome of the commit was known'),
});

/** One commit on its way. `error`: the last that the server has answered with. */
type Way = { readonly state: State; readonly number: number; readonly statement: Statement; error: unknown };

const send = async (state: State, commit: Commit): Promise<SinkOutcome> => {
  const number = state.number + 1;
  let statement: Statement;
  try {
    statement = state.statements.commit(state.member, number, commit);
  } catch (error) {
    return refused('faulty', error);
  }
  const way: Way = { state, number, statement, error: undefined };
  const end = await settleWay(way);
  if (!end) return abandoned();
  state.number += end.numbers;
  return end.outcome === 'applied' ? { result: 'applied' } : refused(end.outcome, way.error);
};

const refused = (outcome: Exclude<Outcome, 'applied'>, error: unknown): Refused => ({
  result: 'refused',
  why: outcome === 'faulty' ? refusalOf(error) : outcome,
  error: error instanceof Error ? error : new Error(`the commit is refused: the member is ${outcome}`),
});

type Settled = Extract<SettleState, { at: 'settled' }>;

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1000;

/** Takes the steps until the outcome is certain, or returns nothing when the sink is closed before. */
const settleWay = async (way: Way): Promise<Settled | undefined> => {
  const { closing, observe } = way.state;
  let state: SettleState = FIRST_STATE;
  let isUnknown = false;
  let wasOpen = false;
  let fruitless = 0;
  while (state.at !== 'settled') {
    if (closing.signal.aborted) return undefined;
    const event: SettleEvent = await STEPS[state.at](way);
    const wasAsking = state.at === 'asking';
    state = settle(state, event);
    wasOpen ||= wasAsking && state.at === 'sending';
    if (!isUnknown && state.at === 'asking') {
      isUnknown = true;
      observe({ type: 'unknown', number: way.number });
    }
    fruitless = isFruitless(event) ? fruitless + 1 : 0;
    if (fruitless > 0 && state.at !== 'settled') {
      const wait = Math.min(FIRST_PAUSE_MS * 2 ** (fruitless - 1), LONGEST_PAUSE_MS);
      await pause(wait, undefined, { signal: closing.signal }).catch(() => {});
    }
  }
  if (isUnknown) observe({ type: 'settled', number: way.number, outcome: state.outcome, wasOpen });
  return state;
};

/** After these the next step waits for a moment: the same would come of it at once. */
const isFruitless = (event: SettleEvent): boolean =>
  event.type === 'unanswered' ||
  (event.type === 'sent' && ['unsent', 'contended', 'unwritable', 'faulty'].includes(event.result));

const STEPS: Record<Exclude<SettleState['at'], 'settled'>, (way: Way) => Promise<SettleEvent>> = {
  sending: (way) => sendStatement(way, way.statement),
  voiding: (way) => sendVoid(way),
  asking: (way) => ask(way, way.number),
  askingVoid: (way) => ask(way, way.number + 1),
};

const sendStatement = async (way: Way, statement: Statement): Promise<SettleEvent> => {
  try {
    await way.state.lane.query(statement, way.state.timeoutMs);
    return { type: 'sent', result: 'returned' };
  } catch (error) {
    way.error = error;
    return { type: 'sent', result: sendResultOf(error) };
  }
};

/** The error of the commit stays the one to report. */
const sendVoid = async (way: Way): Promise<SettleEvent> => {
  const { error } = way;
  const event = await sendStatement(way, way.state.statements.void(way.state.member, way.number));
  way.error = error;
  return event;
};

type AnswerRow = { state: string | null; here: boolean; before: boolean };

const ask = async ({ state }: Way, number: number): Promise<SettleEvent> => {
  try {
    const [row] = await state.lane.query<AnswerRow>(
      state.statements.settle(state.member, number),
      state.timeoutMs,
    );
    if (!row) return { type: 'unanswered' };
    // Only rows of ended memberships are removed.
    const isGone = row.state === null || row.state === 'gone';
    return { type: 'asked', answer: { isGone, isHere: row.here, isBeforeHere: row.before } };
  } catch {
    return { type: 'unanswered' };
  }
};
