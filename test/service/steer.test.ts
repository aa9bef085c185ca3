import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { textOf } from '../../src/schema/message.ts';
import { defer } from '../http/serve.ts';
import { roundsOf } from '../long.ts';
import { asks, type Inference } from './models.ts';
import { createTestTools } from './tools.ts';
import { eventually, startTroupe, type Troupe } from './troupe.ts';
import { type View, viewOf } from './view.ts';

/**
 * Input steered into a run: runtime.md 8, 18.6 and 19, checks 38 and 41. Once the scripted inferences are used up,
 * `steps` echoes the last user text, so that a completion shows which input it belongs to.
 */

const run = (threadId: string) => ({
  agentId: 'steps',
  threadId,
  messages: [{ role: 'user', content: 'Hello' }],
});

const steer = (view: View, text: string) => view.say(text, { mode: 'steer' });

/** An inference that reports its start and ends when the test releases it. */
const gated = (end: Inference) => {
  const began = defer();
  const go = defer();
  const inference: Inference = async (sink, request, signal) => {
    began.resolve();
    await go.promise;
    return end(sink, request, signal);
  };
  return { began: began.promise, go: () => go.resolve(), inference };
};

const answers =
  (text: string): Inference =>
  (sink) => {
    sink.text(text);
    return { stop: 'EndTurn' };
  };

const fails =
  (error: ModelError): Inference =>
  () => {
    throw error;
  };

const userTexts = ({ models }: Troupe): string[] => {
  const messages = models.requests.at(-1)?.request.messages ?? [];
  return messages.filter(({ role }) => role === 'user').map(({ content }) => textOf(content));
};

const holding = (tools: ReturnType<typeof createTestTools>) =>
  eventually(
    async () => tools.holding(),
    (held) => held.length > 0,
  );

t.test('adds input to the next inference of a run that is executing a tool', async (t) => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, { app: { tools: tools.tools } });
  troupe.models.steps.push(asks(['c1', 'hold']));
  const stream = await troupe.run(run('T'));
  const { run_id } = await stream.until('run_start');
  await holding(tools);
  const view = viewOf(troupe, 'T');
  for (const mode of ['steer', 'live_then_queue']) {
    const { status, body } = await view.say(mode, { mode });
    t.equal(status, 202);
    t.match(body, { status: 'running', thread_id: 'T', accepted_run_id: run_id });
  }
  const { body } = await troupe.post(`/v1/runs/${run_id}/inputs`, {
    mode: 'live_then_queue',
    messages: [{ role: 'user', content: 'by run id' }],
  });
  t.match(body, { status: 'inputs_accepted', run_id, accepted_run_id: run_id });
  t.equal((await view.dispatches()).length, 1, 'steering creates no dispatch');
  t.equal((await view.messages()).length, 2, 'steered input is stored between steps');
  tools.release();
  const events = await stream.rest();
  t.equal(events.filter(({ event_type }) => event_type === 'run_finish').length, 1);
  t.strictSame(userTexts(troupe), ['Hello', 'steer', 'live_then_queue', 'by run id']);
  await view.check(t);
  t.strictSame(await view.texts(), [
    'user: Hello',
    'assistant: ',
    'tool: "did c1"',
    'user: steer',
    'user: live_then_queue',
    'user: by run id',
    'assistant: echo: by run id',
  ]);
  for (const { metadata } of await view.messages()) t.equal(metadata?.run_id, run_id);
  t.equal((await view.runs()).length, 1);
});

t.test('queues input for an idle thread', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.runToEnd(run('T'));
  const view = viewOf(troupe, 'T');
  const { body } = await steer(view, 'next');
  await view.check(t);
  t.equal((await view.runs()).at(-1)?.run_id, body.accepted_run_id);
  t.match(await view.texts(), { 2: 'user: next', 3: 'assistant: echo: next', length: 4 });
});

t.test('queues input that targets another run than the active one', async (t) => {
  const troupe = await startTroupe(t);
  const first = gated(answers('first'));
  troupe.models.steps.push(first.inference);
  const stream = await troupe.run(run('T'));
  await first.began;
  const view = viewOf(troupe, 'T');
  const queued = (await view.say('queued')).body.accepted_run_id;
  const { body } = await troupe.post(`/v1/runs/${queued}/inputs`, {
    mode: 'live_then_queue',
    messages: [{ role: 'user', content: 'for the queued run' }],
  });
  first.go();
  await stream.rest();
  await view.check(t);
  t.strictSame(await view.texts(), [
    'user: Hello',
    'assistant: first',
    'user: queued',
    'assistant: echo: queued',
    'user: for the queued run',
    'assistant: echo: for the queued run',
  ]);
  t.equal((await view.messages()).at(-1)?.metadata?.run_id, body.accepted_run_id);
});

t.test('processes input exactly once that is steered just as the run ends, 100 times', async (t) => {
  const troupe = await startTroupe(t);
  const outcomes = new Map<unknown, number>();
  for (let round = 0; round < 100; round += 1) {
    const [thread, text] = [`T${round}`, `steered ${round}`];
    const last = gated(answers('first'));
    troupe.models.steps.push(last.inference);
    const stream = await troupe.run(run(thread));
    await last.began;
    const view = viewOf(troupe, thread);
    // In half of the rounds the model ends first, in the others the input is steered first; by 0 to 2.4 ms.
    const delay = Math.abs(round - 50) / 20;
    const [early, late] = round < 50 ? [last.go, undefined] : [undefined, last.go];
    early?.();
    if (early && delay > 0) await pause(delay);
    const steered = steer(view, text);
    if (late && delay > 0) await pause(delay);
    late?.();
    const [{ status, body }, events] = await Promise.all([steered, stream.rest()]);
    t.equal(status, 202);
    outcomes.set(body.status, (outcomes.get(body.status) ?? 0) + 1);
    t.equal(events.filter(({ event_type }) => event_type === 'run_finish').length, 1);
    await view.rest();
    const messages = await view.messages();
    t.strictSame(
      messages.map(({ role, content }) => `${role}: ${textOf(content)}`),
      ['user: Hello', 'assistant: first', `user: ${text}`, `assistant: echo: ${text}`],
    );
    for (const { metadata } of messages.slice(2)) {
      t.equal(metadata?.run_id, body.accepted_run_id);
    }
  }
  t.comment(`answers: ${JSON.stringify([...outcomes])}`);
  for (const round of [0, 49, 50, 99]) await viewOf(troupe, `T${round}`).check(t);
});

t.test('processes several inputs exactly once that are steered as a run ends', async (t) => {
  const troupe = await startTroupe(t);
  const rounds = roundsOf(20);
  for (let round = 0; round < rounds; round += 1) {
    const last = gated(answers('first'));
    troupe.models.steps.push(last.inference);
    const stream = await troupe.run(run(`T${round}`));
    await last.began;
    const view = viewOf(troupe, `T${round}`);
    const modes = ['steer', 'queue', 'steer', 'queue', 'steer'];
    const sent = modes.map(async (mode, index) => {
      await pause((index * round) / (2 * rounds));
      return view.say(`text ${index}`, { mode });
    });
    last.go();
    await Promise.all([...sent, stream.rest()]);
    await view.check(t);
    const texts = await view.texts();
    t.equal(texts.at(-1)?.startsWith('assistant: echo: '), true, 'every input is answered');
    t.strictSame(
      texts.filter((text) => text.startsWith('user: text')).sort(),
      modes.map((_, index) => `user: text ${index}`),
    );
  }
});

t.test('processes input of a cancelled run in a separate run', async (t) => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, { app: { tools: tools.tools } });
  troupe.models.steps.push(asks(['c1', 'hold']));
  const stream = await troupe.run(run('T'));
  const { run_id } = await stream.until('run_start');
  await holding(tools);
  const view = viewOf(troupe, 'T');
  t.match((await steer(view, 'one')).body, { status: 'running', accepted_run_id: run_id });
  t.match((await steer(view, 'two')).body, { status: 'running' });
  t.equal((await troupe.post(`/v1/runs/${run_id}/cancel`)).status, 202);
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  await view.check(t);
  t.match(await view.runs(), [
    { run_id, termination_reason: { type: 'cancelled' } },
    { agent_id: 'steps', termination_reason: { type: 'natural_end' } },
  ]);
  t.strictSame(await view.texts(), [
    'user: Hello',
    'assistant: ',
    'user: one',
    'user: two',
    'assistant: echo: two',
  ]);
  t.strictSame(userTexts(troupe), ['Hello', 'one', 'two']);
});

t.test('processes input of a failed run in a separate run', async (t) => {
  const troupe = await startTroupe(t);
  const failing = gated(fails(new ModelError('unauthorized', 'bad key')));
  troupe.models.steps.push(failing.inference);
  const stream = await troupe.run(run('T'));
  await failing.began;
  const view = viewOf(troupe, 'T');
  t.match((await steer(view, 'next')).body, { status: 'running' });
  failing.go();
  t.match((await stream.rest()).at(-1), { termination: { type: 'error' } });
  await view.check(t);
  t.match(await view.runs(), [
    { termination_reason: { type: 'error' } },
    { termination_reason: { type: 'natural_end' } },
  ]);
  t.strictSame(await view.texts(), ['user: Hello', 'user: next', 'assistant: echo: next']);
});

t.test('processes input of the last allowed round in a separate run', async (t) => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, { app: { tools: tools.tools } });
  for (let round = 1; round < 8; round += 1) troupe.models.steps.push(asks([`c${round}`, 'note']));
  const last = gated(asks(['c8', 'note']));
  troupe.models.steps.push(last.inference);
  const stream = await troupe.run(run('T'));
  await last.began;
  const view = viewOf(troupe, 'T');
  t.match((await steer(view, 'next')).body, { status: 'running' });
  last.go();
  t.match((await stream.rest()).at(-1), { termination: { type: 'stopped', value: { code: 'max_rounds' } } });
  await view.check(t);
  t.strictSame((await view.texts()).slice(-2), ['user: next', 'assistant: echo: next']);
  t.equal((await view.runs()).length, 2);
});

t.test('adds input to the next attempt of a failed inference', async (t) => {
  const troupe = await startTroupe(t, { settings: { mailbox: { retry_base_ms: 3000 } } });
  troupe.models.steps.push(fails(new ModelError('overloaded', 'busy')));
  const stream = await troupe.run(run('T'));
  const { run_id } = await stream.until('run_start');
  await stream.until('stream_reset');
  const view = viewOf(troupe, 'T');
  const { body } = await steer(view, 'next');
  t.match(body, { status: 'running', accepted_run_id: run_id });
  t.match((await stream.rest()).at(-1), { termination: { type: 'natural_end' } });
  await view.check(t);
  t.strictSame(await view.texts(), ['user: Hello', 'user: next', 'assistant: echo: next']);
});

t.test('keeps the input of an interrupted run in the history', async (t) => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, { app: { tools: tools.tools } });
  troupe.models.steps.push(asks(['c1', 'hold']));
  const stream = await troupe.run(run('T'));
  await holding(tools);
  const view = viewOf(troupe, 'T');
  await steer(view, 'next');
  t.equal((await view.post('/interrupt')).status, 202);
  t.match((await stream.rest()).at(-1), { termination: { type: 'cancelled' } });
  await view.check(t);
  t.strictSame(await view.texts(), ['user: Hello', 'assistant: ', 'user: next']);
  t.equal((await view.runs()).length, 1);
});

t.test('queues pending input of a cancelled run behind input that was queued earlier', async (t) => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, { app: { tools: tools.tools } });
  troupe.models.steps.push(asks(['c1', 'hold']));
  const stream = await troupe.run(run('T'));
  const { run_id } = await stream.until('run_start');
  await holding(tools);
  const view = viewOf(troupe, 'T');
  await view.say('queued one');
  await steer(view, 'steered');
  await view.say('queued two');
  await troupe.post(`/v1/runs/${run_id}/cancel`);
  await stream.rest();
  await view.check(t);
  t.strictSame((await view.texts()).slice(2), [
    'user: queued one',
    'assistant: echo: queued one',
    'user: queued two',
    'assistant: echo: queued two',
    'user: steered',
    'assistant: echo: steered',
  ]);
});
