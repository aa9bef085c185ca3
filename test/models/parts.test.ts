import t, { type Test } from 'tap';
import { createAnswer } from '../../src/models/answer.ts';
import { ModelError } from '../../src/models/errors.ts';
import type { InferenceSink, InferenceSource } from '../../src/models/model.ts';
import { isRetried } from '../../src/models/opening.ts';
import { withRecovery } from '../../src/models/recovery.ts';
import { DEFAULT_RETRY } from '../../src/models/retry.ts';
import { estimateMessage } from '../../src/plugins/context/estimate.ts';
import { type AnswerPart, blockOfPart, LARGEST_PART } from '../../src/schema/answer-part.ts';
import type { ContentBlock, Message } from '../../src/schema/message.ts';
import { createProvider } from './create-provider.ts';
import { breaksOff, fakeModel, recordingPause, says, withOpeningRetry } from './fakes.ts';
import { infer, recordingSink, requestOf, userMessage } from './infer.ts';
import { ANTHROPIC_ANSWER, chatChunk, sendEvents, startSseServer } from './sse-server.ts';

/** Files, addresses and data in completions: from the stream of a provider, and in later prompts. */

const hearing = () => {
  const heard: (string | AnswerPart | InferenceSource)[] = [];
  const sink: InferenceSink = {
    ...recordingSink([]),
    text: (delta) => heard.push(delta),
    part: (part) => heard.push(part),
    source: (source) => heard.push(source),
    toolCancel: () => {},
    reset: () => heard.push('reset'),
  };
  return { heard, sink };
};

const answerTo = (sink: InferenceSink) =>
  createAnswer(sink, { provider: 'p', model: 'm', format: 'anthropic' });

t.test('reports files and sources of a stream between the texts', async (t) => {
  const { heard, sink } = hearing();
  const answer = answerTo(sink);
  answer.text('one');
  answer.file('image/png', 'AAAA');
  answer.fileAt('image/png', 'https://a.example/b.png');
  answer.source({ type: 'url', id: 's1', url: 'https://a.example', title: 'A' });
  answer.source({ type: 'document', id: 's2', media_type: 'application/pdf', title: 'B' });
  answer.text('two');
  t.strictSame(heard, [
    'one',
    { file: 'AAAA', media_type: 'image/png' },
    { url: 'https://a.example/b.png', media_type: 'image/png' },
    { type: 'url', id: 's1', url: 'https://a.example', title: 'A' },
    { type: 'document', id: 's2', media_type: 'application/pdf', title: 'B' },
    'two',
  ]);
});

t.test('aborts a provider that sends files without end', async (t) => {
  const answer = answerTo(hearing().sink);
  for (let n = 0; n < 1024; n += 1) answer.file('image/png', 'AAAA');
  t.throws(() => answer.file('image/png', 'AAAA'), { message: /more than 1024 files and sources/ });
});

t.test('a part counts as output', async (t) => {
  const { heard, sink } = hearing();
  const model = fakeModel('m', (to) => {
    to.part?.({ data: 1 });
    throw new ModelError('provider', 'broken');
  });
  const { pause } = recordingPause();
  const rules = {
    settings: DEFAULT_RETRY,
    pause,
    random: () => 0,
    maxRetryAfterMs: 1000,
    retries: isRetried,
  };
  const retrying = withOpeningRetry(model, rules);
  await t.rejects(retrying.stream(requestOf('x'), sink, new AbortController().signal), /broken/);
  t.equal(model.asked.length, 1, 'the call is not repeated');
  t.strictSame(heard, [{ data: 1 }]);
});

t.test('restarts a completion with only a part, because it cannot be continued', async (t) => {
  const { heard, sink } = hearing();
  const model = fakeModel(
    'm',
    breaksOff((to) => to.part?.({ data: 1 }), 'overloaded'),
    says('whole'),
  );
  const { pause } = recordingPause();
  const recovering = withRecovery(model, DEFAULT_RETRY, pause);
  await recovering.stream(requestOf('x'), sink, new AbortController().signal);
  t.strictSame(heard, [{ data: 1 }, 'reset', 'whole']);
});

/** The content that a provider receives for a completion with these blocks. */
const sentFor = async (t: Test, adapter: string, content: ContentBlock[], upstream_model = 'up') => {
  const ends: Record<string, readonly object[]> = {
    anthropic: ANTHROPIC_ANSWER,
    gemini: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] }],
  };
  const { url, requests } = await startSseServer(t, (response) => {
    sendEvents(response, ends[adapter] ?? [chatChunk({ content: 'Hi' }), chatChunk({}, 'stop')]);
    response.end();
  });
  const provider = createProvider({ id: 'p', adapter, api_key: 'key', base_url: url }, {});
  const model = provider.model({
    id: 'm',
    provider_id: 'p',
    upstream_model,
    modalities: { input: ['text', 'image'] },
  });
  const answer: Message = { id: 'a', role: 'assistant', content };
  await infer(model, requestOf('', { messages: [userMessage('draw'), answer, userMessage('more')] }));
  const { messages, contents } = JSON.parse(requests[0]?.body ?? '');
  return (messages ?? contents)[1];
};

const image = blockOfPart({ file: 'AAAA', media_type: 'image/png', filename: 'a.png' });
const sound = blockOfPart({ file: 'AAAA', media_type: 'audio/wav' });
const drawn: ContentBlock[] = [{ type: 'text', text: 'Look:' }, image, { type: 'text', text: 'nice' }];

const named: [adapter: string, expected: unknown][] = [
  ['openai', { content: 'Look:\n[image a.png, image/png, 3 bytes]\nnice' }],
  ['groq', { content: 'Look:\n[image a.png, image/png, 3 bytes]\nnice' }],
  [
    'anthropic',
    {
      content: [
        { type: 'text', text: 'Look:' },
        { type: 'text', text: '\n[image a.png, image/png, 3 bytes]\n' },
        { type: 'text', text: 'nice' },
      ],
    },
  ],
];
for (const [adapter, expected] of named) {
  t.test(`${adapter} receives a description of a file in a completion`, async (t) => {
    t.match(await sentFor(t, adapter, drawn), expected);
  });
}

t.test(
  'image models receive their own pictures, and descriptions of files that they do not accept',
  async (t) => {
    const content = [...drawn, sound, blockOfPart({ url: 'https://a.example/b.png' })];
    t.match(await sentFor(t, 'gemini', content, 'gemini-2.5-flash-image'), {
      parts: [
        { text: 'Look:' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
        { text: 'nice' },
        { text: '\n[audio audio/wav, 3 bytes]' },
        { text: '\n[image https://a.example/b.png, image/png]' },
      ],
    });
    const vector = blockOfPart({ file: 'AAAA', media_type: 'image/svg+xml' });
    t.match(await sentFor(t, 'gemini', [vector], 'gemini-2.5-flash-image'), {
      parts: [{ text: '[image image/svg+xml, 3 bytes]' }],
    });
    t.match(await sentFor(t, 'gemini', [image], 'gemini-3-pro-image'), {
      parts: [{ text: '[image a.png, image/png, 3 bytes]' }],
    });
  },
);

t.test('sends as many of the newest pictures as fit into a request', async (t) => {
  const large = () =>
    blockOfPart({ file: Buffer.alloc(LARGEST_PART / 2), media_type: 'image/png', filename: 'large.png' });
  const { parts } = await sentFor(t, 'gemini', [large(), large()], 'gemini-2.0-flash');
  t.match(parts, [{ inlineData: {} }, { inlineData: {} }]);
  const three = await sentFor(t, 'gemini', [large(), large(), large()], 'gemini-2.0-flash');
  t.strictSame(
    three.parts.filter((part: object) => 'inlineData' in part).length,
    2,
    'the omitted picture is named',
  );
});

t.test('counts no text tokens for the bytes of a file, and only the name for long data', async (t) => {
  const of = (content: ContentBlock[]) => estimateMessage({ id: 'm', role: 'assistant', content });
  t.equal(of([blockOfPart({ file: 'AAAA'.repeat(100_000), media_type: 'image/png' })]), 54);
  t.equal(of([blockOfPart({ data: 'x'.repeat(100_000) })]), 54);
  t.equal(of([blockOfPart({ data: 'x'.repeat(3_998) })]), 846);
});
