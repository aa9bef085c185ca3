import t from 'tap';
import { createScriptedModel } from '../../src/evals/scripted-model.ts';
import type { InferenceRequest, InferenceSink } from '../../src/models/model.ts';
import { Fixture } from '../../src/schema/dataset.ts';

/** The model that replays recorded completions: evals-and-traces.md 3.2, 3.3, 5.2. */

const request = (upstream_model?: string): InferenceRequest => ({
  system: [],
  messages: [],
  tools: [],
  overrides: upstream_model === undefined ? {} : { upstream_model },
});

const heard = () => {
  const said: string[] = [];
  const ignore = (): void => {};
  const sink: InferenceSink = {
    text: (delta) => said.push(delta),
    reasoning: ignore,
    reasoningEncrypted: ignore,
    toolStart: (id, name) => said.push(`${id} ${name}`),
    toolDelta: ignore,
    toolEnd: (_id, args) => said.push(args),
  };
  return { said, sink };
};

const scripted = (fixture: object) => {
  const script = createScriptedModel(Fixture.parse({ id: 'f', user_input: 'abcde', ...fixture }));
  const signal = new AbortController().signal;
  const { said, sink } = heard();
  return {
    ...script,
    said,
    ask: (upstream?: string) => script.model.stream(request(upstream), sink, signal),
  };
};

const text = (content: string, more: object = {}) => ({ kind: 'chat_response', content, ...more });

t.test('uses the next event for each inference, across all turns', async (t) => {
  const { ask, said, disagreement } = scripted({
    provider_script: [
      { kind: 'tool_call', id: 'c', name: 'look', arguments: { at: [1] }, tokens: { total_tokens: 3 } },
    ],
    continued_turns: [
      { user_input: 'x', provider_script: [text('one', { finish_reason: 'MaxTokens' })] },
      { user_input: 'y', provider_script: [text('two')] },
    ],
  });
  t.strictSame(await ask(), { stop: 'ToolUse', usage: { total_tokens: 3 } });
  t.strictSame(await ask(), { stop: 'MaxTokens' });
  t.strictSame(disagreement(false), { kind: 'provider_script_unused', remaining: 1 });
  t.equal(disagreement(true), undefined);
  await ask();
  t.equal(disagreement(false), undefined);
  t.strictSame(said, ['c look', '{"at":[1]}', 'one', 'two']);
  await t.rejects(ask(), { message: /no more than 3 events/ });
  await t.rejects(ask(), { message: /no more than 3 events/ });
  t.strictSame(disagreement(true), { kind: 'script_exhausted', extra_calls: 2 });
});

t.test('sends the text of an event before its call', async (t) => {
  const called = { kind: 'tool_call', id: 'c', name: 'look', arguments: {}, content: 'One moment.' };
  const { ask, said } = scripted({ provider_script: [called, { ...called, content: '' }] });
  t.strictSame([await ask(), await ask()], [{ stop: 'ToolUse' }, { stop: 'ToolUse' }]);
  t.strictSame(said, ['One moment.', 'c look', '{}', 'c look', '{}']);
});

t.test('uses the mocked completion as the first event without a script', async (t) => {
  const { ask, said } = scripted({ mock_response: { kind: 'text', text: '123456789' } });
  t.strictSame(await ask(), {
    stop: 'EndTurn',
    usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
  });
  t.strictSame(said, ['123456789']);
  const failing = scripted({ mock_response: { kind: 'error', error_type: 'timeout', message: 'late' } });
  await t.rejects(failing.ask(), { class: 'timeout', message: 'timeout: late' });
});

t.test('throws failures of the named kind without a retry', async (t) => {
  const kinds: [error_type: string, kind: string][] = [
    ['rate_limit', 'rate_limited'],
    ['RATE_LIMITED', 'rate_limited'],
    ['overloaded', 'overloaded'],
    ['context_overflow', 'context_overflow'],
    ['Unauthorized', 'unauthorized'],
    ['model_not_found', 'model_not_found'],
    ['content_filtered', 'content_filtered'],
    ['invalid_request', 'invalid_request'],
    ['anything else', 'provider'],
  ];
  const provider_script = kinds.map(([error_type]) => ({ kind: 'error', error_type }));
  const { ask, firedError } = scripted({ provider_script });
  t.equal(firedError(), undefined);
  for (const [, kind] of kinds) {
    t.match(await ask().catch((error: unknown) => error), { class: kind, transient: false });
  }
  t.equal(firedError(), 'rate_limit', 'the first failure of the script is thrown');
});

t.test('replays a script only for the model that it was recorded with', async (t) => {
  const { ask, disagreement, said } = scripted({ source_model_id: 'gpt-x', provider_script: [text('hi')] });
  await t.rejects(ask('gpt-y'), /recorded with 'gpt-x'/);
  t.strictSame(
    disagreement(false),
    { kind: 'provider_script_unused', remaining: 1 },
    'another model uses no event of the script',
  );
  await ask('gpt-x');
  t.strictSame(said, ['hi']);
});
