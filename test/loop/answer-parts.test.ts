import t from 'tap';
import { act } from '../../src/loop/act.ts';
import { addParts, keepLeftParts, partsWaiting } from '../../src/loop/answer-parts.ts';
import { infer } from '../../src/loop/infer.ts';
import { runPhase } from '../../src/loop/phases.ts';
import type { Turn } from '../../src/loop/turn.ts';
import type { InferenceSink } from '../../src/models/model.ts';
import type { HookOutcome } from '../../src/plugins/plugin.ts';
import { type AnswerPart, blockOfPart, LARGEST_PART } from '../../src/schema/answer-part.ts';
import type { Message } from '../../src/schema/message.ts';
import type { RunEvent } from '../../src/schema/run-event.ts';
import { results, scene, ticket } from './turn.ts';

/** Non-text parts of a completion from tools, plugins and the model. */

const never = new AbortController().signal;

const data = (value: string): AnswerPart => ({ data: value });

/** The content of a message in order: texts, and data as JSON. */
const saidIn = (message: Message | undefined): string[] =>
  (message?.content ?? []).map((block) => ('text' in block ? block.text : block.type));

const toldIn = (events: readonly RunEvent[]): unknown[] =>
  events.flatMap((event) => (event.event_type === 'activity_snapshot' ? [event.content] : []));

/** Makes the next inference of the turn stream this. */
const answering = (turn: Turn, say: (sink: InferenceSink) => void): void => {
  turn.agent = {
    ...turn.agent,
    model: {
      ...turn.agent.model,
      async stream(_request, sink) {
        say(sink);
        return { stop: 'EndTurn' };
      },
    },
  };
};

const withHook = (
  turn: Turn,
  phase: 'before_inference' | 'after_inference' | 'step_end',
  parts: AnswerPart[],
) => {
  const hooks = { [phase]: (): HookOutcome => ({ parts }) };
  turn.agent = { ...turn.agent, plugins: [{ id: 'p', parts: { hooks } }] };
};

t.test('places the parts of calls before the next text, in the order of the calls', async (t) => {
  let release = (): void => {};
  const slow = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { turn, events } = scene({
    a: { run: async () => slow.then(() => ({ data: 1, parts: [data('a1'), data('a2')] })) },
    b: {
      run: async () => {
        release();
        return { data: 2, parts: [data('b')] };
      },
    },
  });
  await act(turn, never);
  t.strictSame(
    toldIn(events),
    [{ data: 'a1' }, { data: 'a2' }, { data: 'b' }],
    'the parts are reported with their results',
  );
  answering(turn, (sink) => sink.text('Here.'));
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['"a1"', '"a2"', '"b"', 'Here.']);
  t.equal(turn.response, 'Here.');
  t.strictSame(partsWaiting(turn), [], 'all parts have been placed');
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['Here.']);
});

t.test('commits pending parts with the result in state hidden from clients', async (t) => {
  const { turn } = scene({ a: { run: async () => ({ data: 1, parts: [data('a')] }) } });
  await act(turn, never);
  const kept = turn.state.takePersisted();
  t.match(kept?.runHidden['__runtime.answer_parts'], [{ by: 'call a', blocks: [{ text: '"a"' }] }]);
  t.notMatch(turn.state.snapshot().extensions, { '__runtime.answer_parts': {} });
});

t.test('keeps parts until the completion that requests no more tools', async (t) => {
  const { turn } = scene({ a: { run: async () => ({ data: 1, parts: [data('first')] }) } });
  await act(turn, never);
  answering(turn, (sink) => {
    sink.text('One more.');
    sink.toolStart('call-2', 'a');
    sink.toolEnd('call-2', '{}');
  });
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['One more.']);
  await act(turn, never);
  answering(turn, (sink) => sink.text('Here.'));
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['"first"', '"first"', 'Here.']);
});

t.test('adds nothing for a failed, denied or suspended call', async (t) => {
  const parts = [data('no')];
  const { turn, events } = scene({
    fails: {
      run: async () => {
        throw new Error('no');
      },
    },
    waits: { gate: [{ kind: 'suspend', ticket: ticket('waits') }], run: async () => ({ data: 1, parts }) },
    refused: { gate: [{ kind: 'block', reason: 'no' }], run: async () => ({ data: 1, parts }) },
  });
  await act(turn, never);
  t.strictSame([partsWaiting(turn), toldIn(events)], [[], []]);
});

t.test('adds the parts of a result that a gate sets', async (t) => {
  const { turn } = scene({
    a: { gate: [{ kind: 'set_result', output: { data: 1, parts: [data('given')] } }] },
  });
  await act(turn, never);
  t.match(partsWaiting(turn), [{ text: '"given"' }]);
});

t.test('fails a call with an invalid part, with the reason, and keeps none of its parts', async (t) => {
  const file = (size: number): AnswerPart => ({
    file: new Uint8Array(size),
    media_type: 'video/mp4',
    filename: 'v.mp4',
  });
  const { turn } = scene({
    scripted: { run: async () => ({ data: 1, parts: [data('fine'), { url: 'javascript:alert(1)' }] }) },
    huge: { run: async () => ({ data: 1, parts: [file(50_000_000)] }) },
    many: { run: async () => ({ data: 1, parts: Array.from({ length: 1000 }, () => data('x')) }) },
  });
  await act(turn, never);
  t.match(results(turn), [
    /^tool scripted: Execution failed: parts\[1\]: url must be an http or https address/,
    /^tool huge: Execution failed: parts\[0\]: the file 'v.mp4' has 50000000 bytes; .* at most 8388608$/,
    /^tool many: Execution failed: an answer has at most 64 parts, and these are 1000$/,
  ]);
  t.strictSame(partsWaiting(turn), []);
});

t.test('shares the limit of a completion among its calls in their order', async (t) => {
  const file: AnswerPart = { file: new Uint8Array(LARGEST_PART), media_type: 'a/b' };
  const run = async () => ({ data: 'kept', parts: [file] });
  const { turn } = scene({ a: { run }, b: { run }, c: { run }, d: { run: async () => ({ data: 'kept' }) } });
  await act(turn, never);
  t.match(results(turn), [
    'tool a: "kept"',
    'tool b: "kept"',
    /^tool c: Execution failed: parts: the parts of an answer have at most 16777216 bytes/,
    'tool d: "kept"',
  ]);
  t.equal(partsWaiting(turn).length, 2);
});

t.test('places parts of the model at their positions in its text', async (t) => {
  const { turn, events } = scene({});
  answering(turn, (sink) => {
    sink.text('one ');
    sink.part?.(data('x'));
    sink.part?.({ url: 'https://a.example/y.png' });
    sink.text('two');
    sink.text(' three');
    sink.part?.(data('z'));
  });
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['one ', '"x"', 'image', 'two three', '"z"']);
  t.equal(turn.response, 'one two three');
  t.equal(toldIn(events).length, 3);
  t.equal(new Set(events.map((event) => 'message_id' in event && event.message_id)).size > 3, true);
});

t.test('keeps only the parts after a reset', async (t) => {
  const { turn } = scene({});
  answering(turn, (sink) => {
    sink.part?.(data('void'));
    sink.text('void');
    sink.reset?.('connection reset');
    sink.text('real');
    sink.part?.(data('real'));
  });
  addParts(turn, [blockOfPart(data('tool'))], 'call a');
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['"tool"', 'real', '"real"']);
});

t.test('omits an invalid part of the model and logs it', async (t) => {
  const { turn, warned, events } = scene({});
  answering(turn, (sink) => {
    sink.part?.({ file: 'not base64', media_type: 'image/png' });
    for (let n = 0; n < 70; n += 1) sink.part?.(data(`${n}`));
    sink.text('done');
  });
  await infer(turn, never);
  t.equal(turn.produced.at(-1)?.content.length, 65);
  t.equal(toldIn(events).length, 64);
  t.equal(warned.length, 7);
  t.match(warned[0], { model: 'none', problem: /not standard base64/ });
  t.match(warned[1], { problem: /at most 64 parts/ });
});

t.test('reports the sources of a completion and stores them after its text', async (t) => {
  const { turn, events } = scene({});
  answering(turn, (sink) => {
    sink.source?.({ type: 'url', id: 's1', url: 'https://a.example', title: 'A' });
    sink.source?.({ type: 'document', id: 's2', media_type: 'application/pdf', title: 'B' });
    sink.text('so it is');
  });
  await infer(turn, never);
  t.match(
    events.filter(({ event_type }) => event_type === 'activity_snapshot'),
    [
      { activity_type: 'source-url', content: { sourceId: 's1', url: 'https://a.example', title: 'A' } },
      {
        activity_type: 'source-document',
        content: { sourceId: 's2', mediaType: 'application/pdf', title: 'B' },
      },
    ],
  );
  t.match(turn.produced.at(-1)?.content, [
    { type: 'text', text: 'so it is' },
    { type: 'source_url', id: 's1', url: 'https://a.example', title: 'A' },
    { type: 'source_document', id: 's2', media_type: 'application/pdf', title: 'B' },
  ]);
});

t.test('adds the parts of a before_inference hook once, even if the inference is retried', async (t) => {
  const { turn, events } = scene({});
  withHook(turn, 'before_inference', [data('hook'), { url: 'nowhere' }]);
  await runPhase(turn, 'before_inference', never);
  answering(turn, (sink) => sink.text('hi'));
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['"hook"', 'hi']);
  t.equal(toldIn(events).length, 1);
});

t.test('adds the parts of an after_inference hook to the completion that it received', async (t) => {
  const { turn } = scene({});
  withHook(turn, 'after_inference', [data('spoken')]);
  answering(turn, (sink) => sink.text('hi'));
  await infer(turn, never);
  t.strictSame(saidIn(turn.produced.at(-1)), ['hi', '"spoken"']);
  t.strictSame(partsWaiting(turn), []);
});

t.test('adds the parts of a retried tool once', async (t) => {
  const { turn } = scene({});
  for (const value of ['first', 'second']) addParts(turn, [blockOfPart(data(value))], 'call a');
  addParts(turn, [blockOfPart(data('other'))], 'call b');
  t.match(partsWaiting(turn), [{ text: '"second"' }, { text: '"other"' }]);
});

t.test('counts the parts of a retried call once against the limit', async (t) => {
  const parts: AnswerPart[] = Array.from({ length: 40 }, () => data('x'));
  const { turn } = scene({ a: { run: async () => ({ data: 'kept', parts }) } });
  addParts(turn, parts.map(blockOfPart), 'call a');
  await act(turn, never);
  t.strictSame(results(turn), ['tool a: "kept"']);
  t.equal(partsWaiting(turn).length, 40);
});

t.test('stores leftover parts at the end of the run, in the last message or in a new one', async (t) => {
  const { turn } = scene({ a: { run: async () => ({ data: 1, parts: [data('a')] }) } });
  await act(turn, never);
  keepLeftParts(turn);
  t.match(turn.produced.at(-1), { role: 'assistant', content: [{ text: '"a"' }] });
  t.strictSame(partsWaiting(turn), []);
  addParts(turn, [blockOfPart(data('b'))]);
  keepLeftParts(turn);
  t.strictSame(saidIn(turn.produced.at(-1)), ['"a"', '"b"']);
  t.equal(turn.produced.length, 2);
  keepLeftParts(turn);
  t.equal(turn.produced.length, 2);
});
