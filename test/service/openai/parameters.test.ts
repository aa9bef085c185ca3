import t from 'tap';
import { giveAnswer } from '../../../src/models/scripted-answer.ts';
import { asks } from '../models.ts';
import { countRuns, messagesOf, say, startChat } from './chat.ts';

const pick = { type: 'function', function: { name: 'pick', parameters: { type: 'object', properties: {} } } };

t.test('rejects what no agent can do, and accepts requests for nothing (check 12)', async (t) => {
  const { complete, troupe } = await startChat(t);
  const rejected: [object, string, string][] = [
    [{ n: 2 }, 'n', 'unsupported_value'],
    [{ logprobs: true }, 'logprobs', 'unsupported_parameter'],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', 'unsupported_value'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools[0]', 'invalid_value'],
    [{ stop: ['1', '2', '3', '4', '5'] }, 'stop', 'invalid_value'],
    [{ temperature: 'hot' }, 'temperature', 'invalid_type'],
    [{ tool_choice: { type: 'function', function: { name: 'x' } } }, 'tool_choice', 'invalid_value'],
  ];
  for (const [more, param, code] of rejected) {
    const { status, body } = await complete({ messages: [say('hi')], ...more });
    t.equal(status, 400, JSON.stringify(more));
    t.match(body.error, { param, code }, JSON.stringify(more));
  }
  t.equal(await countRuns(troupe), 0);
  const accepted = { logit_bias: {}, n: 1, logprobs: false, temperature: null, unknown: 1, tools: [] };
  t.equal((await complete({ messages: [say('hi')], ...accepted })).status, 200);
});

t.test('passes the settings of the model on (check 13)', async (t) => {
  const { complete, troupe } = await startChat(t);
  await complete({
    messages: [say('hi')],
    stop: ['x'],
    seed: 7,
    temperature: 0.5,
    max_tokens: 9,
    presence_penalty: 1,
    frequency_penalty: -1,
    reasoning_effort: 'minimal',
    parallel_tool_calls: false,
  });
  t.match(troupe.models.requests.at(-1)?.request.overrides, {
    stop: ['x'],
    seed: 7,
    temperature: 0.5,
    max_tokens: 9,
    presence_penalty: 1,
    frequency_penalty: -1,
    reasoning_effort: 'low',
    parallel_tool_calls: false,
  });
});

t.test('a limit of the request ends the run with its first completion (check 14)', async (t) => {
  const { complete, troupe } = await startChat(t);
  const cut = (text: string) => (sink: { text(delta: string): void }) => {
    sink.text(text);
    return { stop: 'MaxTokens' as const };
  };
  troupe.models.steps.push(cut('one'));
  const limited = await complete({ model: 'steps', messages: [say('hi')], max_tokens: 2 });
  t.match(limited, { content: 'one', finish_reason: 'length' });
  t.equal(troupe.models.requests.length, 1);
  troupe.models.steps.push(cut('one'), cut('two'), (sink) => giveAnswer({ text: ['three'] }, sink));
  const unlimited = await complete({ model: 'steps', messages: [say('hi')] });
  t.equal(unlimited.content, 'one\n\ntwo\n\nthree');
  t.equal(unlimited.finish_reason, 'stop');
});

t.test('runs the tools of the agent on the server (check 15)', async (t) => {
  const { stream, tools, troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'note', { city: 'Oslo' }]));
  const plain = await stream({ model: 'steps', messages: [say('hi')] });
  t.strictSame(tools.executed, ['c1']);
  t.equal(plain.content, 'echo: hi');
  t.equal(plain.finish_reason, 'stop');
  t.notMatch(plain.raw, /tool_calls|reasoning_content/);
});

t.test('reports calls of tools of the agent as reasoning, if wanted (check 15)', async (t) => {
  const told = await startChat(t, { settings: { openai: { tool_progress: 'reasoning' } } });
  told.troupe.models.steps.push(asks(['c1', 'note', { city: 'Oslo' }]));
  const { reasoning, content } = await told.stream({ model: 'steps', messages: [say('hi')] });
  t.equal(reasoning, '\n[note] {"city":"Oslo"}\n[note] ok\n');
  t.equal(content, 'echo: hi');
  told.troupe.models.steps.push(asks(['c1', 'note', { city: 'Oslo' }]));
  const { message } = await told.complete({ model: 'steps', messages: [say('hi')] });
  t.equal(message.reasoning_content, reasoning);
});

for (const after of ['', ' after a restart']) {
  t.test(`a function of the client continues its run with the result${after} (checks 5, 16)`, async (t) => {
    const { complete, troupe } = await startChat(t);
    troupe.models.steps.push(asks(['call-of-provider', 'pick', { a: 1 }]));
    const request = { model: 'steps', tools: [pick] };
    const first = await complete({ ...request, messages: [say('hi')] });
    t.equal(first.finish_reason, 'tool_calls');
    t.equal(first.content, null);
    const [call] = first.message.tool_calls as { id: string; function: object }[];
    t.equal(call?.id.length, 40);
    t.match(call, { type: 'function', function: { name: 'pick', arguments: '{"a":1}' } });
    if (after !== '') await troupe.restart();
    const result = { role: 'tool', tool_call_id: call?.id, content: '{"color":"red"}' };
    const messages = [say('hi'), first.message, result, say('and now?')];
    const second = await complete({ ...request, messages });
    t.equal(second.run_id, first.run_id);
    t.equal(second.body.id, String(first.body.id).replace(/0000$/, '0001'));
    t.equal(second.content, 'echo: and now?');
    t.equal(await countRuns(troupe), 1);
    const prompt = JSON.stringify(troupe.models.requests.at(-1)?.request.messages);
    t.match(prompt, /color.*red/);
  });
}

t.test('streams the calls of functions of the client', async (t) => {
  const { stream, troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'pick', { a: 1 }], ['c2', 'pick', { a: 2 }]));
  const { chunks, finish_reason } = await stream({ model: 'steps', messages: [say('hi')], tools: [pick] });
  t.equal(finish_reason, 'tool_calls');
  const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
  t.strictSame(
    calls.map(
      ({
        index,
        function: { name, arguments: args },
      }: {
        index: number;
        function: Record<string, string>;
      }) => [index, name, args],
    ),
    [
      [0, 'pick', ''],
      [0, undefined, '{"a":1}'],
      [1, 'pick', ''],
      [1, undefined, '{"a":2}'],
    ],
  );
});

t.test('requires a result for each call, and waits until then (check 17)', async (t) => {
  const { complete, troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'pick'], ['c2', 'pick']));
  const request = { model: 'steps', tools: [pick] };
  const first = await complete({ ...request, messages: [say('hi')] });
  const calls = first.message.tool_calls as { id: string }[];
  const partly = await complete({
    ...request,
    messages: [say('hi'), first.message, { role: 'tool', tool_call_id: calls[0]?.id, content: 'red' }],
  });
  t.equal(partly.status, 400);
  t.match(partly.body.error, { message: `No tool output found for function call ${calls[1]?.id}.` });
  t.equal((await troupe.call('GET', `/v1/runs/${first.run_id}`)).body.status, 'waiting');
});

t.test('a function of the client takes the place of a tool of the agent (check 18)', async (t) => {
  const { complete, tools, troupe } = await startChat(t);
  troupe.models.steps.push(asks(['c1', 'note']));
  const note = { type: 'function', function: { name: 'note' } };
  const { finish_reason } = await complete({ model: 'steps', messages: [say('hi')], tools: [note] });
  t.equal(finish_reason, 'tool_calls');
  t.strictSame(tools.executed, []);
});

t.test('appends system texts to the prompt of the run, and never to the history (check 19)', async (t) => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
    say('hi'),
  ];
  const { complete, troupe } = await startChat(t);
  const { thread_id } = await complete({ messages });
  t.strictSame(troupe.models.requests.at(-1)?.request.system, ['Be brief.\n\nBe kind.']);
  t.strictSame(
    (await messagesOf(troupe, thread_id)).map(({ role }) => role),
    ['user', 'assistant'],
  );
});

t.test('ignores system texts, if configured (check 19)', async (t) => {
  const ignoring = await startChat(t, { settings: { openai: { client_instructions: 'ignore' } } });
  await ignoring.complete({ messages: [{ role: 'system', content: 'Be brief.' }, say('hi')] });
  t.strictSame(ignoring.troupe.models.requests.at(-1)?.request.system, []);
});

t.test('answers with JSON that fits the format, also after a call of a tool (check 20)', async (t) => {
  const { complete, stream, troupe } = await startChat(t);
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const response_format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } };
  const give = () =>
    troupe.models.steps.push(asks(['c1', 'note']), (sink, request) =>
      asks(['c2', request.tools.at(-1)?.id ?? '', { n: 4 }])(sink, request, new AbortController().signal),
    );
  give();
  const { content, finish_reason } = await complete({
    model: 'steps',
    messages: [say('hi')],
    response_format,
  });
  t.strictSame(JSON.parse(content ?? ''), { n: 4 });
  t.equal(finish_reason, 'stop');
  t.ok(troupe.models.requests.at(-1)?.request.tools.some(({ id }) => id === 'note'));
  give();
  const streamed = await stream({ model: 'steps', messages: [say('hi')], response_format });
  t.strictSame(JSON.parse(streamed.content), { n: 4 });
});

t.test('imports images, files, audio, calls and results of the history', async (t) => {
  const { complete, troupe } = await startChat(t);
  const { status, thread_id } = await complete({
    messages: [
      say([
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA', filename: 'a.pdf' } },
      ]),
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'x1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'x1', content: 'done' },
      { role: 'assistant', content: [{ type: 'text', text: 'seen' }], reasoning_content: 'hm' },
      say('next'),
    ],
  });
  t.equal(status, 200);
  const listed = await messagesOf(troupe, thread_id);
  t.match(listed, [
    { role: 'user', content: [{ type: 'text' }, { type: 'image' }, { type: 'audio' }, { type: 'document' }] },
    { role: 'assistant', tool_calls: [{ id: 'x1', name: 'f', arguments: { a: 1 } }] },
    { role: 'tool', tool_call_id: 'x1' },
    { role: 'assistant', content: [{ type: 'text', text: 'seen' }] },
    { role: 'user', content: [{ type: 'text', text: 'next' }] },
    { role: 'assistant' },
  ]);
  t.notOk(
    (listed[0]?.metadata as { run_id?: string } | undefined)?.run_id,
    'imported messages belong to no run',
  );
});

t.test('continues a list that ends with an answer without new input', async (t) => {
  const { complete } = await startChat(t);
  const { status, content } = await complete({
    messages: [say('hi'), { role: 'assistant', content: 'Well,' }],
  });
  t.equal(status, 200);
  t.equal(content, 'echo: hi');
});
