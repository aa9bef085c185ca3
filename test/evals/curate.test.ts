import t from 'tap';
import { createScript, type Excerpt, findProblem, follow, newExcerpt } from '../../src/evals/curate.ts';
import { stitch } from '../../src/evals/dialogue.ts';
import { MOST_EVENTS, MOST_TEXT, readExcerpt, Uncuratable } from '../../src/evals/trace-reading.ts';
import { Fixture } from '../../src/schema/dataset.ts';
import { Integrity, Invalid } from '../../src/schema/outcome.ts';
import fc from '../random.ts';

/** The conversion of trace events to fixtures: evals-and-traces.md 4.7, 4.9. */

const text = (said: string) => ({ type: 'text', text: said });
const inference = (more: object = {}) => ({
  type: 'inference',
  model: 'm',
  finish_reasons: ['end_turn'],
  ...more,
});
const answer = (said: string, more: object = {}) => inference({ response_content: [text(said)], ...more });

const excerptOf = (...events: unknown[]): Excerpt => {
  const excerpt = newExcerpt();
  for (const event of events) follow(excerpt, event);
  return excerpt;
};

t.test('converts each inference to one script event, in order', async (t) => {
  const call = { id: 'c', name: 'look', arguments: null };
  const excerpt = excerptOf(
    inference({ response_tool_calls: [call], response_content: [], input_tokens: 1, output_tokens: null }),
    { type: 'suspension' },
    answer('a', {
      response_content: [text('a'), text('b')],
      finish_reasons: ['max_tokens'],
      thinking_tokens: 3,
    }),
    inference({ error_type: 'overloaded', response_content: [text('half')] }),
    inference({ response_tool_calls: [call], response_content: [text('One '), text('moment.')] }),
    answer('c', { finish_reasons: ['odd'], total_tokens: 1.5, cache_read_input_tokens: 2 }),
    answer('d', { finish_reasons: [] }),
  );
  t.strictSame(excerpt.script, [
    { kind: 'tool_call', id: 'c', name: 'look', arguments: null, tokens: { prompt_tokens: 1 } },
    { kind: 'chat_response', content: 'ab', tokens: { thinking_tokens: 3 }, finish_reason: 'MaxTokens' },
    { kind: 'error', error_type: 'overloaded', message: '' },
    { kind: 'tool_call', id: 'c', name: 'look', arguments: null, content: 'One moment.', tokens: {} },
    { kind: 'chat_response', content: 'c', tokens: {}, finish_reason: 'EndTurn' },
    { kind: 'chat_response', content: 'd', tokens: {}, finish_reason: 'EndTurn' },
  ]);
  t.equal(findProblem(excerpt, 'require'), undefined);
});

t.test('explains why a completion cannot be scripted', async (t) => {
  const call = (id: string) => ({ id, name: 'n', arguments: {} });
  const unplayable = [
    [inference({ response_tool_calls: [call('a'), call('b')] }), /currently supports one tool call per turn/],
    [inference({ response_tool_calls: [] }), /empty/],
    [
      inference({
        response_tool_calls: [call('a')],
        response_content: [{ type: 'thinking', thinking: 'hm' }],
      }),
      /only text/,
    ],
    [inference({ response_tool_calls: [{ id: 'a' }] }), /no id, name and arguments/],
    [inference({ response_tool_calls: [5] }), /no id, name and arguments/],
    [inference({ response_tool_calls: 5 }), /not captured/],
    [inference({ response_content: [text('x'), { type: 'thinking', thinking: 'hm' }] }), /only text/],
    [inference({ response_content: 'x' }), /not captured/],
    [inference({ response_content: [] }), /not captured/],
    [inference(), /not captured/],
  ] as const;
  for (const [event, reason] of unplayable) {
    const excerpt = excerptOf(answer('before'), event, answer('behind'));
    t.match(excerpt.unplayable, reason);
    t.strictSame(createScript(excerpt, 'optional'), { provider_script_error: excerpt.unplayable });
    t.match(findProblem(excerpt, 'require'), reason);
    t.equal(findProblem(excerpt, 'skip'), undefined);
  }
});

t.test('leaves calls of the model provider and sources out of the script', async (t) => {
  const searched = { type: 'provider_call', id: 'p', tool: 'web_search', status: 'completed' };
  const source = { type: 'source_url', id: 's', url: 'https://a.example' };
  const excerpt = excerptOf(
    inference({ response_content: [searched, text('Sunny.'), source] }),
    inference({
      response_content: [searched],
      response_tool_calls: [{ id: 'c', name: 'look', arguments: {} }],
    }),
  );
  t.match(excerpt.script, [
    { kind: 'chat_response', content: 'Sunny.' },
    { kind: 'tool_call', name: 'look' },
  ]);
  t.equal(findProblem(excerpt, 'require'), undefined);
});

t.test('finds no script without an inference, in every mode', async (t) => {
  const excerpt = excerptOf({ type: 'tool', name: 'n' }, { type: 'handoff' }, null, 5, [], 'x');
  for (const mode of ['optional', 'require', 'skip'] as const)
    t.match(findProblem(excerpt, mode), 'no inference spans');
});

t.test('uses the newest non-empty user message of the first inference with one', async (t) => {
  const asked = (...request_messages: unknown[]) => inference({ request_messages });
  const user = (...content: unknown[]) => ({ role: 'user', content });
  const older = user(text('old'));
  const said = asked(
    older,
    user(text('new'), { type: 'image' }, text('er')),
    user(text('')),
    user({ type: 'image' }),
    {
      role: 'assistant',
      content: [text('no')],
    },
  );
  t.equal(excerptOf(asked(user(text(''))), said, asked(user(text('late')))).user_input, 'newer');
  for (const odd of [5, [5], [{ role: 'user' }], [{ role: 'user', content: 'x' }], [null]])
    t.equal(excerptOf(inference({ request_messages: odd })).user_input, undefined);
  t.equal(excerptOf(inference({ model: '' }), inference({ model: 'n' })).model, 'n');
});

t.test('treats inherited property names as plain keys', async (t) => {
  const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}');
  const called = JSON.parse(JSON.stringify({ id: 'c', name: '__proto__', arguments: args, more: 1 }));
  const { script, tool_results } = excerptOf(
    JSON.parse(
      `{"__proto__":{"type":"tool"},"type":"inference","response_tool_calls":[${JSON.stringify(called)}]}`,
    ),
    { type: 'tool', name: 'constructor', call_arguments: args, call_result: args },
    answer('x', { finish_reasons: ['constructor'] }),
  );
  const written = JSON.stringify(
    Fixture.parse({ id: '__proto__', user_input: '', provider_script: script, tool_results }),
  );
  t.equal(written.split('{"__proto__":{"polluted":1},"constructor":2}').length, 4);
  t.notOk('polluted' in {});
  t.match(script, [{ name: '__proto__' }, { finish_reason: 'EndTurn' }]);
});

t.test('records tool results only if they were captured completely', async (t) => {
  const tool = (more: object) => ({ type: 'tool', name: 'n', call_arguments: {}, call_result: 1, ...more });
  const results = (...events: object[]) => excerptOf(...events).tool_results;
  t.strictSame(results(tool({}), tool({ error_type: 'tool_error', call_result: null })), [
    { name: 'n', arguments: {}, result: 1 },
    { name: 'n', arguments: {}, result: null, is_error: true },
  ]);
  for (const more of [
    { call_arguments: undefined },
    { call_result: undefined },
    { call_arguments: { deep: [{ token: '***' }] } },
    { call_result: 'https://user:***@host' },
    { call_result: { __payload_truncated: true, original_size_bytes: 9 } },
    { error_type: 'missing_tool_result' },
  ]) {
    t.strictSame(results(tool(more)), [], JSON.stringify(more));
  }
});

t.test('creates a valid fixture from any trace', async (t) => {
  const odd = fc.dictionary(
    fc.constantFrom(
      'type',
      'model',
      'request_messages',
      'response_content',
      'response_tool_calls',
      'name',
      'call_arguments',
      'call_result',
      'error_type',
      'finish_reasons',
      'input_tokens',
      'thread_id',
    ),
    fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('inference', 'tool', [text('x')], [{ id: 'a', name: 'b', arguments: 1 }]),
    ),
  );
  const event = fc.oneof(
    odd,
    fc.jsonValue(),
    odd.map((each) => ({ ...each, type: 'inference' })),
  );
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const excerpt = excerptOf(...events);
      if (findProblem(excerpt, 'optional') !== undefined) return;
      excerpt.user_input ??= 'x';
      const fixture = stitch([{ run_id: 'r', excerpt }], { expected: {}, mode: 'optional' });
      t.strictSame(Fixture.parse(fixture), fixture);
      const played = fixture.provider_script?.length ?? 0;
      if (fixture.provider_script_error === undefined && played !== excerpt.inferences)
        throw new Error(`${played} of ${excerpt.inferences}`);
    }),
  );
});

const said = (run_id: string, more: Partial<Excerpt> = {}) => ({
  run_id,
  excerpt: { ...excerptOf(answer(run_id)), user_input: run_id, thread_id: 'T', ...more },
});

t.test('requires one thread, one model and an input of each run in a dialogue', async (t) => {
  const of =
    (...runs: ReturnType<typeof said>[]) =>
    () =>
      stitch(runs, { expected: {}, mode: 'optional' });
  t.throws(of(said('a'), said('b', { thread_id: '' })), /thread_id=/);
  t.doesNotThrow(of(said('a', { thread_id: '' }), said('b', { thread_id: '' })));
  t.throws(of(said('a'), said('b', { model: 'n' })), /source_model_id=/);
  t.throws(of(said('a', { model: undefined }), said('b'), said('c', { model: 'n' })), /source_model_id=/);
  t.match(of(said('a', { model: undefined }), said('b'))(), { source_model_id: 'm' });
  t.throws(of(said('a'), said('b', { user_input: undefined })), /request_messages/);
  t.throws(of(said('a'), said('b', { inferences: 0 })), /curating trace b: .*no inference spans/);
  t.throws(of(), /run_ids must be non-empty/);
});

t.test('marks a turn that cannot be replayed', async (t) => {
  const broken = said('b', { script: [], unplayable: 'why' });
  const request = { expected: {}, mode: 'optional' as const };
  const fixture = stitch([said('a'), broken], request);
  t.match(fixture, { provider_script: [{}], continued_turns: [{ provider_script_error: 'why' }] });
  t.notOk('provider_script' in (fixture.continued_turns?.[0] ?? {}));
  t.throws(() => stitch([said('a'), broken], { ...request, mode: 'require' }), {
    message: 'curating trace b: why',
  });
  const skipped = stitch([said('a'), broken], { ...request, mode: 'skip' });
  t.match(skipped, {
    provider_script_error: /skipped/,
    continued_turns: [{ provider_script_error: /skipped/ }],
  });
});

/** A trace whose lines are generated on demand. */
const pages = (total: number, line: (index: number) => string) => {
  const asked: number[] = [];
  return {
    asked,
    page(_run_id: string, offset: number, limit: number) {
      asked.push(limit);
      const count = Math.max(0, Math.min(limit, total - offset));
      return { total, lines: Array.from({ length: count }, (_, index) => line(offset + index)) };
    },
  };
};

t.test('reads a trace to its end, a few events at a time', async (t) => {
  const traces = pages(100, (index) => JSON.stringify(answer(`${index}`)));
  const { script } = await readExcerpt(traces, 'r');
  t.strictSame(
    script.map((event) => event.kind === 'chat_response' && event.content),
    Array.from({ length: 100 }, (_, index) => `${index}`),
  );
  t.ok(Math.max(...traces.asked) <= 16);
  t.equal(
    (
      await readExcerpt(
        pages(0, () => ''),
        'r',
      )
    ).inferences,
    0,
  );
});

t.test('stops reading a trace that is too long or too large', async (t) => {
  const long = pages(MOST_EVENTS + 1, () => '{}');
  await t.rejects(readExcerpt(long, 'r'), Uncuratable);
  t.equal(long.asked.length, 1);
  const large = JSON.stringify({ type: 'inference', request_messages: 'x'.repeat(2 ** 22) });
  const wide = pages(1000, () => large);
  await t.rejects(readExcerpt(wide, 'r'), new RegExp(`larger than ${MOST_TEXT} characters`));
  t.equal(wide.asked.length, 1);
  t.ok(new Uncuratable('x') instanceof Invalid);
});

t.test('reports an event that is not JSON as damage', async (t) => {
  await t.rejects(
    readExcerpt(
      pages(1, () => '{"type":'),
      'r',
    ),
    Integrity,
  );
});
