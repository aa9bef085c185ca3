import assert from 'node:assert/strict';
import type { RunEvent } from '../../src/schema/run-event.ts';
import type { Input, Request } from './client.ts';
import type { Sequence } from './sequence.ts';

/** Checks that every request has a response, that streams end once, and that tools execute exactly what was decided. */

const checkAnswer = ({ refused, lives }: Sequence, request: Request): void => {
  const { answer, name, lost } = request;
  if (lost) return;
  assert.ok(answer, `${name} was never answered`);
  if (answer.status === 'failed') throw new Error(`${name} failed: ${answer.error}`, { cause: answer.error });
  if (answer.status !== 'refused') return;
  const { code, message } = answer;
  assert.notEqual(code, 400, `${name}: ${message}`);
  if (code === 503) assert.ok(refused !== undefined || lives > 1, `${name}: ${message}`);
  if (code === 409) assert.ok(name.startsWith('run'), `${name}: ${message}`);
};

export const checkAnswers = (sequence: Sequence): void => {
  const { inputs, decisions, removals, others } = sequence;
  for (const request of [...inputs, ...decisions, ...removals, ...others]) checkAnswer(sequence, request);
};

/**
 * Checks that text and calls belong to a step, and that each step is closed before the next one and the end (runtime.md
 * 6.3).
 */
const checkSteps = (name: string, events: readonly RunEvent[]): void => {
  let open = false;
  const types = events.map(({ event_type }) => event_type).join();
  for (const { event_type } of events) {
    if (INSIDE.includes(event_type)) assert.ok(open, `${name}: ${event_type} outside of a step: ${types}`);
    if (OUTSIDE.includes(event_type)) assert.ok(!open, `${name}: ${event_type} inside of a step: ${types}`);
    if (event_type === 'step_start') open = true;
    if (event_type === 'step_end') open = false;
  }
};

const INSIDE: readonly string[] = [
  'text_delta',
  'tool_call_start',
  'tool_call_delta',
  'tool_call_ready',
  'step_end',
];
const OUTSIDE: readonly string[] = ['run_start', 'step_start', 'run_finish'];

const checkStream = ({ name, stream, answer, lost }: Input): void => {
  if (!stream) return;
  const types = stream.events.map(({ event_type }) => event_type);
  if (answer?.status !== 'accepted') {
    assert.deepEqual(types, [], `${name} was not accepted, and its stream began`);
    return;
  }
  const [first] = stream.events;
  if (first)
    assert.equal(first.event_type === 'run_start' && first.run_id, answer.run_id, `${name}: ${types}`);
  checkSteps(name, stream.events);
  const finishes = types.filter((type) => type === 'run_finish').length;
  if (stream.left || lost) assert.ok(finishes <= 1, `${name}: ${types}`);
  else {
    assert.equal(finishes, 1, `${name}: ${types}`);
    assert.equal(types.at(-1), 'run_finish', `${name}: ${types}`);
    assert.ok(stream.ended, `${name}: its stream stays open`);
  }
};

/** Streams of a crashed process end with it. */
export const checkStreams = ({ inputs }: Sequence, crashed: ReadonlySet<Input>): void => {
  for (const input of inputs) if (!crashed.has(input)) checkStream(input);
};

const EVERY_TIME_DECIDED = ['ask', 'later'];

export const checkTools = ({ steered: { executions }, decisions, lives, refused }: Sequence): void => {
  for (const call_id of new Set(executions.map((execution) => execution.call_id))) {
    const [first, ...more] = executions.filter((execution) => execution.call_id === call_id);
    const tool = first?.tool ?? 'denied';
    assert.ok(tool !== 'denied' && tool !== 'client', `${call_id} was executed`);
    const mayRepeat = tool === 'again' && (lives > 1 || refused !== undefined);
    if (!mayRepeat) assert.equal(more.length, 0, `${call_id} was executed ${more.length + 1} times`);
    if (!EVERY_TIME_DECIDED.includes(tool)) continue;
    const allowed = decisions.some(
      (decision) =>
        decision.call_id === call_id && !decision.refuses && decision.answer?.status !== 'refused',
    );
    assert.ok(allowed, `${call_id} was executed, and nobody allowed it`);
  }
};
