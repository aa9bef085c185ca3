import t from 'tap';
import { ModelError } from '../../../src/models/errors.ts';
import type { EntriesInput } from '../../../src/settings/index.ts';
import { asks, hangs, type Inference } from '../models.ts';
import { createTestTools } from '../tools.ts';
import { eventually } from '../troupe.ts';
import { viewOf } from '../view.ts';
import { endOf, only, requestsOf, resultsIn, say, says, startWith } from './agents.ts';

/** Conditions that end a run automatically: agent-loop.md 8 and 20, checks 31 to 34. */

type Agent = NonNullable<EntriesInput['agents']>[number];

const scripted = (...stop_conditions: NonNullable<Agent['stop_conditions']>): Agent => ({
  id: 'own',
  model_id: 'default',
  max_rounds: 8,
  stop_conditions,
});

const stepping = (...conditions: NonNullable<Agent['stop_conditions']>): Agent => ({
  ...scripted(...conditions),
  model_id: 'steps',
});

const noted = (id: string) => asks([id, 'append_note', { note: 'n' }]);

const stopped = (code: string) => ({
  termination: { type: 'stopped', value: { code } },
  result: { status: 'done', status_reason: `stopped:${code}` },
});

t.test('31: does not execute a tool that ends the run', async (t) => {
  const troupe = await startWith(t, {
    agents: [scripted({ type: 'stop_on_tool', tool_name: 'get_weather' })],
  });
  const events = await troupe.runToEnd(say('own', 'RUN_WEATHER_TOOL', 'T'));
  t.equal(only(events, 'step_start').length, 1);
  t.match(only(events, 'tool_call_done'), [
    { outcome: 'failed', result: { message: '[Tool execution was interrupted]' } },
  ]);
  t.match(endOf(events), stopped('stop_on_tool'));
  t.strictSame(await viewOf(troupe, 'T').texts(), [
    'user: RUN_WEATHER_TOOL',
    'assistant: ',
    'tool: [Tool execution was interrupted]',
  ]);
  await viewOf(troupe, 'T').check(t);
});

t.test('32: keeps the text of a run that exhausts its token budget', async (t) => {
  const troupe = await startWith(t, { agents: [scripted({ type: 'token_budget', max_total: 20 })] });
  const events = await troupe.runToEnd(say('own', 'Hello', 'T'));
  t.match(endOf(events), stopped('token_budget'));
  t.match(endOf(events), { result: { response: 'Scripted response to: Hello' } });
  t.strictSame(await viewOf(troupe, 'T').texts(), ['user: Hello', 'assistant: Scripted response to: Hello']);
});

t.test('counts all inferences against a token budget, which ends only on excess', async (t) => {
  const troupe = await startWith(t, { agents: [scripted({ type: 'token_budget', max_total: 30 })] });
  const events = await troupe.runToEnd(say('own', 'RUN_WEATHER_TOOL'));
  t.equal(only(events, 'step_start').length, 3, 'each step uses 15 tokens, so the third exceeds 30');
  t.match(endOf(events), stopped('token_budget'));
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
});

t.test('33: ends the run on a matching completion', async (t) => {
  const troupe = await startWith(t, { agents: [scripted({ type: 'content_match', pattern: 'Scripted' })] });
  const events = await troupe.runToEnd(say('own'));
  t.equal(only(events, 'step_start').length, 1);
  t.match(endOf(events), stopped('content_match'));
});

t.test('34: does not treat a single completion as a loop', async (t) => {
  const troupe = await startWith(t, { agents: [scripted({ type: 'loop_detection', window: 1 })] });
  t.match(endOf(await troupe.runToEnd(say('own'))), { termination: { type: 'natural_end' } });
});

t.test('detects a loop when the same text fills the window', async (t) => {
  const troupe = await startWith(t, { agents: [stepping({ type: 'loop_detection', window: 3 })] });
  const saysAndNotes =
    (text: string): Inference =>
    (sink, request, signal) => {
      if (text !== '') sink.text(text);
      return noted('c')(sink, request, signal);
    };
  troupe.models.steps.push(...['a', 'b', 'b', '', 'b', 'b'].map(saysAndNotes));
  const events = await troupe.runToEnd(say('own'));
  t.equal(only(events, 'step_start').length, 5, 'steps without text are not counted');
  t.match(endOf(events), stopped('loop_detection'));
});

t.test('matches regular expressions without catastrophic backtracking', async (t) => {
  const agents = ['(a+)+$', '(.*a){12}x', 'plain'].map((pattern, index) => ({
    ...stepping({ type: 'content_match', pattern }),
    id: `own${index}`,
  }));
  const troupe = await startWith(t, { agents });
  for (const { id } of agents) {
    troupe.models.steps.push(says(`${'a'.repeat(50_000)}!`));
    t.match(endOf(await troupe.runToEnd(say(id))), { termination: { type: 'natural_end' } }, id);
  }
});

t.test('treats a condition on rounds like the limit of the spec', async (t) => {
  const troupe = await startWith(t, { agents: [scripted({ type: 'max_rounds', rounds: 2 })] });
  const events = await troupe.runToEnd(say('own', 'RUN_STOCK_TOOL'));
  t.equal(only(events, 'step_start').length, 2);
  t.match(endOf(events), stopped('max_rounds'));
  t.match(resultsIn(events), [{ status: 'success' }, { message: '[Tool execution was interrupted]' }]);
});

t.test('executes rounds without a limit if max_rounds is 0', async (t) => {
  const troupe = await startWith(t, { agents: [{ id: 'own', model_id: 'steps', max_rounds: 0 }] });
  troupe.models.steps.push(...Array.from({ length: 20 }, (_, n) => noted(`c${n}`)), says('done'));
  const events = await troupe.runToEnd(say('own'));
  t.equal(only(events, 'step_start').length, 21);
  t.match(endOf(events), { termination: { type: 'natural_end' } });
});

t.test('evaluates several conditions in the order of the list', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      scripted({ type: 'content_match', pattern: 'Scripted' }, { type: 'token_budget', max_total: 1 }),
      {
        ...scripted({ type: 'token_budget', max_total: 1 }, { type: 'content_match', pattern: '.' }),
        id: 'two',
      },
      { ...scripted({ type: 'token_budget', max_total: 1 }), id: 'three', max_rounds: 1 },
    ],
  });
  t.match(endOf(await troupe.runToEnd(say('own'))), stopped('content_match'));
  t.match(endOf(await troupe.runToEnd(say('two'))), stopped('token_budget'));
  t.match(endOf(await troupe.runToEnd(say('three'))), { termination: { type: 'natural_end' } });
});

t.test('ends a run that exceeds its timeout after the inference', async (t) => {
  let shift = 0;
  const troupe = await startWith(t, {
    agents: [stepping({ type: 'timeout', seconds: 60 })],
    clock: { now: () => Date.now() + shift },
  });
  troupe.models.steps.push(noted('a'), (sink, request, signal) => {
    shift += 61_000;
    return noted('b')(sink, request, signal);
  });
  const events = await troupe.runToEnd(say('own'));
  t.equal(only(events, 'step_start').length, 2);
  t.match(endOf(events), stopped('timeout'));
});

t.test('ends the run after consecutive failed inferences, and resets the count on success', async (t) => {
  const troupe = await startWith(t, {
    agents: [
      {
        ...stepping({ type: 'consecutive_errors', max: 2 }),
        sections: { retry: { max_retries: 0, max_stream_retries: 0 } },
      },
    ],
    settings: { mailbox: { retry_base_ms: 1, retry_cap_ms: 1 } },
  });
  const fails = () => {
    throw new ModelError('overloaded', 'busy');
  };
  troupe.models.steps.push(fails, noted('a'), fails, fails, says('not reached'));
  const events = await troupe.runToEnd(say('own'));
  t.match(endOf(events), stopped('consecutive_errors'));
  t.equal(requestsOf(troupe).length, 4);
  t.equal(only(events, 'step_start').length, only(events, 'step_end').length);
});

t.test('resets all counts on new input, but not on a decision', async (t) => {
  const troupe = await startWith(t, {
    agents: [{ ...stepping(), max_rounds: 2 }],
    tools: createTestTools().tools,
  });
  const { steps } = troupe.models;
  steps.push(asks(['a', 'risky']));
  const [start] = await troupe.runToEnd(say('own', 'x', 'T'));
  steps.push(asks(['b', 'risky']));
  const view = viewOf(troupe, 'T');
  await view.post('/decision', { toolCallId: 'a', action: 'resume' });
  t.match(await view.until(start?.run_id, 'done'), {
    termination_reason: { type: 'stopped', value: { code: 'max_rounds' } },
  });
  steps.push(asks(['c', 'risky']));
  const [again] = await troupe.runToEnd(say('own', 'x', 'T'));
  steps.push(asks(['d', 'note']), says('done'));
  const events = await troupe.runToEnd(say('own', 'new input', 'T'));
  t.equal(events[0]?.run_id, again?.run_id);
  t.match(endOf(events), { termination: { type: 'natural_end' }, result: { response: 'done' } });
});

t.test('evaluates conditions of plugins after those of the spec', async (t) => {
  const troupe = await startWith(t, {
    agents: [{ id: 'own', model_id: 'steps', plugin_ids: ['budget-stop'] }],
  });
  troupe.models.steps.push((sink) => {
    sink.text('dear');
    return { stop: 'EndTurn', usage: { prompt_tokens: 50_000, completion_tokens: 1, total_tokens: 50_001 } };
  });
  t.match(endOf(await troupe.runToEnd(say('own'))), stopped('token_budget'));
});

t.test('cancels rather than stops a run that is cancelled in its last round', async (t) => {
  const troupe = await startWith(t, { agents: [{ ...stepping(), max_rounds: 1 }] });
  troupe.models.steps.push(hangs('half'));
  const stream = await troupe.run(say('own', 'x', 'T'));
  await stream.until('text_delta');
  await troupe.post('/v1/threads/T/cancel');
  t.match(endOf(await stream.rest()), { termination: { type: 'cancelled' } });
  await eventually(
    () => viewOf(troupe, 'T').texts(),
    (texts) => texts.length === 1,
  );
});
