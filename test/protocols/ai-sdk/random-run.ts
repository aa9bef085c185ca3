import type { JsonObject } from '../../../src/schema/json.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import fc from '../../random.ts';
import {
  activity,
  callDelta,
  callDone,
  callReady,
  callStart,
  inference,
  isForClient,
  needsApproval,
  reasoning,
  resumed,
  runFinish,
  runStart,
  snapshot,
  stepEnd,
  stepStart,
  text,
} from './events.ts';

/** Random runs: the responses of one run, each as the events of its stream (runtime.md 6.3). */

type Draw = fc.GeneratorValue;

// Created once: an arbitrary created at each draw is compared deeply with all earlier ones.
const STRINGS = fc.array(fc.string(), { maxLength: 3 });
const strings = (): typeof STRINGS => STRINGS;

const deltas = (g: Draw, of: (delta: string) => RunEvent): RunEvent[] => g(strings).map(of);

/** The output of one inference, with its calls. */
const said = (g: Draw, ids: readonly string[]): RunEvent[] => {
  const streamed = [...deltas(g, reasoning), ...deltas(g, text)];
  for (const id of ids) {
    streamed.push(callStart(id), ...deltas(g, (delta) => callDelta(id, delta)));
    if (g(fc.boolean)) streamed.push(...deltas(g, text), ...deltas(g, reasoning));
  }
  if (g(fc.nat, 9) === 0) {
    streamed.push({ event_type: 'tool_call_cancel', id: 'lost', name: 'look', reason: 'malformed' });
  }
  if (g(fc.nat, 9) === 0) streamed.push({ event_type: 'reasoning_encrypted_value', encrypted_value: 'x' });
  return [...streamed, ...ids.map((id) => callReady(id)), inference];
};

const result = (g: Draw, id: string): RunEvent[] => {
  const growing = deltas(g, (delta) => ({ event_type: 'tool_call_stream_delta', id, name: 'look', delta }));
  const progress = g(fc.boolean) ? [activity('tool-call-progress', { status: 'running' })] : [];
  const failed = g(fc.boolean);
  return [...progress, ...growing, failed ? callDone(id, { status: 'error', message: 'no' }) : callDone(id)];
};

export type RandomRun = {
  responses: RunEvent[][];
  /** The requested calls, by step. */
  calls: string[];
};

export const randomRun = (g: Draw): RandomRun => {
  const responses: RunEvent[][] = [];
  const calls: string[] = [];
  let steps = 0;
  let waiting: string[] = [];

  const step = (events: RunEvent[]): void => {
    steps += 1;
    const ids = Array.from({ length: g(fc.nat, 3) }, (_, index) => `c${steps}_${index}`);
    events.push(stepStart(`m${steps}`));
    if (g(fc.nat, 7) === 0) {
      // An inference that is interrupted and repeated.
      events.push(...said(g, []).slice(0, -1), { event_type: 'stream_reset', reason: 'connection reset' });
      events.push(stepEnd, stepStart(`m${steps}`));
    }
    events.push(...said(g, ids));
    calls.push(...ids);
    waiting = [];
    for (const id of ids) {
      if (g(fc.nat, 3) > 0) events.push(...result(g, id));
      else {
        waiting.push(id);
        events.push(g(fc.boolean) ? needsApproval(id) : isForClient(id));
      }
    }
    events.push(snapshot, stepEnd);
  };

  const decide = (events: RunEvent[]): void => {
    const decided = waiting.filter(() => g(fc.boolean));
    for (const id of decided.length > 0 ? decided : waiting) {
      const kind = g(fc.nat, 3);
      if (kind === 0) events.push(resumed(id, { approved: false }, 'cancel'));
      else if (kind === 1) events.push(resumed(id, { error: 'no' }));
      else events.push(resumed(id, { temp: 7 }));
    }
    waiting = decided.length > 0 ? waiting.filter((id) => !decided.includes(id)) : [];
  };

  do {
    const events: RunEvent[] = [runStart()];
    decide(events);
    while (waiting.length === 0 && (steps === 0 || (steps < 4 && g(fc.boolean)))) step(events);
    events.push(snapshot, runFinish(waiting.length > 0 ? { type: 'suspended' } : g(endings)));
    responses.push(events);
  } while (waiting.length > 0);
  return { responses, calls };
};

const ENDINGS = fc.constantFrom<Parameters<typeof runFinish>[0]>(
  { type: 'natural_end' },
  { type: 'cancelled' },
  { type: 'error', value: 'broken' },
);
const endings = (): typeof ENDINGS => ENDINGS;

/** A call of the model provider in each of its states, and an invalid one. */
const PROVIDER_CALLS: JsonObject[] = [
  { id: 'p1', tool: 'web_search', status: 'running' },
  { id: 'p1', tool: 'web_search', status: 'running', input: { queries: ['a'] } },
  { id: 'p1', tool: 'web_search', status: 'completed', output: { results: [] } },
  { id: 'p2', tool: 'code_execution', status: 'failed', error: 'no' },
  { id: 'p3', tool: 'unknown' },
];

/** Any event of a run, for sequences in any order. */
export const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.constantFrom(runStart(), runStart('N'), runFinish(), runFinish({ type: 'suspended' })),
  fc.constantFrom(runFinish({ type: 'error', value: 'x' }), { event_type: 'error', message: 'x' } as const),
  fc.constantFrom(stepStart('m1'), stepStart(' '), stepEnd, inference, snapshot),
  fc.constantFrom(text('a'), reasoning('b'), callStart('c1'), callDelta('c1', '{'), callReady('c1')),
  fc.constantFrom(callDone('c1'), needsApproval('c1'), isForClient('c1'), resumed('c1', 1)),
  fc.constantFrom<RunEvent>(
    { event_type: 'stream_reset', reason: 'connection reset' },
    { event_type: 'stream_reset', reason: 'connection reset', text: 'a' },
    { event_type: 'tool_call_cancel', id: 'c1', name: 'look', reason: 'output limit' },
  ),
  fc.constantFrom(...PROVIDER_CALLS.map((call) => activity('provider-call', call))),
  fc.jsonValue().map((content) => activity('source-document', JSON.parse(JSON.stringify(content)))),
);
