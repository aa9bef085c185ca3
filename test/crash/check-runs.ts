import { z } from 'zod';
import { type Run, RunStatus } from '../../src/schema/run.ts';
import type { Broken } from './broken.ts';
import type { Client } from './client.ts';
import type { Ledger, StreamEnd } from './ledger.ts';
import { eventsOf, runsOf, type ThreadRecord, threadsOf, totalOf } from './records.ts';
import type { Tail } from './tail.ts';

/** Checks that streams, counters and followers agree with the records. */

const SHUTDOWN = 'service is shutting down';

/**
 * Checks that a finished stream reported the ending of its run; a suspended run may have continued since. A stream
 * released by a stop reports nothing about its run, which may still be queued.
 */
export const checkStreams = (
  broken: Broken,
  ends: readonly StreamEnd[],
  runs: ReadonlyMap<string, Run>,
): void => {
  for (const { run_id, route, type, reason } of ends) {
    if (reason === SHUTDOWN) continue;
    const run = runs.get(run_id);
    const about = `the stream of run ${run_id} by ${route} ended with ${type} ${reason}`;
    if (!run) {
      broken.note('stream', `${about}, and there is no such run`);
      continue;
    }
    const found = run.termination_reason?.type;
    if (type === 'any' ? run.status === 'running' || run.status === 'created' : isAnother(type, run))
      broken.note('stream', `${about}, its record is ${run.status} ${found ?? ''}`);
  }
};

const isAnother = (type: string, { status, termination_reason }: Run): boolean => {
  if (type === 'suspended') return status === 'created' || status === 'running';
  return status !== 'done' || termination_reason?.type !== type;
};

const Summary = z.object({ running: z.number(), waiting: z.number(), created: z.number() });

/** Checks that totals equal the number of rows on all pages. */
export const checkCounters = async (broken: Broken, client: Client, all: boolean): Promise<void> => {
  const summary = await client.read('/v1/runs/summary', Summary);
  for (const status of RunStatus.options) {
    if (status === 'done' && !all) continue;
    const total = await totalOf(client, status);
    const rows = (await runsOf(client, { status })).length;
    broken.same('counter', `total of ${status} runs`, total, rows);
    if (status !== 'done') broken.same('counter', `summary of ${status} runs`, summary[status], rows);
  }
  const { ids, total } = await threadsOf(client);
  broken.same('counter', 'total of threads', total, ids.length);
  if (new Set(ids).size !== ids.length) broken.note('counter', 'a thread is listed twice');
};

/** Checks that a follower receives every event once by cursor, across all restarts, up to the last one. */
export const checkTail = (
  broken: Broken,
  { thread, seen, refused, cursor }: Tail,
  record: ThreadRecord,
): void => {
  if (refused.length > 0) broken.note('events', `${thread}: cursor ${cursor} got status ${refused}`);
  const [first] = seen;
  if (first === undefined) return;
  const log = record.events.map(({ event_id }) => event_id);
  const expected = log.slice(log.indexOf(first));
  const wrong = expected.findIndex((id, index) => id !== seen[index]);
  if (wrong >= 0 || seen.length !== expected.length) {
    const at = wrong < 0 ? expected.length : wrong;
    const { event_kind, run_id } = record.events[log.indexOf(first) + at] ?? {};
    broken.note(
      'events',
      `${thread}: a follower saw ${seen.length} of ${expected.length} events, wrong from ${at} on: ${event_kind} of ${run_id} is ${expected[at]}, it saw ${seen[at]}`,
    );
  }
};

/** Checks that an old cursor returns the rest of the log. */
export const checkCursor = async (
  broken: Broken,
  client: Client,
  { id, events }: ThreadRecord,
): Promise<void> => {
  const middle = events[Math.floor(events.length / 2)];
  const cursor = middle?.cursors_by_scope[0]?.cursor;
  if (!middle || cursor === undefined) return;
  const rest = await eventsAfter(client, id, cursor);
  const expected = events.slice(events.indexOf(middle) + 1).map(({ event_id }) => event_id);
  if (rest.join() !== expected.join())
    broken.note('events', `${id}: behind ${cursor} are ${rest.length} events, not ${expected.length}`);
};

const eventsAfter = async (client: Client, thread: string, cursor: string): Promise<string[]> =>
  (await eventsOf(client, `/v1/threads/${thread}`, cursor)).map(({ event_id }) => event_id);

/** Checks that an acknowledged decision is logged and closed, and that its call was executed once. */
export const checkDecisions = (
  broken: Broken,
  { decisions }: Ledger,
  records: ReadonlyMap<string, ThreadRecord>,
  executed: readonly string[],
): void => {
  for (const { thread, run_id, call, action, outcome } of decisions) {
    const record = records.get(thread);
    const run = record?.runs.find((each) => each.run_id === run_id);
    if (!record || outcome !== 'acknowledged') continue;
    const about = `${action} of call ${call} of run ${run_id} on ${thread}`;
    if (run?.waiting?.tickets?.some(({ tool_call_id }) => tool_call_id === call))
      broken.note('decision', `${about} was acknowledged, and the call still waits`);
    const received = record.events.filter(
      ({ event_kind, payload }) =>
        event_kind === 'MailboxDecisionReceived' &&
        payload.run_id === run_id &&
        payload.tool_call_id === call,
    );
    if (received.length === 0) broken.note('decision', `${about} was acknowledged and is not in the log`);
  }
  const times = new Map<string, number>();
  for (const call of executed) times.set(call, (times.get(call) ?? 0) + 1);
  for (const [call, count] of times)
    if (count > 1) broken.note('decision', `call ${call} was executed ${count} times`);
};
