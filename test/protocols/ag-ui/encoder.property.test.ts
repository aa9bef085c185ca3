import assert from 'node:assert/strict';
import type { Message } from '@ag-ui/client';
import t from 'tap';
import { createAgUiEncoder } from '../../../src/protocols/ag-ui/encoder.ts';
import { noteTickets, type OpenTickets } from '../../../src/protocols/ag-ui/interrupts.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import fc from '../../random.ts';
import { anyEvent, randomRun } from '../ai-sdk/random-run.ts';
import { createClient, encodeAll, eventsOf, play } from './client.ts';

const text = (messages: readonly Message[], role: string): string =>
  messages.map((message) => (message.role === role ? message.content : '')).join('');

const said = (events: readonly RunEvent[], type: 'text_delta' | 'reasoning_delta'): string =>
  events.map((event) => (event.event_type === type ? event.delta : '')).join('');

// A counterexample is reported without shrinking, which would take minutes.
const options = { endOnFailure: true };

t.test('emits every text, call and result of a run across its responses', async () => {
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (g) => {
      const { responses, calls } = randomRun(g);
      const client = createClient();
      const replay = createAgUiEncoder();
      const waiting: OpenTickets = new Map();
      let open: string[] = [];
      for (const [index, events] of responses.entries()) {
        const frames = encodeAll(events, createAgUiEncoder({ waiting }));
        assert.equal(encodeAll(events, replay), frames, 'a replay says what was streamed');
        for (const event of events) noteTickets(waiting, event);
        const ends = eventsOf(frames).filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR');
        assert.equal(ends.length, 1);
        const resume = open.map((interruptId) => ({ interruptId, status: 'resolved' as const }));
        const { error, interrupts } = await client.play(frames, { resume });
        assert.equal(error, undefined);
        const isLast = index === responses.length - 1;
        if (isLast && ends[0]?.type === 'RUN_FINISHED') assert.deepEqual(interrupts, []);
        open = interrupts.map(({ id }) => id);
      }
      const messages = client.messages();
      const events = responses.flat();
      assert.equal(text(messages, 'assistant'), said(events, 'text_delta'));
      assert.equal(text(messages, 'reasoning'), said(events, 'reasoning_delta'));
      const told = messages.flatMap((message) =>
        message.role === 'assistant' ? (message.toolCalls ?? []) : [],
      );
      assert.deepEqual(
        told.map(({ id }) => id),
        calls,
      );
      const results = messages.flatMap((message) => (message.role === 'tool' ? message.toolCallId : []));
      assert.deepEqual(results.toSorted(), calls.toSorted());
      assert.equal(new Set(messages.map(({ id }) => id)).size, messages.length);
    }),
    { numRuns: 60, ...options },
  );
});

t.test('emits only valid events in valid order for events in any order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 40 }), async (events) => {
      const ended: RunEvent[] = [...events, { event_type: 'error', message: 'over' }];
      const takingBack = encodeAll(ended, createAgUiEncoder({ known: () => [] }));
      assert.equal((await createClient().play(takingBack)).error, undefined);
      const frames = encodeAll(ended);
      assert.equal((await createClient().play(frames)).error, undefined);
      // Clients before version 1 accept nothing after an error.
      const error = frames.indexOf('data: {"type":"RUN_ERROR"');
      const first = frames.slice(0, frames.indexOf('\n\n', error) + 2);
      assert.equal((await play(first)).error, undefined);
    }),
    { numRuns: 100, ...options },
  );
});

t.test('emits the same bytes for the same events', async () => {
  fc.assert(
    fc.property(fc.array(anyEvent), (events) => {
      assert.equal(encodeAll(events, createAgUiEncoder()), encodeAll(events, createAgUiEncoder()));
    }),
  );
});
