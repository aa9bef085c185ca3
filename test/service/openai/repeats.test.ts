import t, { type Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../../src/models/errors.ts';
import { defineTool } from '../../../src/tools/define-tool.ts';
import { says } from '../agent-loop/agents.ts';
import { ask } from '../http.ts';
import { asks } from '../models.ts';
import { type Blocks, readBlocks } from '../stream.ts';
import { eventually, type Troupe } from '../troupe.ts';
import { completed, countRuns, say, startChat } from './chat.ts';
import { pick } from './responses.ts';

/** Requests of OpenAI's protocol with an `Idempotency-Key` (runtime.md 0.8, openai.md 2.4). */

type Sent = { status: number; text: string; isReplay: boolean; headers: Headers };

const post = async ({ url }: Troupe, path: string, body: object, key: string): Promise<Blocks> =>
  readBlocks(
    await ask(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    }),
  );

const send = async (
  troupe: Troupe,
  path: string,
  body: object,
  key: string,
  head: object = {},
): Promise<Sent> => {
  const { url } = troupe;
  const got = await ask(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key, ...head },
    body: JSON.stringify(body),
  });
  const text = (await got.text()).replace(/^:.*\n\n/gm, '');
  return {
    status: got.status,
    text,
    isReplay: got.headers.has('idempotency-replayed'),
    headers: got.headers,
  };
};

/** Reads a stream up to the frame with this text, and disconnects. */
const cutAfter = async (stream: Blocks, text: string): Promise<string> => {
  while (!stream.raw().includes(text)) if ((await stream.next()) === undefined) break;
  await stream.close();
  return stream.raw();
};

const isWaiting = (troupe: Troupe) =>
  eventually(
    async () => troupe.models.waiting(),
    (count) => count === 1,
  );

/** The frames without comments, which keep the connection open. */
const framesOf = (raw: string): string[] =>
  raw.split('\n\n').filter((frame) => frame !== '' && !frame.startsWith(':'));

const CHAT = '/v1/chat/completions';
const RESPONSES = '/v1/responses';

const refusedOf = (t: Test, { status, text }: Sent): void => {
  t.equal(status, 422);
  t.strictSame(JSON.parse(text), {
    error: {
      message: 'Idempotency-Key was used for another request',
      type: 'invalid_request_error',
      param: null,
      code: null,
    },
  });
};

t.test('executes a chat completion once that is sent again with its key', async (t) => {
  const { troupe } = await startChat(t);
  const body = { model: 'echo', messages: [say('hi')] };
  const first = await send(troupe, CHAT, body, 'held');
  for (const restarts of [false, true]) {
    if (restarts) await troupe.restart();
    const again = await send(troupe, CHAT, body, 'held');
    t.ok(again.isReplay);
    t.equal(again.text, first.text);
    for (const name of ['content-type', 'x-troupe-run-id', 'x-troupe-thread-id'])
      t.equal(again.headers.get(name), first.headers.get(name));
  }
  refusedOf(t, await send(troupe, CHAT, { ...body, messages: [say('other')] }, 'held'));
  troupe.models.steps.push((sink) => {
    sink.reasoning('A greeting.');
    sink.text('Hello.');
    return asks(['c1', 'pick', { a: 1 }])(sink, { messages: [] } as never, new AbortController().signal);
  });
  const asking = {
    model: 'steps',
    messages: [say('hi')],
    tools: [{ type: 'function', function: { name: 'pick', parameters: { type: 'object' } } }],
  };
  const calling = await send(troupe, CHAT, asking, 'calls');
  t.match(JSON.parse(calling.text).choices[0], { finish_reason: 'tool_calls' });
  t.equal((await send(troupe, CHAT, asking, 'calls')).text, calling.text, 'calls of the client');
  const failing = { model: 'flaky', messages: [say('hi')] };
  troupe.models.failures.push(new ModelError('invalid_request', 'no'));
  const failed = await send(troupe, CHAT, failing, 'fails');
  t.ok(failed.status >= 400);
  const failedAgain = await send(troupe, CHAT, failing, 'fails');
  t.strictSame([failedAgain.status, failedAgain.text], [failed.status, failed.text]);
  t.equal(failedAgain.headers.get('x-should-retry'), 'false');
  t.equal(await countRuns(troupe), 3);
});

t.test('answers a repeat of an earlier request of a run after a restart', async (t) => {
  const { troupe } = await startChat(t);
  const steps = () =>
    troupe.models.steps.push(asks(['c1', 'pick', { a: 1 }]), asks(['c2', 'pick', { a: 2 }]));
  steps();
  const body = {
    model: 'steps',
    messages: [say('hi')] as object[],
    tools: [{ type: 'function', function: { name: 'pick', parameters: { type: 'object' } } }],
  };
  const sent: { body: object; key: string; text: string }[] = [];
  for (const key of ['first', 'second', 'third']) {
    const now = { ...body, messages: [...body.messages] };
    const { text } = await send(troupe, CHAT, now, key);
    sent.push({ body: now, key, text });
    const { message } = JSON.parse(text).choices[0];
    const [call] = message.tool_calls ?? [];
    body.messages.push(message, { role: 'tool', tool_call_id: call?.id, content: 'picked' });
  }
  const calls = sent.map(
    ({ text }) => JSON.parse(text).choices[0].message.tool_calls?.[0].function.arguments,
  );
  t.strictSame(calls, ['{"a":1}', '{"a":2}', undefined]);
  await troupe.restart();
  for (const { body: again, key, text } of sent)
    t.equal((await send(troupe, CHAT, again, key)).text, text, key);
  t.equal(await countRuns(troupe), 1);
  const asking = { model: 'steps', messages: [say('act')] };
  const head = { 'x-conversation-id': 'approvals' };
  troupe.models.steps.push(asks(['c3', 'risky']));
  const first = await send(troupe, CHAT, asking, 'asks', head);
  const { message } = JSON.parse(first.text).choices[0];
  const approved = { ...asking, messages: [...asking.messages, message, say('/approve')] };
  await send(troupe, CHAT, approved, 'approves', head);
  t.equal((await send(troupe, CHAT, asking, 'asks', head)).text, first.text, 'the question');
});

t.test('answers a repeat with the same links to files', async (t) => {
  const write = defineTool({
    id: 'write',
    description: 'Writes a file.',
    input: z.object({}),
    async execute(_, { files }) {
      const file_id = await files?.write({ name: 'a.csv', media_type: 'text/csv', data: Buffer.from('a,b') });
      return { data: 'written', parts: file_id === undefined ? [] : [{ file_id }] };
    },
  });
  let ahead = 0;
  const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
  const { troupe } = await startChat(t, { app: { clock, tools: [write] } });
  troupe.models.steps.push(asks(['c1', 'write']), says('Here.'), asks(['c2', 'write']), says('Here.'));
  const body = { model: 'steps', messages: [say('Write.')] };
  const first = await send(troupe, CHAT, body, 'held');
  t.match(JSON.parse(first.text).choices[0].message.content, /content\?expires=/);
  const streamed = await send(troupe, CHAT, { ...body, stream: true }, 'stream');
  const linkIn = (text: string) => /\/v1\/files\/[^)]+/.exec(text)?.[0];
  ahead = 2 * 3600 * 1000;
  for (const restarts of [false, true]) {
    if (restarts) await troupe.restart();
    t.equal((await send(troupe, CHAT, body, 'held')).text, first.text);
    const again = await send(troupe, CHAT, { ...body, stream: true }, 'stream');
    t.equal(linkIn(again.text), linkIn(streamed.text));
  }
  t.equal((await fetch(troupe.url + linkIn(first.text))).status, 403, 'the link has expired');
});

t.test('continues a completion with a key whose client has disconnected, and streams it again', async (t) => {
  const { troupe } = await startChat(t);
  const body = {
    model: 'slow',
    messages: [say('hi')],
    stream: true,
    stream_options: { include_usage: true },
  };
  const before = await cutAfter(await post(troupe, CHAT, body, 's'), 'partial');
  const joined = await post(troupe, CHAT, body, 's');
  t.equal(joined.headers.get('idempotency-replayed'), 'true');
  const held = send(troupe, CHAT, { ...body, stream: false }, 'h');
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  troupe.models.releaseAll();
  while ((await joined.next()) !== undefined) {}
  const live = framesOf(joined.raw());
  t.strictSame(live.slice(0, framesOf(before).length), framesOf(before));
  t.equal(live.at(-1), 'data: [DONE]');
  const textOf = (frames: readonly string[]): string =>
    frames
      .flatMap((frame) => (frame === 'data: [DONE]' ? [] : JSON.parse(frame.slice(6)).choices))
      .map(({ delta }) => delta.content ?? '')
      .join('');
  t.equal(textOf(live), 'partial answer');
  for (const restarts of [false, true]) {
    if (restarts) await troupe.restart();
    const again = await send(troupe, CHAT, body, 's');
    const frames = framesOf(again.text);
    t.ok(again.isReplay);
    t.equal(textOf(frames), textOf(live));
    t.strictSame([frames[0], ...frames.slice(-3)], [live[0], ...live.slice(-3)], 'ids, end and usage');
  }
  t.match(completed({ status: 200, body: JSON.parse((await held).text), headers: new Headers() }), {
    content: 'partial answer',
  });
  t.equal(await countRuns(troupe), 2);
});

t.test('answers repeats after a restart in the middle of a run', async (t) => {
  const { troupe } = await startChat(t);
  const body = { model: 'slow', messages: [say('hi')] };
  const response = { model: 'slow', input: 'hi', stream: true };
  const held = send(troupe, CHAT, body, 'h').catch(() => undefined);
  await isWaiting(troupe);
  const cut = await cutAfter(await post(troupe, RESPONSES, response, 'r'), 'partial');
  const id = /"id":"(resp_\w+)"/.exec(cut)?.[1];
  await troupe.restart();
  const stopped = await held;
  if (stopped) t.match(stopped.headers.get('x-should-retry'), 'true', stopped.text);
  const again = [send(troupe, CHAT, body, 'h'), send(troupe, RESPONSES, response, 'r')] as const;
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  troupe.models.releaseAll();
  const [completion, events] = await Promise.all(again);
  t.equal(completion.status, 200);
  t.equal(JSON.parse(completion.text).choices[0].message.content, 'partial answer');
  t.match(events.text, `"id":"${id}"`);
  t.equal(events.text.match(/event: response\.completed\n/g)?.length, 1);
  t.ok(events.text.endsWith('data: [DONE]\n\n'));
  t.equal(await countRuns(troupe), 2);
});

t.test('executes a response once that is sent again with its key', async (t) => {
  const { troupe } = await startChat(t);
  const twice = async (body: object, key: string): Promise<Sent> => {
    const first = await send(troupe, RESPONSES, body, key);
    const again = await send(troupe, RESPONSES, body, key);
    t.equal(first.status, 200, first.text);
    t.ok(again.isReplay, key);
    t.equal(again.text, first.text, key);
    return first;
  };
  const held = await twice({ model: 'echo', input: 'one' }, 'held');
  await twice({ model: 'echo', input: 'two', stream: true }, 'stream');
  const background = await twice({ model: 'echo', input: 'three', background: true }, 'background');
  t.match(JSON.parse(background.text).status, /^(queued|in_progress)$/);
  const unstored = await twice({ model: 'echo', input: 'four', store: false }, 'unstored');
  const { id } = JSON.parse(unstored.text);
  t.equal((await troupe.call('GET', `${RESPONSES}/${id}`)).status, 404);
  refusedOf(t, await send(troupe, RESPONSES, { model: 'echo', input: 'other' }, 'held'));
  troupe.models.steps.push(asks(['c1', 'pick']));
  const asked = await twice({ model: 'steps', input: 'hi', tools: [pick] }, 'asks');
  const { call_id } = JSON.parse(asked.text).output[0];
  const output = [{ type: 'function_call_output', call_id, output: 'a' }];
  await twice({ input: output, previous_response_id: JSON.parse(asked.text).id }, 'answers');
  await troupe.restart();
  t.equal((await send(troupe, RESPONSES, { model: 'echo', input: 'one' }, 'held')).text, held.text);
  t.equal(await countRuns(troupe), 5);
  await troupe.call('DELETE', `${RESPONSES}/${JSON.parse(held.text).id}`);
  t.equal((await send(troupe, RESPONSES, { model: 'echo', input: 'one' }, 'held')).status, 404);
});

t.test('continues a response with a key whose client has disconnected', async (t) => {
  const { troupe } = await startChat(t);
  const body = { model: 'slow', input: 'hi', stream: true };
  const before = await cutAfter(await post(troupe, RESPONSES, body, 'r'), 'partial');
  const joined = send(troupe, RESPONSES, body, 'r');
  const heldBody = { model: 'slow', input: 'hi' };
  const cut = new AbortController();
  const held = fetch(troupe.url + RESPONSES, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'h' },
    body: JSON.stringify(heldBody),
    signal: cut.signal,
  }).catch(() => undefined);
  await eventually(
    async () => troupe.models.waiting(),
    (count) => count === 2,
  );
  cut.abort();
  await held;
  const again = send(troupe, RESPONSES, heldBody, 'h');
  troupe.models.releaseAll();
  const events = framesOf((await joined).text);
  t.strictSame(events.slice(0, framesOf(before).length), framesOf(before));
  t.match(events.at(-2), /^event: response\.completed/);
  t.match(JSON.parse((await again).text), { status: 'completed', output_text: 'partial answer' });
  t.equal(await countRuns(troupe), 2);
});

t.test('creates a conversation and its items once that are sent again with their keys', async (t) => {
  const { troupe } = await startChat(t);
  const item = (text: string) => ({ type: 'message', role: 'user', content: text });
  const body = { items: [item('one')], metadata: { topic: 'rome' } };
  const first = await send(troupe, '/v1/conversations', body, 'c');
  t.equal((await send(troupe, '/v1/conversations', body, 'c')).text, first.text);
  t.equal((await troupe.call('GET', '/v1/threads')).body.total, 1);
  const path = `/v1/conversations/${JSON.parse(first.text).id}/items`;
  const added = await send(troupe, path, { items: [item('two')] }, 'i');
  await send(troupe, path, { items: [item('three')] }, 'other');
  const again = await send(troupe, path, { items: [item('two')] }, 'i');
  t.ok(again.isReplay);
  t.equal(again.text, added.text);
  t.match(JSON.parse(again.text).data, [{ content: [{ text: 'two' }] }]);
  t.equal(((await troupe.call('GET', path)).body.data as unknown[]).length, 3);
  refusedOf(t, await send(troupe, path, { items: [item('four')] }, 'i'));
});
