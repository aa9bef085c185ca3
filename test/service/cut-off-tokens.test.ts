import t from 'tap';
import { NO_RECORDS } from '../../src/configuration/records.ts';
import { ModelError } from '../../src/models/errors.ts';
import { AgentSpec } from '../../src/schema/agent.ts';
import { AgentStats } from '../../src/schema/runtime-stats.ts';
import { endOf, requestsOf, say, says, startWith } from './agent-loop/agents.ts';
import { asks, hangs, type Inference } from './models.ts';
import { readTrace, startTraced } from './traced.ts';
import { eventually, type Troupe } from './troupe.ts';

/** The tokens of broken attempts appear in the run record, the statistics and the traces. */

const retry = { max_retries: 0, backoff_base_ms: 1, max_stream_retries: 2 };

const own = { id: 'own', model_id: 'steps', max_rounds: 6, sections: { retry } };

const TEXT = 'x '.repeat(100);
/** Estimated tokens of that text: one per word, and four per message. */
const OUTPUT = 104;

const breaksOff =
  (text: string, usage?: ModelError['usage']): Inference =>
  (sink) => {
    sink.text(text);
    throw new ModelError('stream_interrupted', 'connection reset', { usage });
  };

const runOf = async (troupe: Troupe, thread: string) =>
  (await troupe.call('GET', `/v1/threads/${thread}/runs/latest`)).body;

const estimated = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  estimated: true,
});

t.test('adds up broken attempts separately from the completed one', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push(breaksOff(TEXT), breaksOff(TEXT), says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  const run = await runOf(troupe, 'T');
  t.match(run, {
    input_tokens: 10,
    output_tokens: 20,
    cut_off: { output_tokens: 2 * OUTPUT, estimated: true },
  });
  // The second request repeats the text of the first attempt.
  t.ok(Number(Object(run.cut_off).input_tokens) > 100);
  const { body } = await troupe.admin('GET', '/v1/agents/own/runtime-stats');
  t.match(AgentStats.parse(body), { input_tokens: 10, output_tokens: 20, cut_off: run.cut_off });
});

t.test('prefers the input tokens that the provider reported before the break', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push(breaksOff(TEXT, { prompt_tokens: 777, completion_tokens: 1 }), says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(await runOf(troupe, 'T'), { input_tokens: 10, cut_off: estimated(777, OUTPUT) });
});

t.test('reports nothing for attempts that received nothing', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push(() => {
    throw new ModelError('stream_interrupted', 'connection reset');
  }, says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.equal((await runOf(troupe, 'T')).cut_off, undefined);
});

t.test('keeps the tokens of a run that fails permanently', async (t) => {
  const troupe = await startWith(t, {
    agents: [own],
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1, max_attempts: 2 } },
  });
  for (let attempt = 0; attempt < 6; attempt += 1) troupe.models.steps.push(breaksOff(TEXT));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'error' } });
  t.match(await runOf(troupe, 'T'), { input_tokens: 0, cut_off: { output_tokens: 6 * OUTPUT } });
});

t.test('counts the tokens of a cancelled completion once', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push(hangs(TEXT));
  const stream = await troupe.run(say('own', 'x', 'T'));
  await stream.until('text_delta');
  t.equal((await troupe.post('/v1/threads/T/cancel', {})).status, 202);
  await stream.rest();
  t.match(await runOf(troupe, 'T'), { output_tokens: 0, cut_off: { output_tokens: OUTPUT } });
});

t.test('counts the name and the arguments of an incomplete call', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push((sink) => {
    sink.toolStart('c', 'note');
    sink.toolDelta('c', 'y '.repeat(100));
    throw new ModelError('stream_interrupted', 'connection reset');
  }, says('done'));
  await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(await runOf(troupe, 'T'), { cut_off: { output_tokens: OUTPUT } });
});

t.test('counts the tokens of a delegate in its own run', async (t) => {
  const troupe = await startWith(t, {
    agents: [own, { id: 'boss', model_id: 'steps', delegates: ['own'], sections: { retry } }],
  });
  troupe.models.steps.push(
    asks(['d', 'agent_run_own', { prompt: 'x' }]),
    breaksOff(TEXT),
    says('done'),
    says('over'),
  );
  await troupe.runToEnd(say('boss', 'x', 'T'));
  const boss = await runOf(troupe, 'T');
  t.equal(boss.cut_off, undefined);
  const { body } = await troupe.call('GET', '/v1/runs');
  const child = Object(body).items.find(
    (run: { parent_run_id: unknown }) => run.parent_run_id === boss.run_id,
  );
  t.match(child, { agent_id: 'own', cut_off: { output_tokens: OUTPUT } });
});

t.test('keeps the tokens of an attempt that a graceful restart interrupted', async (t) => {
  const troupe = await startWith(t, { agents: [own] });
  troupe.models.steps.push(hangs(TEXT), says('done'));
  const stream = await troupe.run(say('own', 'x', 'T'));
  await stream.until('text_delta');
  await troupe.restart();
  const run = await eventually(
    () => runOf(troupe, 'T'),
    ({ status }) => status === 'done',
  );
  t.match(run, { input_tokens: 10, output_tokens: 20, cut_off: { output_tokens: OUTPUT } });
  t.equal(requestsOf(troupe).length, 2);
});

t.test('counts broken attempts against the token budget', async (t) => {
  const troupe = await startWith(t, {
    agents: [{ ...own, stop_conditions: [{ type: 'token_budget', max_total: 100 }] }],
  });
  troupe.models.steps.push(breaksOff(TEXT), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  t.match(endOf(events), { termination: { type: 'stopped', value: { code: 'token_budget' } } });
});

t.test('adds the tokens of broken attempts to the trace of their inference', async (t) => {
  const agents = [AgentSpec.parse(own)];
  const troupe = await startTraced(t, undefined, { app: { records: { ...NO_RECORDS, agents } } });
  troupe.models.steps.push(breaksOff(TEXT), says('done'));
  const events = await troupe.runToEnd(say('own', 'x', 'T'));
  const id = String(events[0]?.run_id);
  const { lines } = await eventually(
    () => readTrace(troupe, id),
    ({ lines }) => lines.length > 0,
  );
  t.match(lines, [
    {
      type: 'inference',
      input_tokens: 10,
      output_tokens: 20,
      cut_off: { output_tokens: OUTPUT, estimated: true },
    },
  ]);
});
