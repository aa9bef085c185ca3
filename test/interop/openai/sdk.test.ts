import OpenAI, { APIError, NotFoundError } from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { ModelError } from '../../../src/models/errors.ts';
import { asks } from '../../service/models.ts';
import { startChat } from '../../service/openai/chat.ts';
import { eventually, type TroupeOptions } from '../../service/troupe.ts';

/** The official client, unmodified: chat completions of its version 7. */

const connect = async (t: Test, options: TroupeOptions = {}) => {
  const chat = await startChat(t, options);
  const client = new OpenAI({ baseURL: `${chat.troupe.url}/v1`, apiKey: 'unused' });
  return { ...chat, client };
};

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const user = (content: string) => ({ role: 'user' as const, content });

t.test('lists and reads models, and throws for unknown ones (check 2)', async (t) => {
  const { client } = await connect(t);
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  t.ok(ids.includes('echo'));
  t.equal((await client.models.retrieve('echo')).owned_by, 'troupe');
  const error = await failureOf(client.chat.completions.create({ model: 'none', messages: [user('hi')] }));
  t.ok(error instanceof NotFoundError && error.code === 'model_not_found');
});

t.test('completes, streams, and adds chunks to the same completion (checks 9, 10, 11)', async (t) => {
  const { client } = await connect(t);
  const whole = await client.chat.completions.create({ model: 'echo', messages: [user('hi')] });
  t.equal(whole.choices[0]?.message.content, 'echo: hi');
  t.equal(whole.usage?.total_tokens, 30);
  const stream = client.chat.completions.stream({
    model: 'echo',
    messages: [user('hi')],
    stream_options: { include_usage: true },
  });
  const streamed = await stream.finalChatCompletion();
  t.strictSame(streamed.choices[0]?.message.content, 'echo: hi');
  t.strictSame(streamed.usage, whole.usage);
});

t.test('its default retries cause no second run (check 3)', async (t) => {
  const { client, troupe } = await connect(t, { settings: { mailbox: { max_attempts: 1 } } });
  troupe.models.failures.push(
    new ModelError('invalid_request', 'no'),
    new ModelError('invalid_request', 'no'),
  );
  const error = await failureOf(client.chat.completions.create({ model: 'flaky', messages: [user('hi')] }));
  t.ok(error instanceof APIError && error.status === 500 && error.requestID);
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 1);
});

t.test('throws for a failure within a stream (check 21)', async (t) => {
  const { client, troupe } = await connect(t, { settings: { mailbox: { max_attempts: 1 } } });
  troupe.models.failures.push(new ModelError('invalid_request', 'no'));
  const stream = await client.chat.completions.create({
    model: 'flaky',
    messages: [user('hi')],
    stream: true,
  });
  const read = async () => {
    for await (const _ of stream);
  };
  const error = await failureOf(read());
  t.ok(error instanceof APIError && /invalid request: no/.test(error.message));
});

t.test('parses structured answers (check 20)', async (t) => {
  const { client, troupe } = await connect(t);
  troupe.models.steps.push((sink, request) =>
    asks(['c1', request.tools.at(-1)?.id ?? '', { n: 4 }])(sink, request, new AbortController().signal),
  );
  const answer = await client.chat.completions.parse({
    model: 'steps',
    messages: [user('hi')],
    response_format: zodResponseFormat(z.object({ n: z.number() }), 'answer'),
  });
  t.strictSame(answer.choices[0]?.message.parsed, { n: 4 });
});

t.test('executes functions with its tool runner in one run (check 16)', async (t) => {
  const { client, troupe } = await connect(t);
  troupe.models.steps.push(asks(['c1', 'pick', { a: 1 }]));
  const called: unknown[] = [];
  const runner = client.chat.completions.runTools({
    model: 'steps',
    messages: [user('hi')],
    tools: [
      {
        type: 'function',
        function: {
          name: 'pick',
          description: 'Picks.',
          parameters: { type: 'object', properties: { a: { type: 'number' } } },
          parse: JSON.parse,
          function: (args: unknown) => {
            called.push(args);
            return 'red';
          },
        },
      },
    ],
  });
  t.equal(await runner.finalContent(), 'echo: hi');
  t.strictSame(called, [{ a: 1 }]);
  t.equal((await troupe.call('GET', '/v1/runs')).body.total, 1);
});

t.test('cancels the run when a stream is aborted (check 22)', async (t) => {
  const { client, troupe } = await connect(t);
  const stream = await client.chat.completions.create({
    model: 'slow',
    messages: [user('hi')],
    stream: true,
  });
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content === 'partial') break;
  }
  stream.controller.abort();
  const { body } = await eventually(
    () => troupe.call('GET', '/v1/runs?limit=1'),
    ({ body }) => (body.items as { status: string }[])[0]?.status === 'done',
  );
  t.match((body.items as object[])[0], { termination_reason: { type: 'cancelled' } });
});
