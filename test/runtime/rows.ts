import type { Test } from 'tap';
import { targetedAt } from '../../src/runtime/ledger/pending.ts';
import { textOf } from '../../src/schema/message.ts';
import type { Run } from '../../src/schema/run.ts';
import { settle, when } from '../http/serve.ts';
import type { TestRuntime } from './runtime.ts';

/** The rows of a thread, and the invariants that hold whenever the thread is idle. */

const SCOPE = 'default';

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

export const rowsOf = ({ store }: TestRuntime, thread_id: string) => {
  const rows = {
    runs: (): Run[] => store.runs.list(SCOPE, { thread_id }, { offset: 0, limit: 1000 }).items,
    dispatches: () => [...store.dispatches.listByThread(SCOPE, thread_id, { offset: 0, limit: 1000 })],
    events: () => store.events.list(SCOPE, { thread_id }, 0, 10_000).rows.map(({ event }) => event),
    thread: () => store.threads.get(SCOPE, thread_id)?.thread,
    /** The user messages of the history. */
    said: () =>
      Array.from(store.messages.range(SCOPE, thread_id, {}), ({ message }) => message)
        .filter(({ role }) => role === 'user')
        .map(({ content }) => textOf(content)),
    /** Waits until no work of the thread is queued or executing. */
    async rest(): Promise<void> {
      const isBusy = ({ status, run_id }: Run): boolean =>
        status === 'created' ||
        status === 'running' ||
        // Input for a suspended run resumes it.
        (status === 'waiting' && targetedAt(store.pending.of(SCOPE, thread_id), run_id).length > 0);
      const busy = () =>
        rows.runs().some(isBusy) ||
        // Queued work may resume a suspended run.
        rows.dispatches().some(({ status }) => status === 'Queued');
      // A recent request may not have started yet.
      await settle();
      await when(() => !busy());
    },
    check: (t: Test): void => check(t, rows),
  };
  return rows;
};

const check = (t: Test, rows: Omit<ReturnType<typeof rowsOf>, 'check'>): void => {
  const events = rows.events();
  const runs = rows.runs();
  for (const { run_id, status } of runs) {
    const kinds = events.filter((event) => event.run_id === run_id).map(({ event_kind }) => event_kind);
    const ends = kinds.filter((kind) => TERMINAL.includes(kind));
    const expected = status === 'done' ? [kinds.at(-1)] : [];
    if (ends.join() !== expected.join()) t.fail(`a run that is ${status} has the events ${kinds}`);
    const open = rows
      .dispatches()
      .filter((each) => each.run_id === run_id && ['Queued', 'Claimed'].includes(each.status));
    if (open.length > (status === 'waiting' ? 1 : 0))
      t.fail(`work is open for a run that is ${status}: ${kinds}`);
  }
  const seqs = events
    .filter(({ event_kind }) => event_kind === 'MessageCommitted')
    .map(({ payload }) => payload.message_seq);
  const gapless = seqs.every((seq, index) => seq === index + 1);
  if (!gapless) t.fail(`messages were committed as ${seqs}`);
  const thread = rows.thread();
  if (!thread) return;
  const waits = runs.some(({ status }) => status === 'waiting');
  if (thread.active_run_id !== undefined) t.fail('an inactive thread has an active run');
  if (!waits && thread.open_run_id !== undefined) t.fail('an open run exists, but none is waiting');
};
