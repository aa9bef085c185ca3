import assert from 'node:assert/strict';
import type { UIMessage, UIMessageChunk } from 'ai';
import t from 'tap';
import { createChatEncoder } from '../../../src/protocols/ai-sdk/encoder.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import fc from '../../random.ts';
import { chunksOf, encodeAll, play } from './client.ts';
import { anyEvent, randomRun } from './random-run.ts';

/** Checks that steps and blocks alternate, that deltas are inside of them, and that nothing stays open at the end. */
const checkPairs = (chunks: readonly UIMessageChunk[]): void => {
  const open = new Set<string>();
  let ended = false;
  const opens = (name: string): void => {
    assert.ok(!open.has(name), `${name} is open`);
    open.add(name);
  };
  const closes = (name: string): void => assert.ok(open.delete(name), `${name} is not open`);
  for (const chunk of chunks) {
    assert.ok(!ended || chunk.type === 'start' || chunk.type === 'finish', `${chunk.type} behind the end`);
    if (chunk.type === 'start-step') opens('step');
    else if (chunk.type === 'finish-step') {
      assert.deepEqual([...open], ['step']);
      closes('step');
    } else if (chunk.type === 'text-start' || chunk.type === 'reasoning-start') opens(chunk.id);
    else if (chunk.type === 'text-end' || chunk.type === 'reasoning-end') closes(chunk.id);
    else if (chunk.type === 'text-delta' || chunk.type === 'reasoning-delta') assert.ok(open.has(chunk.id));
    else if (chunk.type === 'finish' || chunk.type === 'error') {
      assert.equal(open.size, 0, `open at the end: ${[...open]}`);
      ended = true;
    } else if (chunk.type === 'start') {
      assert.equal(open.size, 0);
      ended = false;
    }
  }
};

const isTool = (part: UIMessage['parts'][number]): part is Extract<typeof part, { toolCallId: string }> =>
  'toolCallId' in part;

/** The text of the completion according to the events. */
const textIn = (events: readonly RunEvent[]): string =>
  events.map((event) => (event.event_type === 'text_delta' ? event.delta : '')).join('');

t.test('emits a run across its responses as one message with every text and call', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const { responses, calls } = randomRun(g);
      let message: UIMessage | undefined;
      for (const [index, events] of responses.entries()) {
        const frames = encodeAll(events);
        const chunks = await chunksOf(frames);
        checkPairs(chunks);
        assert.equal(chunks[0]?.type, 'start');
        const last = chunks.at(-1);
        assert.ok(last?.type === 'finish');
        assert.equal(last.finishReason === 'tool-calls', index < responses.length - 1);
        const played = await play(frames, message);
        message = played.message;
        assert.deepEqual(played.errors, last.finishReason === 'error' ? ['broken'] : []);
      }
      assert.equal(message?.id, 'R');
      const texts = message.parts.flatMap((part) => (part.type === 'text' ? part : []));
      assert.equal(texts.map((part) => part.text).join(''), textIn(responses.flat()));
      assert.ok(texts.every((part) => part.state === 'done'));
      const tools = message.parts.filter(isTool);
      assert.deepEqual(
        tools.map(({ toolCallId }) => toolCallId),
        calls,
      );
      for (const { state } of tools) assert.match(state, /^output-/);
    }),
    { numRuns: 60 },
  );
});

t.test('emits only valid frames in valid order for events in any order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 40 }), async (events) => {
      const closed = [...events, { event_type: 'error', message: 'over' } as const];
      checkPairs(await chunksOf(encodeAll(closed)));
    }),
    { numRuns: 100 },
  );
});

t.test('emits the same bytes for the same events', async () => {
  fc.assert(
    fc.property(fc.array(anyEvent), (events) => {
      assert.equal(encodeAll(events, createChatEncoder()), encodeAll(events, createChatEncoder()));
    }),
  );
});
