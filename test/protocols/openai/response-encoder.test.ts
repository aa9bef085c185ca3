import t from 'tap';
import { nameOf } from '../../../src/protocols/openai/events.ts';
import { marksOf } from '../../../src/protocols/openai/open-output.ts';
import type { OutputItem } from '../../../src/protocols/openai/output.ts';
import { replayEvents } from '../../../src/protocols/openai/replay.ts';
import { begin } from '../../../src/protocols/openai/response-encoder.ts';
import type { RunEvent, Ticket } from '../../../src/schema/run-event.ts';
import {
  callDelta,
  callDone,
  callReady,
  callStart,
  inference,
  reasoning,
  runStart,
  snapshot,
  stepEnd,
  stepStart,
  text,
} from '../ai-sdk/events.ts';
import { parseFrames, RUN, startLeg, typesOf } from './leg.ts';

/** openai-responses.md 7.4 and 7.5. */

const TEXT = [
  'created',
  'in_progress',
  'output_item.added',
  'content_part.added',
  'output_text.delta',
  'output_text.delta',
  'output_text.done',
  'content_part.done',
  'output_item.done',
  'completed',
];

const executing = (id: string): RunEvent => ({ event_type: 'tool_call_executing', id, name: 'get_weather' });

const isCounted = (events: { sequence_number: number }[]): boolean =>
  events.every(({ sequence_number }, index) => sequence_number === index);

t.test('emits a text in the order of the reference (check 41)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart('m1'));
  leg.add(leg.encoder.text('Seven '));
  leg.add(leg.encoder.text('degrees.'));
  leg.play(inference, snapshot, stepEnd);
  leg.end({ status: 'completed' });
  const events = leg.events();
  t.same(typesOf(events), TEXT);
  t.ok(isCounted(events), 'numbers without gaps');
  t.ok(leg.text().endsWith('data: [DONE]\n\n'));
  t.match(events.at(-1)?.response, {
    status: 'completed',
    output: [
      {
        id: `msg_${RUN.replaceAll('-', '')}000001`,
        type: 'message',
        status: 'completed',
        phase: 'final_answer',
        content: [{ type: 'output_text', text: 'Seven degrees.', annotations: [], logprobs: [] }],
      },
    ],
  });
});

t.test('adds items with all keys and empty values', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), text('a'), callStart('c1', 'pick'));
  const added = leg.events().filter(({ type }) => type === 'response.output_item.added');
  t.match(added, [
    { output_index: 0, item: { type: 'message', role: 'assistant', content: [], status: 'in_progress' } },
    { output_index: 1, item: { type: 'function_call', name: 'pick', arguments: '', status: 'in_progress' } },
  ]);
  t.match(added[1]?.item, { call_id: /^call_[0-9a-z]{35}$/ });
});

t.test('emits reasoning as a summary before the text (check 44)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), reasoning('Cold'), reasoning('?'), text('Yes'), inference, stepEnd);
  leg.end({ status: 'completed' });
  t.same(typesOf(leg.events()).slice(2, 11), [
    'output_item.added',
    'reasoning_summary_part.added',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.delta',
    'reasoning_summary_text.done',
    'reasoning_summary_part.done',
    'output_item.done',
    'output_item.added',
    'content_part.added',
  ]);
});

t.test('streams a function call of the client, and closes the text before it (check 45)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), text('Choose.'), callStart('c1', 'pick'), callDelta('c1', '{"a":'));
  leg.add(leg.encoder.toolDelta('c1', '1}'));
  leg.play(
    { event_type: 'tool_call_ready', id: 'c1', name: 'pick', arguments: { a: 1 } },
    inference,
    stepEnd,
  );
  leg.end({ status: 'completed' });
  const events = leg.events();
  t.same(typesOf(events).slice(4), [
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
    'completed',
  ]);
  t.match(
    events.find(({ type }) => type === 'response.function_call_arguments.done'),
    { name: 'pick', arguments: '{"a":1}', output_index: 1 },
  );
  const output = leg.encoder.output.items;
  t.match(output[0], { phase: 'commentary' });
});

t.test('keeps function calls apart that a model writes at the same time', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), callStart('a', 'pick'), callStart('b', 'pick'));
  leg.play(callDelta('b', '{"b":1}'), callDelta('a', '{"a":1}'));
  leg.play({ event_type: 'tool_call_ready', id: 'b', name: 'pick', arguments: { b: 1 } });
  leg.play({ event_type: 'tool_call_ready', id: 'a', name: 'pick', arguments: { a: 1 } }, inference, stepEnd);
  leg.end({ status: 'completed' });
  const one = [
    'output_item.added',
    'function_call_arguments.delta',
    'function_call_arguments.done',
    'output_item.done',
  ];
  t.same(typesOf(leg.events()), ['created', 'in_progress', ...one, ...one, 'completed']);
  t.match(leg.encoder.output.items, [{ arguments: '{"a":1}' }, { arguments: '{"b":1}' }]);
});

t.test('shows a call of the agent when it begins to execute (check 42)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), callStart('c1'), callReady('c1'), inference, stepEnd);
  t.same(typesOf(leg.events()), ['created', 'in_progress']);
  leg.play(executing('c1'), callDone('c1'));
  t.same(typesOf(leg.events()).slice(2), [
    'output_item.added',
    'mcp_call.in_progress',
    'mcp_call_arguments.delta',
    'mcp_call_arguments.done',
    'mcp_call.completed',
    'output_item.done',
  ]);
  t.match(leg.encoder.output.items[0], {
    type: 'mcp_call',
    server_label: 'troupe',
    status: 'completed',
    error: null,
    approval_request_id: null,
  });
});

t.test('reports a failed call with its error (check 43)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), callStart('c1'), callReady('c1'), executing('c1'));
  const result = { tool_name: 'get_weather', status: 'error', data: null, message: 'no such city' } as const;
  leg.play({ event_type: 'tool_call_done', id: 'c1', message_id: 'm', result, outcome: 'failed' });
  t.match(leg.encoder.output.items[0], {
    status: 'failed',
    output: null,
    error: { type: 'mcp_tool_execution_error', content: [{ type: 'text', text: 'no such city' }] },
  });
  t.ok(typesOf(leg.events()).includes('mcp_call.failed'));
});

const permission: Ticket = {
  suspension: { id: 'ticket', action: 'tool:Ask' },
  pending: { id: 'c1', name: 'get_weather', arguments: {} },
  resume_mode: 'replay_tool_call',
};

t.test('requests an approval in the place of the call (check 46)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), callStart('c1'), callReady('c1'), inference, stepEnd);
  const result = {
    tool_name: 'get_weather',
    status: 'pending',
    data: null,
    message: null,
    suspension: permission,
  } as const;
  leg.play({ event_type: 'tool_call_done', id: 'c1', message_id: 'm', result, outcome: 'suspended' });
  leg.end({ status: 'completed' });
  t.same(typesOf(leg.events()).slice(2), ['output_item.added', 'output_item.done', 'completed']);
  const [asked] = leg.encoder.output.kept;
  const approved = asked?.id ?? '';
  const earlier = new Map([
    ['c1', { step: 0, ordinal: 2, name: 'get_weather', arguments: '{"city":"Oslo"}', approved }],
  ]);
  const next = startLeg({ step: 1, earlier });
  next.play(runStart(), executing('c1'));
  next.play({
    event_type: 'tool_call_resumed',
    target_id: 'c1',
    message_id: 'm',
    action: 'resume',
    result: 7,
  });
  t.match(next.encoder.output.items[0], {
    id: approved.replace('mcpr_', 'mcp_'),
    approval_request_id: approved,
    output: '7',
    status: 'completed',
  });
});

t.test('closes open items of a failed leg as incomplete (check 56)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), text('Half'));
  leg.end({ status: 'failed' }, { error: { code: 'server_error', message: 'broken' } });
  const types = typesOf(leg.events());
  t.same(types.slice(-4), ['output_text.done', 'content_part.done', 'output_item.done', 'failed']);
  t.notOk(types.includes('error'));
  t.match(leg.events().at(-1)?.response, { status: 'failed', output: [{ status: 'incomplete' }] });
});

t.test('continues the same item after a reset, with the true text (check 57)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), text('Wrong'), { event_type: 'stream_reset', reason: 'retry' }, stepEnd);
  leg.play(stepStart(), text('Ri'), text('ght'), inference, stepEnd);
  leg.end({ status: 'completed' });
  const events = leg.events();
  t.equal(events.filter(({ type }) => type === 'response.output_item.added').length, 1);
  t.equal(events.find(({ type }) => type === 'response.output_text.done')?.text, 'Right');
  t.ok(isCounted(events));
});

t.test('ends a blocked leg with a refusal (check 55)', async (t) => {
  const leg = startLeg();
  leg.play(runStart(), stepStart(), callStart('c1'), callReady('c1'), inference, stepEnd);
  leg.end({ status: 'incomplete', refusal: 'not allowed' }, { reason: 'content_filter' });
  t.match(leg.events().at(-1)?.response, {
    incomplete_details: { reason: 'content_filter' },
    output: [{ type: 'message', content: [{ type: 'refusal', refusal: 'not allowed' }] }],
  });
});

t.test('reports a queued leg before its run starts', async (t) => {
  const leg = startLeg();
  leg.add(begin(leg.encoder.state, true));
  leg.play(runStart());
  t.same(typesOf(leg.events()), ['created', 'queued', 'in_progress']);
  t.match(leg.events()[0]?.response, { status: 'queued' });
});

t.test('emits only the end of a run that never started', async (t) => {
  const leg = startLeg();
  leg.end({ status: 'cancelled' }, { reason: 'cancelled' });
  t.same(typesOf(leg.events()), ['created', 'in_progress', 'incomplete']);
  t.match(leg.events().at(-1)?.response, { status: 'cancelled' });
});

/** Creates the events of a completed leg again. */
const createReplay = ({ encoder, events }: ReturnType<typeof startLeg>): ((after: number) => string) => {
  const live = events();
  const resource = (status: string): never => {
    const found = live.findLast(({ response }) => (response as { status?: string })?.status === status);
    return found?.response as never;
  };
  const { items } = encoder.output;
  const marks = marksOf(encoder.output);
  return (after) => replayEvents({ items, events: marks, status: 'completed', resource }, after).join('');
};

t.test('creates all events again from their marks (check 52)', async (t) => {
  const leg = startLeg();
  leg.add(begin(leg.encoder.state, true));
  leg.play(runStart(), stepStart(), reasoning('Hm'), text('Se'), text('ven'), callStart('c1', 'pick'));
  leg.play(callDelta('c1', '{"a":1}'));
  leg.play({ event_type: 'tool_call_ready', id: 'c1', name: 'pick', arguments: { a: 1 } });
  leg.play(callStart('c2'), callReady('c2'), callStart('c3'), callReady('c3'), inference, stepEnd);
  leg.play(executing('c2'), executing('c3'), callDone('c3'), callDone('c2'));
  leg.play(stepStart(), text('Done'), inference, stepEnd);
  leg.end({ status: 'completed' });
  const again = createReplay(leg);
  const live = leg.events();
  t.same(parseFrames(again(-1)), live);
  t.equal(again(-1), leg.text());
  for (const k of live.keys()) {
    t.same(parseFrames(again(k)), live.slice(k + 1), `after ${k}`);
  }
});

t.test('counts any number of deltas of any length, live and in a replay', async (t) => {
  const texts = Array.from({ length: 1200 }, (_, index) =>
    index === 700 ? 'x'.repeat(300) : `t${index % 7}`,
  );
  const leg = startLeg();
  leg.play(runStart(), stepStart());
  for (const each of texts) leg.add(leg.encoder.text(each));
  leg.play(inference, stepEnd);
  leg.end({ status: 'completed' });
  const live = leg.events();
  t.ok(isCounted(live));
  t.strictSame(
    live.flatMap(({ type, delta }) => (type === 'response.output_text.delta' ? [delta] : [])),
    texts,
  );
  t.equal(createReplay(leg)(-1), leg.text());
});

t.test('takes the texts of items from the text of the step', async (t) => {
  const leg = startLeg();
  const { encoder } = leg;
  leg.play(runStart(), stepStart());
  leg.add(encoder.text('Lost', 'Lost'));
  leg.play({ event_type: 'stream_reset', reason: 'interrupted', text: 'Lost' });
  leg.add(encoder.text('Seven ', 'Seven '));
  leg.add(encoder.text('de', 'Seven de'));
  leg.play({ event_type: 'tool_call_start', id: 'c1', name: 'look' });
  leg.add(encoder.text('grees', 'Seven degrees'));
  leg.add(encoder.text('.', 'Seven degrees.'));
  leg.play(inference, stepEnd);
  leg.end({ status: 'completed' });
  t.match(encoder.output.items, [{ content: [{ text: 'Seven de' }] }, { content: [{ text: 'grees.' }] }]);
  t.equal(createReplay(leg)(-1), leg.text().replace(/event: [^\n]*\ndata: [^\n]*"Lost"[^\n]*\n\n/, ''));
});

t.test('replays the rest of a text that is not the one that was streamed', async (t) => {
  const item: OutputItem = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'abcdef', annotations: [], logprobs: [] }],
    status: 'completed',
  };
  const events = [[7, 0, 4, [1, 1, 1]]] as const;
  t.equal(nameOf(events[0]), 'text_deltas');
  const replayed = { items: [item], events, status: 'completed', resource: () => t.fail() as never } as const;
  t.match(parseFrames(replayEvents(replayed, 4).join('')), [{ delta: 'bcdef', sequence_number: 6 }]);
  t.same(replayEvents(replayed, 6), []);
});
