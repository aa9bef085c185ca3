import t from 'tap';
import type { JsonObject } from '../../src/schema/json.ts';
import { textOf } from '../../src/schema/message.ts';
import { asks, type Inference } from './models.ts';
import { decline, resume, withTools } from './suspended.ts';
import { eventually, type RunEventLike, startTroupe, type Troupe } from './troupe.ts';

/** Structured results of runs: structured-results.md, checks 1 to 10. */

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { team: { enum: ['billing', 'tech'] }, urgent: { type: 'boolean' } },
  required: ['team', 'urgent'],
  additionalProperties: false,
};
const VALUE = { team: 'billing', urgent: true };
const LIST: JsonObject = { type: 'array', items: { type: 'number' } };

const says =
  (text: string, stop: 'EndTurn' | 'MaxTokens' = 'EndTurn'): Inference =>
  (sink) => {
    sink.text(text);
    return { stop };
  };

const answers = (value: unknown): Inference => asks(['f', 'final_answer', value as object]);

const messages = [{ role: 'user', content: 'My invoice is wrong' }];

const finishOf = (events: readonly RunEventLike[]): RunEventLike | undefined =>
  events.find(({ event_type }) => event_type === 'run_finish');

/** The text that remains for a reader: text before a reset is dropped. */
const textIn = (events: readonly RunEventLike[]): string =>
  events.reduce((text, { event_type, delta }) => {
    if (event_type === 'stream_reset') return '';
    return event_type === 'text_delta' ? text + String(delta) : text;
  }, '');

const play = async (troupe: Troupe, body: object, ...steps: Inference[]) => {
  troupe.models.steps.push(...steps);
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages, ...body });
  const { body: run } = await troupe.call('GET', `/v1/runs/${String(events[0]?.run_id)}`);
  return { events, run, finish: finishOf(events) };
};

const history = async (troupe: Troupe, visibility = 'external'): Promise<string[]> => {
  const { body } = await troupe.call('GET', `/v1/threads/T/messages?visibility=${visibility}&limit=100`);
  return (body.messages as Parameters<typeof described>[0][]).map(described);
};

const described = ({ role, content }: { role: string; content: Parameters<typeof textOf>[0] }): string =>
  `${role}: ${textOf(content)}`;

t.test('ends a run with a value that matches the schema, in its record and its last event', async (t) => {
  const troupe = await startTroupe(t);
  const { events, run, finish } = await play(troupe, { output_schema: SCHEMA }, answers(VALUE));
  const text = JSON.stringify(VALUE);
  t.match(finish, {
    termination: { type: 'natural_end' },
    result: { response: text, structured_output: VALUE },
  });
  t.match(run, {
    status: 'done',
    final_output: text,
    structured_output: VALUE,
    outcome: { structured_output: VALUE },
  });
  t.notOk('output_repairs' in run);
  t.strictSame(await history(troupe), ['user: My invoice is wrong', `assistant: ${text}`]);
  t.strictSame(
    events.filter(({ event_type }) => event_type === 'text_delta').map(({ delta }) => delta),
    [text],
    'the text is one delta',
  );
  t.notMatch(JSON.stringify(events), 'final_answer');
  const { body } = await troupe.call('GET', '/v1/threads/T/events');
  t.match(JSON.stringify(body), JSON.stringify({ structured_output: VALUE }).slice(1, -1));
  t.notMatch(JSON.stringify(body), 'final_answer');
  const { request } = troupe.models.requests[0] ?? {};
  t.match(request?.tools, [{ id: 'final_answer', parameters: SCHEMA }]);
  t.equal(request?.toolChoice, undefined, 'the first of several rounds forces no call');
});

t.test('accepts JSON that a model writes as text, also in a code block', async (t) => {
  const troupe = await startTroupe(t);
  const text = JSON.stringify(VALUE);
  for (const written of [text, `\`\`\`json\n${text}\n\`\`\``, `Here it is: ${text} Good luck.`]) {
    const { events, run } = await play(troupe, { output_schema: SCHEMA }, says(written));
    t.strictSame(run.structured_output, VALUE);
    t.equal(run.final_output, text);
    t.equal(textIn(events), text);
  }
});

t.test('prefers the schema of a request over that of the agent, and null disables it', async (t) => {
  const troupe = await startTroupe(t);
  const saved = await troupe.call(
    'PUT',
    '/v1/config/agents/typed',
    { id: 'typed', model_id: 'steps', output_schema: SCHEMA },
    { authorization: 'Bearer admin-token-of-the-tests' },
  );
  t.equal(saved.status, 200, JSON.stringify(saved.body));
  const own = await play(troupe, { agentId: 'typed' }, answers(VALUE));
  t.strictSame(own.run.structured_output, VALUE);
  const other = await play(troupe, { agentId: 'typed', output_schema: LIST }, answers({ result: [1] }));
  t.strictSame(other.run.structured_output, [1]);
  t.match(other.run, { activation: { options: { output_schema: LIST } } });
  const none = await play(troupe, { agentId: 'typed', output_schema: null }, says('Hello'));
  t.equal(none.run.final_output, 'Hello');
  t.notOk('structured_output' in none.run);
  t.strictSame(troupe.models.requests.at(-1)?.request.tools, []);
});

t.test('rejects an unusable schema in every request and in the configuration', async (t) => {
  const troupe = await startTroupe(t);
  await play(troupe, {}, says('Hello'));
  const bad = { pattern: '(a+)+\\1' };
  const before = troupe.models.requests.length;
  for (const [path, body] of [
    ['/v1/runs', { agentId: 'steps', messages }],
    ['/v1/threads/T/messages', { messages }],
    ['/v1/threads/T/mailbox', { payload: 'x' }],
    ['/v1/ai-sdk/chat', { messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] }],
    ['/v1/ag-ui/run', { messages: [{ id: 'm', role: 'user', content: 'x' }] }],
  ] as const) {
    for (const output_schema of [bad, 'x', { items: { $ref: 'https://a.example' } }]) {
      t.match(await troupe.post(path, { ...body, output_schema }), {
        status: 400,
        body: { error: /^output_schema: / },
      });
    }
  }
  t.equal(troupe.models.requests.length, before, 'no model was called');
  t.match(
    await troupe.call(
      'PUT',
      '/v1/config/agents/bad',
      { id: 'bad', model_id: 'steps', output_schema: { type: 'text' } },
      { authorization: 'Bearer admin-token-of-the-tests' },
    ),
    { status: 400, body: { error: /invalid agent spec: output_schema: \/type: must be one of/ } },
  );
});

t.test('executes several rounds of tool calls before the result', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { events, run } = await play(
    troupe,
    { output_schema: SCHEMA },
    asks(['c1', 'note']),
    asks(['c2', 'note']),
    answers(VALUE),
  );
  t.strictSame(run.structured_output, VALUE);
  t.strictSame(tools.executed, ['c1', 'c2']);
  t.notMatch(JSON.stringify([events, run, await history(troupe, 'all')]), 'final_answer');
});

const beside = (...calls: Parameters<typeof asks>): Inference => asks(['f', 'final_answer', VALUE], ...calls);

t.test('accepts a result alongside a call that succeeds', async (t) => {
  const { troupe, tools } = await withTools(t);
  const { events, run } = await play(troupe, { output_schema: SCHEMA }, beside(['c1', 'note']));
  t.strictSame(tools.executed, ['c1']);
  t.strictSame(run.structured_output, VALUE);
  t.equal(run.steps, 1);
  t.equal(textIn(events), JSON.stringify(VALUE));
  t.strictSame((await history(troupe)).slice(-2), ['tool: "did c1"', `assistant: ${JSON.stringify(VALUE)}`]);
  t.notMatch(JSON.stringify([events, await history(troupe, 'all')]), 'final_answer');
});

t.test('defers a result alongside a call that fails, and reports the failure to the model', async (t) => {
  const { troupe } = await withTools(t);
  const { run } = await play(
    troupe,
    { output_schema: SCHEMA },
    beside(['c1', 'unknown']),
    answers({ team: 'tech', urgent: false }),
  );
  t.strictSame(run.structured_output, { team: 'tech', urgent: false });
  t.match(
    (await history(troupe, 'all')).filter((line) => line.includes('not taken')),
    [/^user: Your result was not taken: the call of 'unknown', which came with it, failed/],
  );
  t.notOk('output_repairs' in run, 'a deferred result is not a repair');
});

t.test('defers a result alongside a suspended call and requests it again after the decision', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(beside(['c1', 'risky']));
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages, output_schema: SCHEMA });
  const run_id = String(events[0]?.run_id);
  t.match(finishOf(events), { termination: { type: 'suspended' } });
  troupe.models.steps.push(answers(VALUE));
  await troupe.restart();
  await troupe.post(`/v1/runs/${run_id}/decision`, resume('c1'));
  const { body } = await eventually(
    () => troupe.call('GET', `/v1/runs/${run_id}`),
    ({ body }) => body.status === 'done',
  );
  t.strictSame(body.structured_output, VALUE);
  t.match(
    (await history(troupe, 'all')).join('\n'),
    /not taken: the call of 'risky', which came with it, waits/,
  );
});

t.test('requests the result again after a call alongside it was denied', async (t) => {
  const { troupe } = await withTools(t);
  troupe.models.steps.push(beside(['c1', 'risky']), answers(VALUE));
  const events = await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages, output_schema: SCHEMA });
  const run_id = String(events[0]?.run_id);
  await troupe.post(`/v1/runs/${run_id}/decision`, decline('c1'));
  const { body } = await eventually(
    () => troupe.call('GET', `/v1/runs/${run_id}`),
    ({ body }) => body.status === 'done',
  );
  t.strictSame(body.structured_output, VALUE);
});

t.test('requests a mismatching value again, with its problems', async (t) => {
  const troupe = await startTroupe(t);
  const { events, run, finish } = await play(
    troupe,
    { output_schema: SCHEMA },
    answers({ team: 'sales' }),
    answers(VALUE),
  );
  t.match(finish, { termination: { type: 'natural_end' }, result: { structured_output: VALUE } });
  t.match(run, { output_repairs: 1, steps: 2 });
  t.strictSame(await history(troupe), ['user: My invoice is wrong', `assistant: ${JSON.stringify(VALUE)}`]);
  t.equal(textIn(events), JSON.stringify(VALUE), 'the stream contains only the valid value');
  const [, second] = troupe.models.requests;
  t.strictSame(second?.request.toolChoice, { tool: 'final_answer' });
  const note = textOf(second?.request.messages.at(-1)?.content ?? []);
  t.match(note, '- /urgent: is missing');
  t.match(note, '- /team: must be one of ["billing","tech"]');
  t.notMatch(note, 'final_answer');
});

t.test('stops a run after its repairs if the model never complies', async (t) => {
  const troupe = await startTroupe(t);
  const wrong = answers({ team: 1 });
  const { events, run, finish } = await play(troupe, { output_schema: SCHEMA }, wrong, wrong, wrong, wrong);
  t.match(finish, {
    termination: { type: 'stopped', value: { code: 'invalid_output', detail: '/urgent: is missing' } },
    result: { response: '{"team":1}', status_reason: 'stopped:invalid_output' },
  });
  t.equal(troupe.models.requests.length, 3);
  t.match(run, { output_repairs: 2, final_output: '{"team":1}' });
  t.notOk('structured_output' in run);
  t.notOk('structured_output' in Object(finish?.result));
  t.equal(textIn(events), '{"team":1}', 'the invalid text is kept');
  t.strictSame(await history(troupe), ['user: My invoice is wrong', 'assistant: {"team":1}']);
});

t.test('repairs arguments that are not JSON and text without JSON', async (t) => {
  const troupe = await startTroupe(t);
  const broken: Inference = (sink) => {
    sink.toolStart('f', 'final_answer');
    sink.toolDelta('f', '{"team":');
    sink.toolEnd('f', '{"team":');
    return { stop: 'ToolUse' };
  };
  const { run } = await play(troupe, { output_schema: SCHEMA }, broken, says('I am done.'), answers(VALUE));
  t.match(run, { output_repairs: 2, structured_output: VALUE });
  for (const { request } of troupe.models.requests.slice(1))
    t.match(textOf(request.messages.at(-1)?.content ?? []), '- is not JSON');
});

t.test('offers only the result in the last allowed round', async (t) => {
  const { troupe } = await withTools(t);
  await troupe.call(
    'PUT',
    '/v1/config/agents/short',
    { id: 'short', model_id: 'steps', max_rounds: 2, output_schema: SCHEMA },
    { authorization: 'Bearer admin-token-of-the-tests' },
  );
  const { run } = await play(troupe, { agentId: 'short' }, asks(['c1', 'note']), answers(VALUE));
  t.strictSame(run.structured_output, VALUE);
  const [first, second] = troupe.models.requests;
  t.ok((first?.request.tools.length ?? 0) > 1);
  t.equal(first?.request.toolChoice, undefined);
  t.strictSame(
    second?.request.tools.map(({ id }) => id),
    ['final_answer'],
  );
  t.strictSame(second?.request.toolChoice, { tool: 'final_answer' });
  const wrong = await play(troupe, { agentId: 'short' }, asks(['c2', 'note']), says('No.'));
  t.match(wrong.finish, { termination: { type: 'stopped', value: { code: 'invalid_output' } } });
});

t.test('wraps a non-object result for the tool, and unwraps it everywhere', async (t) => {
  const troupe = await startTroupe(t);
  for (const [schema, value] of [
    [LIST, [1, 2]],
    [{ type: 'string' }, 'text'],
    [{ type: ['null', 'string'] }, null],
    [{ anyOf: [{ type: 'object' }, { type: 'array' }] }, { a: 1 }],
  ] as const) {
    const { run, finish, events } = await play(troupe, { output_schema: schema }, answers({ result: value }));
    t.ok('structured_output' in run);
    t.strictSame(run.structured_output, value);
    t.match(finish, { result: { structured_output: value } });
    t.equal(textIn(events), JSON.stringify(value));
  }
  const { run } = await play(troupe, { output_schema: LIST }, answers({ wrong: [1] }), says('[3]'));
  t.match(run, { structured_output: [3], output_repairs: 1 });
  t.match(
    textOf(troupe.models.requests.at(-1)?.request.messages.at(-1)?.content ?? []),
    '/result: is missing',
  );
});

t.test('repairs a truncated completion instead of continuing it', async (t) => {
  const troupe = await startTroupe(t);
  const { run } = await play(
    troupe,
    { output_schema: SCHEMA },
    says('{"team":"bil', 'MaxTokens'),
    says('ling","urgent":true}', 'MaxTokens'),
    answers(VALUE),
  );
  t.match(run, { structured_output: VALUE, output_repairs: 2 });
  for (const { request } of troupe.models.requests.slice(1))
    t.match(textOf(request.messages.at(-1)?.content ?? []), '- cut off at the output limit');
});

t.test('uses another name when a tool is called final_answer', async (t) => {
  const { troupe, tools } = await withTools(t, {
    app: { tools: [] },
  });
  const taken = { id: 'final_answer', name: 'final_answer', description: '', parameters: { type: 'object' } };
  troupe.models.steps.push(asks(['c1', 'note'], ['f', 'final_answer_2', VALUE]));
  const answer = await troupe.post('/v1/ag-ui/run', {
    threadId: 'T',
    agentId: 'steps',
    messages: [{ id: 'm1', role: 'user', content: 'Hi' }],
    tools: [taken],
    output_schema: SCHEMA,
  });
  t.equal(answer.status, 200);
  t.match(String(answer.body.text), JSON.stringify({ structured_output: VALUE }).slice(1, -1));
  t.strictSame(tools.executed, ['c1']);
});

t.test('sends unchanged requests for a run without a schema', async (t) => {
  const troupe = await startTroupe(t);
  const { run } = await play(troupe, {}, says('{"team":"billing"}'));
  t.notOk('structured_output' in run);
  const { request } = troupe.models.requests[0] ?? {};
  t.notOk(request && ('output' in request || 'toolChoice' in request));
  t.strictSame(request?.tools, []);
});

t.test('ends the run with an error when the model does not support the mode', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.call(
    'PUT',
    '/v1/config/agents/native',
    { id: 'native', model_id: 'steps', output_schema: SCHEMA, output_options: { mode: 'native' } },
    { authorization: 'Bearer admin-token-of-the-tests' },
  );
  const { finish } = await play(troupe, { agentId: 'native' });
  t.match(finish, {
    termination: { type: 'error', value: "output mode 'native' is not supported by model 'steps'" },
  });
});

t.test('requests the result in a system message only in mode prompt', async (t) => {
  const troupe = await startTroupe(t);
  await troupe.call(
    'PUT',
    '/v1/config/agents/asked',
    { id: 'asked', model_id: 'steps', output_schema: SCHEMA, output_options: { mode: 'prompt' } },
    { authorization: 'Bearer admin-token-of-the-tests' },
  );
  const { run } = await play(troupe, { agentId: 'asked' }, says(JSON.stringify(VALUE)));
  t.strictSame(run.structured_output, VALUE);
  const { request } = troupe.models.requests[0] ?? {};
  t.match(request?.system.join('\n'), JSON.stringify(SCHEMA));
  t.strictSame(request?.tools, []);
});

t.test('requests the result in a system message when the model is known not to support tools', async (t) => {
  const troupe = await startTroupe(t);
  const admin = { authorization: 'Bearer admin-token-of-the-tests' };
  await troupe.call(
    'PUT',
    '/v1/config/models/steps',
    { id: 'steps', provider_id: 'test', upstream_model: 'o1-mini' },
    admin,
  );
  const { run } = await play(troupe, { output_schema: SCHEMA }, says(JSON.stringify(VALUE)));
  t.strictSame(run.structured_output, VALUE);
  const { request } = troupe.models.requests[0] ?? {};
  t.match(request?.system.join('\n'), JSON.stringify(SCHEMA));
  t.strictSame(request?.tools, []);

  const agent = { id: 'called', model_id: 'steps', output_schema: SCHEMA, output_options: { mode: 'tool' } };
  await troupe.call('PUT', '/v1/config/agents/called', agent, admin);
  const { finish } = await play(troupe, { agentId: 'called', threadId: 'U' });
  t.match(finish, {
    termination: { type: 'error', value: "output mode 'tool' is not supported by model 'steps'" },
  });

  const overrides = { upstream_model: 'another' };
  const asked = { threadId: 'V', output_schema: SCHEMA, overrides };
  t.strictSame((await play(troupe, asked, answers(VALUE))).run.structured_output, VALUE);
});
