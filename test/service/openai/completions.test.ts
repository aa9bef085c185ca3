import t from 'tap';
import { say, startChat } from './chat.ts';

t.test('answers with the text of the run, its end and its usage (check 9)', async (t) => {
  const { complete, troupe } = await startChat(t);
  const { status, headers, body, content, run_id } = await complete({ messages: [say('hi')] });
  t.equal(status, 200);
  t.equal(content, 'echo: hi');
  const run = await troupe.call('GET', `/v1/runs/${run_id}`);
  t.equal(run.body.final_output, 'echo: hi');
  t.match(body, {
    id: `chatcmpl-${run_id.replaceAll('-', '')}0000`,
    object: 'chat.completion',
    model: 'echo',
    choices: [{ index: 0, finish_reason: 'stop', logprobs: null }],
    usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 },
  });
  t.match(body.system_fingerprint, /^fp_\d+$/);
  t.match(headers.get('openai-processing-ms'), /^\d+$/);
  t.ok(headers.get('x-request-id'));
});

t.test('streams the same text in chunks with one id (check 10)', async (t) => {
  const { complete, stream } = await startChat(t);
  const whole = await complete({ messages: [say('hi')] });
  const { headers, chunks, content, finish_reason, raw } = await stream({ messages: [say('hi')] });
  t.equal(headers.get('content-type'), 'text/event-stream');
  t.equal(headers.get('x-accel-buffering'), 'no');
  t.ok(headers.get('x-troupe-run-id'));
  t.strictSame(chunks[0].choices[0].delta, { role: 'assistant', content: '', refusal: null });
  t.equal(content, whole.content);
  t.equal(finish_reason, 'stop');
  t.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  t.ok(raw.endsWith('data: [DONE]\n\n'));
  t.notOk(
    chunks.some((chunk) => 'usage' in chunk),
    'no chunk has a usage',
  );
});

t.test('reports the usage in one chunk without choices, if wanted (check 11)', async (t) => {
  const { complete, stream } = await startChat(t);
  const whole = await complete({ messages: [say('hi')] });
  const { chunks } = await stream({ messages: [say('hi')], stream_options: { include_usage: true } });
  t.strictSame(chunks.at(-1).choices, []);
  t.strictSame(chunks.at(-1).usage, whole.body.usage);
  t.ok(chunks.slice(0, -1).every(({ usage }) => usage === null));
});
