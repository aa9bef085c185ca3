import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Dispatch } from '../../src/schema/dispatch.ts';
import type { Message } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import type { Thread } from '../../src/schema/thread.ts';
import { type Sequence, THREADS } from './sequence.ts';
import { eventsOf, runsOf } from './service.ts';

/** The state of the threads at a moment in which nothing is being written. */

export type ThreadView = {
  id: string;
  thread: Thread | undefined;
  runs: ReadonlyMap<string, Run>;
  dispatches: readonly Dispatch[];
  history: readonly Message[];
  seqs: readonly number[];
  events: readonly LoggedEvent[];
  /** The run that is executing or waiting for its next attempt. */
  busy: Run | undefined;
  /** Queued runs in the order of the queue. */
  queued: readonly string[];
  /** The run that new input continues if its agent matches (runtime.md 7.4). */
  open: Run | undefined;
  waiting: readonly Run[];
};

export const viewOf = (sequence: Sequence, id: string, all: readonly Run[]): ThreadView => {
  const { store, scope } = sequence;
  const own = all.filter(({ thread_id }) => thread_id === id);
  const runs = new Map(own.map((run) => [run.run_id, run]));
  const thread = store.threads.get(scope, id)?.thread;
  const last = runs.get(thread?.open_run_id ?? thread?.latest_run_id ?? '');
  const rows = Array.from(store.messages.range(scope, id, {}));
  return {
    id,
    thread,
    runs,
    dispatches: [...store.dispatches.listByThread(scope, id, { offset: 0, limit: 10_000 })],
    history: rows.map(({ message }) => message),
    seqs: rows.map(({ seq }) => seq),
    events: eventsOf(sequence, id),
    busy: own.find(({ status }) => status === 'running'),
    queued: store.dispatches
      .queued(scope, id)
      .map(({ run_id }) => run_id)
      .filter((run_id) => runs.get(run_id)?.status !== 'running'),
    open: last?.status === 'waiting' ? last : undefined,
    waiting: own.filter(({ status }) => status === 'waiting'),
  };
};

export type World = ReadonlyMap<string, ThreadView>;

export const worldOf = (sequence: Sequence): World => {
  const all = runsOf(sequence);
  return new Map(THREADS.map((id) => [id, viewOf(sequence, id, all)]));
};

/** Suspended calls of a run without a decision. */
export const openCalls = (run: Run | undefined): string[] => {
  const decided = run?.activation?.seeded_decisions?.map(([call_id]) => call_id) ?? [];
  const tickets = run?.waiting?.tickets ?? [];
  return tickets.map(({ tool_call_id }) => tool_call_id).filter((id) => !decided.includes(id));
};
