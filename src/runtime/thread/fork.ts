import type { Accept } from '../../schema/idempotency.ts';
import { isRewound, type Message } from '../../schema/message.ts';
import { Conflict, Invalid, NotFound, TooLarge } from '../../schema/outcome.ts';
import type { Place } from '../../schema/place.ts';
import type { ForkedFrom, Thread } from '../../schema/thread.ts';
import { ownTurn } from '../../schema/turns.ts';
import type { MessageRow, PastState, Store } from '../../store/index.ts';
import type { RuntimeDeps } from '../deps.ts';
import { commit } from '../ledger/commit.ts';
import { copyHistory } from '../ledger/copy-history.ts';
import { forkPointsOf } from '../ledger/fork-points.ts';
import { WINDOW_ROWS } from '../ledger/history-windows.ts';
import { applyRewinds } from '../ledger/rewind.ts';
import { acceptKeyed, createThread, logEvent, openWrite } from '../ledger/transaction.ts';
import type { Supervisor } from './supervisor.ts';

/**
 * Forks a thread: a new thread begins with the history of another one up to a point (runtime.md 3.5).
 *
 * Guarantees: one commit creates the thread with its messages, their sequence numbers and marks, and the state that the
 * last run before the point has left. Runs, events, dispatches and tickets are not copied. Only committed messages are
 * read, so a run of the other thread may be executing.
 * Cost: reads and writes each message once, in windows that yield to other requests; the commit is one tick.
 */

/** Default: the last point at which the history can be divided. */
export type ForkPoint =
  | { seq: number }
  /** The last possible point at or before this message. */
  | { upTo: number }
  | { message_id: string }
  | { run_id: string };

export type NewFork = {
  at?: ForkPoint;
  /** Id of the new thread. */
  id?: string;
  title?: string;
  resource_id?: string;
};

export type ForkRequest = {
  from: Place;
  /** The partition of the new thread. */
  scope: string;
  /** The name of the other thread in the record of the new one. */
  fromId: string;
  fork: NewFork;
  /** The key of the request. */
  keyed?: Accept<Thread> | undefined;
};

/** Messages of a fork. */
export const MOST_COPIED = 10_000;

type ForkDeps = Pick<RuntimeDeps, 'clock' | 'ids' | 'store' | 'observe'> & { supervisor: Supervisor };

/** @throws Invalid, NotFound, Conflict, TooLarge */
export const forkThread = async (deps: ForkDeps, request: ForkRequest): Promise<Thread> => {
  const { clock, ids, store, supervisor, observe } = deps;
  const { from, scope, fromId, fork, keyed } = request;
  const source = store.threads.get(from.scope, from.id)?.thread;
  if (!source) throw new NotFound(`thread not found: ${fromId}`);
  const last = store.messages.last(from.scope, from.id)?.seq ?? 0;
  const history = await readHistory(store, from, last);
  const seq = pointIn(history, fork.at, { last, open: openCalls(store, from) });
  const rows = history.slice(0, seq);
  const state = stateAt(store, from, { seq, last });
  const { id = ids.uuid(), title = source.metadata.title, resource_id = source.resource_id } = fork;
  const isBelow = from.scope === scope;
  return supervisor.reach(scope, id, async ({ ledger }) => {
    if (ledger.record) throw new Conflict(`thread '${id}' exists already`);
    if (!store.threads.get(from.scope, from.id)) throw new NotFound(`thread not found: ${fromId}`);
    const write = openWrite(ledger, clock.now());
    const forked_from: ForkedFrom = { thread_id: fromId, seq };
    const thread = createThread(write, {
      id,
      ...(resource_id !== undefined && { resource_id }),
      ...(isBelow && { parent_thread_id: from.id }),
      forked_from,
      metadata: { created_at: write.at, updated_at: write.at, ...(title !== undefined && { title }) },
    });
    copyHistory(write, rows, state);
    const facts = { thread_id: id, from_thread_id: fromId, from_seq: seq };
    logEvent(write, 'ThreadForked', facts, { correlation_id: id, origin: 'server' });
    acceptKeyed(write, keyed, thread);
    await commit(write, 'input');
    observe.threads.forked();
    return thread;
  });
};

/** Returns the messages that can be copied. @throws NotFound */
const readHistory = async (
  { messages, threads }: Pick<Store, 'messages' | 'threads'>,
  { scope, id }: Place,
  last: number,
): Promise<MessageRow[]> => {
  const rows: MessageRow[] = [];
  while (rows.length < Math.min(last, MOST_COPIED)) {
    const bounds = { from: rows.length + 1, limit: WINDOW_ROWS };
    const read = Array.from(messages.range(scope, id, bounds));
    if (read.length === 0 || !threads.get(scope, id)) throw new NotFound(`thread not found: ${id}`);
    rows.push(...read);
    await ownTurn();
  }
  return rows;
};

/** Returns the number of messages to copy. @throws Invalid, TooLarge */
const pointIn = (
  rows: readonly MessageRow[],
  at: ForkPoint | undefined,
  { last, open }: { last: number; open: ReadonlySet<string> },
): number => {
  const history = rows.map(({ message }) => message);
  const seq = namedIn(history, at, last);
  if (seq === undefined || seq > history.length)
    throw new TooLarge(`a fork has at most ${MOST_COPIED} messages, and the thread has ${last}`);
  const points = forkPointsOf(history, open);
  // A run may be in a step, which is then left out; a message is named on purpose.
  if (at === undefined || 'run_id' in at || 'upTo' in at) return points.before(seq);
  if (points.has(seq)) return seq;
  const nearest = [points.before(seq), points.after(seq)].filter((point) => point !== undefined);
  throw new Invalid(`cannot fork inside a step; nearest points are ${nearest.join(', ')}`);
};

/** Returns undefined if the message may be one of those that were not read. @throws Invalid */
const namedIn = (
  history: readonly Message[],
  at: ForkPoint | undefined,
  last: number,
): number | undefined => {
  if (at === undefined) return last;
  if ('upTo' in at) return Math.min(at.upTo, last);
  if ('seq' in at) {
    if (at.seq <= last) return at.seq;
    throw new Invalid(`at.seq must be between 0 and ${last} (got ${at.seq})`);
  }
  const found =
    'run_id' in at
      ? history.findLastIndex(({ metadata }) => metadata?.run_id === at.run_id)
      : applyRewinds([...history]).findLastIndex(
          (message) => message.id === at.message_id && !isRewound(message),
        );
  if (found >= 0) return found + 1;
  if (last > history.length) return undefined;
  throw new Invalid('run_id' in at ? `run not found: ${at.run_id}` : `message not found: ${at.message_id}`);
};

/** Returns the calls of the thread that wait for a decision or a result. */
const openCalls = ({ runs }: Pick<Store, 'runs'>, { scope, id }: Place): ReadonlySet<string> =>
  new Set(
    runs
      .waitingOf(scope, id)
      .flatMap(({ waiting }) => waiting?.tickets?.map(({ tool_call_id }) => tool_call_id) ?? []),
  );

/** Data directories of older versions have only the current state. */
const stateAt = (
  { pastStates, state }: Pick<Store, 'pastStates' | 'state'>,
  { scope, id }: Place,
  { seq, last }: { seq: number; last: number },
): PastState | undefined => {
  const past = pastStates.at(scope, id, seq);
  if (past || seq < last) return past;
  // Only `persistState` writes this row.
  return state.get(scope, id) as PastState | undefined;
};
