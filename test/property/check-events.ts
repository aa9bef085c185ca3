import assert from 'node:assert/strict';
import type { CanonicalEvent } from '../../src/schema/canonical-event.ts';
import { eventsOf, type Sequence, THREADS } from './sequence.ts';
import { runsOf } from './service.ts';

/** The event log tells the same story as the records, once (runtime.md 13.5). */

const TERMINAL = ['RunFinished', 'RunCancelled', 'RunErrored', 'RunTerminated'];

/** It may follow the end of its run, when that end took longer to write than somebody waited for it. */
const TIMEOUT_BEHIND_END = 'MailboxTimeout';

const kinds = (events: readonly CanonicalEvent[]): string[] => events.map(({ event_kind }) => event_kind);

const checkTerminal = (sequence: Sequence, events: readonly CanonicalEvent[]): void => {
  for (const { run_id, status, thread_id } of runsOf(sequence)) {
    const own = events.filter((event) => event.run_id === run_id);
    const last = own.findLast(({ event_kind }) => event_kind !== TIMEOUT_BEHIND_END)?.event_kind;
    if (events[0]?.thread_id !== thread_id) continue;
    const ends = kinds(own).filter((kind) => TERMINAL.includes(kind));
    assert.equal(
      ends.length,
      status === 'done' ? 1 : 0,
      `run ${run_id} is ${status} and has ${ends.join() || 'no end'}`,
    );
    if (status === 'done')
      assert.ok(TERMINAL.includes(last ?? ''), `run ${run_id} goes on behind its end: ${kinds(own)}`);
    const { items } = sequence.life.feed.list(sequence.scope, { run_id }, undefined, 100_000);
    assert.deepEqual(
      items.map(({ event_id }) => event_id),
      own.map(({ event_id }) => event_id),
      `log of run ${run_id}`,
    );
  }
};

/** From RunSubmitted or RunResumed on a run executes, until it ends, suspends, or is given back. */
const checkOneAtATime = (events: readonly CanonicalEvent[]): void => {
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

/** Each life of the thread id has a history of its own. */
const checkMessages = ({ store, scope }: Sequence, id: string, events: readonly CanonicalEvent[]): void => {
  const created = Math.max(
    0,
    events.findLastIndex(({ event_kind }) => event_kind === 'ThreadCreated'),
  );
  const committed = (some: readonly CanonicalEvent[]) =>
    some.filter(({ event_kind }) => event_kind === 'MessageCommitted').map(({ payload }) => payload);
  const all = committed(events).map(({ message_id }) => message_id);
  assert.equal(new Set(all).size, all.length, `${id}: a message was committed twice`);
  if (!store.threads.get(scope, id)) return;
  const logged = committed(events.slice(created)).map(({ message_id, message_seq }) => [
    message_id,
    message_seq,
  ]);
  const rows = Array.from(store.messages.range(scope, id, {}), ({ seq, message }) => [message.id, seq]);
  assert.deepEqual(logged, rows, `${id}: the log and the history`);
};

/** Holds whenever nothing is being written. */
export const checkEvents = (sequence: Sequence): void => {
  for (const id of THREADS) {
    const events = eventsOf(sequence, id);
    checkTerminal(sequence, events);
    checkOneAtATime(events);
    checkMessages(sequence, id, events);
  }
};

/** Whoever followed the log has seen all of it, once. */
export const checkTails = (sequence: Sequence): void => {
  for (const [id, tail] of sequence.tails) {
    const expected = eventsOf(sequence, id).map(({ event_id }) => event_id);
    assert.deepEqual(tail.seen(), expected, `${id}: the stream of events`);
  }
};
