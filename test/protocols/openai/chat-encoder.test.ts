import t from 'tap';
import { createChatAnswer } from '../../../src/protocols/openai/chat-answer.ts';
import { createChatEncoder, type LegOptions } from '../../../src/protocols/openai/chat-encoder.ts';
import { completionId } from '../../../src/protocols/openai/ids.ts';
import type { Encoder } from '../../../src/runtime/run/live-channel.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { Termination } from '../../../src/schema/run.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';

const run_id = '01930000-0000-7000-8000-0000000000ab';
const ids = { thread_id: 't', run_id };
const NO_WAITS = { calls: [], permissions: [], budgets: [], questions: [], message: undefined };

const optionsWith = (more: Partial<LegOptions> = {}): LegOptions => ({
  model: 'echo',
  created: 1,
  fingerprint: 'fp_1',
  leg: 0,
  seq: 0,
  includesUsage: false,
  tellsProgress: false,
  isKeyed: true,
  isClientTool: () => false,
  fileLink: (id) => `/v1/files/${id}/content`,
  history: () => [],
  waits: () => NO_WAITS,
  holdsWaits: false,
  ...more,
});

const startOf = { event_type: 'run_start', ...ids } as const;
const stepOf = { event_type: 'step_start', message_id: 'm' } as const;
const endOf = (termination: Termination): RunEvent => ({ event_type: 'run_finish', ...ids, termination });
const natural = endOf({ type: 'natural_end' });

/** Passes events, and texts as deltas of the model. */
const play = (encoder: Encoder, ...events: (RunEvent | string)[]): string =>
  events.map((event) => (typeof event === 'string' ? encoder.text(event) : encoder.event(event))).join('');

const textsOf = (raw: string): string =>
  raw
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .flatMap((frame) => JSON.parse(frame.slice(6)).choices ?? [])
    .map(({ delta }) => delta.content ?? '')
    .join('');

t.test('separates the texts of steps by a blank line', (t) => {
  const raw = play(createChatEncoder(optionsWith()), startOf, stepOf, 'a', 'b', stepOf, stepOf, 'c', natural);
  t.equal(textsOf(raw), 'ab\n\nc');
  t.end();
});

t.test('sends deltas with the fields that every chunk must have', (t) => {
  const model = 'a "service_tier":"default", model';
  const encoder = createChatEncoder(optionsWith({ model, includesUsage: true }));
  const frames = [startOf, stepOf, 'a', 'b', natural].map((event) => play(encoder, event));
  const reasoning = createChatEncoder(optionsWith({ model }));
  play(reasoning, startOf, stepOf);
  const [first, , begun, next, end = ''] = frames;
  const id = completionId({ run_id, leg: 0 });
  const chunk = (usage: string, delta: string): string =>
    `data: {"id":"${id}","object":"chat.completion.chunk","created":1,"model":${JSON.stringify(model)},` +
    `"system_fingerprint":"fp_1",${usage}"choices":[{"index":0,"delta":${delta},"finish_reason":null}]}\n\n`;
  t.equal(begun, chunk('"usage":null,', '{"content":"a"}'));
  t.equal(next, chunk('"usage":null,', '{"content":"b"}'));
  t.equal(reasoning.reasoning('c'), chunk('', '{"reasoning_content":"c"}'));
  for (const whole of [first, end.split('\n\n')[0]])
    t.match(whole, /"service_tier":"default","system_fingerprint":"fp_1",.*"logprobs":null/);
  t.end();
});

t.test('keeps withdrawn text in a stream, and leaves it out of a completion', (t) => {
  const reset = { event_type: 'stream_reset', reason: 'again', text: 'wrong' } as const;
  const events = [startOf, stepOf, 'wrong', reset, 'right', natural] as const;
  t.equal(textsOf(play(createChatEncoder(optionsWith()), ...events)), 'wrongright');
  const answer = createChatAnswer(optionsWith());
  play(answer.encoder, ...events);
  t.match(answer.outcome(), { choices: [{ message: { content: 'right' } }] });
  t.end();
});

t.test('starts again after an interruption of the service without a second head', (t) => {
  const raw = play(createChatEncoder(optionsWith()), startOf, stepOf, 'a', startOf, stepOf, 'b', natural);
  t.equal(raw.match(/"role":"assistant"/g)?.length, 1);
  t.equal(textsOf(raw), 'a\n\nb');
  t.end();
});

t.test('reports each end of a run (openai.md 6.3)', (t) => {
  const ends: [Termination, string][] = [
    [{ type: 'natural_end' }, 'stop'],
    [{ type: 'behavior_requested' }, 'stop'],
    [{ type: 'cancelled' }, 'stop'],
    [{ type: 'stopped', value: { code: 'stop_on_tool' } }, 'stop'],
    [{ type: 'stopped', value: { code: 'max_rounds' } }, 'length'],
    [{ type: 'stopped', value: { code: 'loop_detection' } }, 'length'],
    [{ type: 'blocked', value: 'no' }, 'content_filter'],
  ];
  for (const [termination, reason] of ends) {
    const events = [startOf, stepOf, 'a', endOf(termination)] as const;
    const raw = play(createChatEncoder(optionsWith()), ...events);
    t.match(raw, new RegExp(`"finish_reason":"${reason}"`), JSON.stringify(termination));
    t.ok(raw.endsWith('data: [DONE]\n\n'));
    const answer = createChatAnswer(optionsWith());
    play(answer.encoder, ...events);
    t.match(answer.outcome(), { choices: [{ finish_reason: reason }] }, JSON.stringify(termination));
  }
  const failed = endOf({ type: 'stopped', value: { code: 'invalid_output', detail: 'x' } });
  t.match(play(createChatEncoder(optionsWith()), startOf, failed), /"type":"server_error"/);
  t.end();
});

t.test('adds links to files and data of the answer behind its text (openai.md 6.2)', (t) => {
  const message: Message = {
    id: 'm',
    role: 'assistant',
    content: [
      { type: 'text', text: 'see' },
      { type: 'image', source: { type: 'url', url: 'https://example.com/a/cat.png?s=1' } },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b' }, title: 'The [B]' },
      { type: 'text', text: '{"n":1}', media_type: 'application/json' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
    metadata: { run_id },
  };
  const options = optionsWith({ history: () => [message] });
  t.equal(
    textsOf(play(createChatEncoder(options), startOf, stepOf, 'see', natural)),
    'see\n\n![cat.png](https://example.com/a/cat.png?s=1)\n\n[The  B ](https://example.com/b)\n\n```json\n{"n":1}\n```',
  );
  t.end();
});

t.test('sends nothing after its end, nor before its start', (t) => {
  const encoder = createChatEncoder(optionsWith());
  t.equal(play(encoder, 'early', stepOf), '');
  play(encoder, startOf, natural);
  t.equal(play(encoder, 'late', stepOf, natural), '');
  t.end();
});
