import assert from 'node:assert/strict';
import type { Input, Request } from './client.ts';
import type { Sequence } from './sequence.ts';

/** Every request is answered, streams end once, and tools do what was decided and no more. */

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

const checkStream = ({ name, stream, answer, lost }: Input): void => {
  if (!stream) return;
  const types = stream.events.map(({ event_type }) => event_type);
  if (answer?.status !== 'accepted') {
    assert.deepEqual(types, [], `${name} was not accepted, and its stream began`);
    return;
  }
  if (types.length > 0) assert.equal(types[0], 'run_start', `${name}: ${types}`);
  const finishes = types.filter((type) => type === 'run_finish').length;
  if (stream.left || lost) assert.ok(finishes <= 1, `${name}: ${types}`);
  else {
    assert.equal(finishes, 1, `${name}: ${types}`);
    assert.equal(types.at(-1), 'run_finish', `${name}: ${types}`);
    assert.ok(stream.ended, `${name}: its stream stays open`);
    const starts = types.filter((type) => type === 'step_start').length;
    assert.equal(types.filter((type) => type === 'step_end').length, starts, `${name}: ${types}`);
  }
  const first = stream.events[0];
  if (first?.event_type === 'run_start') assert.equal(first.run_id, answer.run_id, `${name}: another run`);
};

/** Streams of a process that died end with it. */
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
