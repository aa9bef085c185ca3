import type { Run } from '../../src/schema/run.ts';
import { eventsOf, type Sequence, THREADS } from './sequence.ts';
import { runsOf } from './service.ts';

/** What a client can know of a thread while nothing is being written. */

export type ThreadView = {
  id: string;
  exists: boolean;
  runs: ReadonlyMap<string, Run>;
  /** The run that executes, or waits for its next attempt. */
  busy: Run | undefined;
  /** Runs that wait for their turn, in the order of the queue. */
  queued: readonly string[];
  /** The run that new input continues, if its agent is the right one (runtime.md 7.4). */
  open: Run | undefined;
  waiting: readonly Run[];
  dispatches: number;
  messages: readonly string[];
  events: readonly string[];
};

export const viewOf = (sequence: Sequence, id: string): ThreadView => {
  const { store, scope } = sequence;
  const runs = new Map(
    runsOf(sequence)
      .filter(({ thread_id }) => thread_id === id)
      .map((run) => [run.run_id, run]),
  );
  const thread = store.threads.get(scope, id)?.thread;
  const last = runs.get(thread?.open_run_id ?? thread?.latest_run_id ?? '');
  const all = [...runs.values()];
  return {
    id,
    exists: thread !== undefined,
    runs,
    busy: all.find(({ status }) => status === 'running'),
    queued: store.dispatches
      .queued(scope, id)
      .map(({ run_id }) => run_id)
      .filter((run_id) => runs.get(run_id)?.status !== 'running'),
    open: last?.status === 'waiting' ? last : undefined,
    waiting: all.filter(({ status }) => status === 'waiting'),
    dispatches: store.dispatches.listByThread(scope, id, { offset: 0, limit: 10_000 }).length,
    messages: Array.from(store.messages.range(scope, id, {}), ({ message }) => message.id),
    events: eventsOf(sequence, id).map(({ event_id }) => event_id),
  };
};

export type World = ReadonlyMap<string, ThreadView>;

export const worldOf = (sequence: Sequence): World =>
  new Map(THREADS.map((id) => [id, viewOf(sequence, id)]));

/** Calls of a run that wait for a decision which nobody has made. */
export const openCalls = (run: Run | undefined): string[] => {
  const decided = run?.activation?.seeded_decisions?.map(([call_id]) => call_id) ?? [];
  const tickets = run?.waiting?.tickets ?? [];
  return tickets.map(({ tool_call_id }) => tool_call_id).filter((id) => !decided.includes(id));
};
