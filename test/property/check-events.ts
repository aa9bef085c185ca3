import assert from 'node:assert/strict';
import type { LoggedEvent } from '../../src/schema/canonical-event.ts';
import type { Sequence } from './sequence.ts';
import type { ThreadView, World } from './view.ts';

/** Checks that the event log agrees with the records, without duplicates (runtime.md 13.5). */

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

const kinds = (events: readonly LoggedEvent[]): string[] => events.map(({ event_kind }) => event_kind);

const checkTerminal = ({ runs, events }: ThreadView): void => {
  for (const { run_id, status } of runs.values()) {
    const own = events.filter((event) => event.run_id === run_id);
    const last = own.at(-1)?.event_kind ?? '';
    const ends = kinds(own).filter((kind) => TERMINAL.includes(kind));
    const about = `run ${run_id} is ${status}: ${kinds(own)}`;
    assert.equal(ends.length, status === 'done' ? 1 : 0, about);
    if (status === 'done') assert.ok(TERMINAL.includes(last), about);
  }
};

/** A run executes from RunSubmitted or RunResumed until it ends, is suspended or is released. */
const checkOneAtATime = (events: readonly LoggedEvent[]): void => {
  let executing: string | undefined;
  for (const { event_kind: kind, run_id } of events) {
    if (kind === 'RunSubmitted' || kind === 'RunResumed') {
      assert.ok(
        executing === undefined || executing === run_id,
        `${run_id} began while ${executing} executed`,
      );
      executing = run_id;
    }
    const over = TERMINAL.includes(kind) || kind === 'RunSuspended' || kind === 'RunRescheduled';
    if (over && executing === run_id) executing = undefined;
  }
};

/** Each life of the thread id has a separate history. */
const checkMessages = ({ id, thread, events, history, seqs }: ThreadView): void => {
  const created = events.findLastIndex(({ event_kind }) => event_kind === 'ThreadCreated');
  const committed = (some: readonly LoggedEvent[]) =>
    some.filter(({ event_kind }) => event_kind === 'MessageCommitted').map(({ payload }) => payload);
  const all = committed(events).map(({ message_id }) => message_id);
  assert.equal(new Set(all).size, all.length, `${id}: a message was committed twice`);
  if (!thread) return;
  const logged = committed(events.slice(Math.max(0, created))).map((each) => [
    each.message_id,
    each.message_seq,
  ]);
  const stored = history.map((message, index) => [message.id, seqs[index]]);
  assert.deepEqual(logged, stored, `${id}: the log and the history`);
};

/** Holds whenever nothing is being written. */
export const checkEvents = (world: World): void => {
  for (const view of world.values()) {
    checkTerminal(view);
    checkOneAtATime(view.events);
    checkMessages(view);
  }
};

/** Checks that clients receive these events: as a list, by run, and as a stream from the beginning. */
export const checkReaders = ({ life: { feed }, scope, tails }: Sequence, world: World): void => {
  const listed = (by: Parameters<typeof feed.list>[1]): string[] =>
    feed.list(scope, by, undefined, 100_000).items.map(({ event_id }) => event_id);
  for (const { id, events, runs } of world.values()) {
    const all = events.map(({ event_id }) => event_id);
    assert.deepEqual(listed({ thread_id: id }), all, `${id}: the list of events`);
    assert.deepEqual(tails.get(id)?.seen(), all, `${id}: the stream of events`);
    for (const run_id of runs.keys()) {
      const own = events.filter((event) => event.run_id === run_id).map(({ event_id }) => event_id);
      assert.deepEqual(listed({ run_id }), own, `the log of run ${run_id}`);
    }
  }
};
