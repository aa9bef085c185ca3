import t from 'tap';
import { act } from '../../src/loop/act.ts';
import { INTERRUPTED } from '../../src/loop/history.ts';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import type { RunEventOf } from '../../src/schema/run-event.ts';
import { type GateDecision, type Json, ToolError } from '../../src/tools/tool.ts';
import { asked, results, type Scene, scene, statuses, ticket } from './turn.ts';

/** agent-loop.md 6.3 and 7.1. */

const PROCEED: GateDecision = { kind: 'proceed' };
const BLOCK: GateDecision = { kind: 'block', reason: 'denied' };
const SUSPEND: GateDecision = { kind: 'suspend', ticket: ticket('b') };
const SET: GateDecision = { kind: 'set_result', output: { data: { n: 1 }, message: 'one' } };

const never = new AbortController().signal;
const acted = ({ turn }: Scene) => act(turn, never);
const done = ({ events }: Scene, id: string): RunEventOf<'tool_call_done'> | undefined =>
  events.filter((event) => event.event_type === 'tool_call_done').find((event) => event.id === id);

/** A promise with its resolver. */
const gateway = () => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

t.test('executes allowed calls concurrently and keeps the order of their results', async (t) => {
  const { open, opened } = gateway();
  const stage = scene({
    a: { run: () => opened.then(() => ({ data: 1 })) },
    b: {
      run: async () => {
        open();
        return { data: 2 };
      },
    },
  });
  t.same(await acted(stage), { kind: 'executed' });
  t.same(stage.trace, [
    'commit a running, b running',
    'start a',
    'start b',
    'end b',
    'end a',
    'succeeded a',
    'succeeded b',
  ]);
  t.same(results(stage.turn), ['tool a: 1', 'tool b: 2']);
});

t.test('reports that a call executes once it has passed its gate', async (t) => {
  const stage = scene({ a: {}, b: { gate: [BLOCK] }, c: {} });
  await acted(stage);
  const executing = stage.events.filter(({ event_type }) => event_type === 'tool_call_executing');
  t.same(executing, [{ event_type: 'tool_call_executing', id: 'a', name: 'a' }]);
});

t.test('executes an exclusive tool alone', async (t) => {
  const stage = scene({ a: {}, b: {}, c: { exclusive: true }, d: { exclusive: true }, e: {} });
  await acted(stage);
  t.same(
    stage.trace.filter((line) => !/^succeeded/.test(line)),
    [
      'commit a running, b running, c new, d new, e new',
      'start a',
      'start b',
      'end a',
      'end b',
      'commit a succeeded, b succeeded, c running, d new, e new',
      'start c',
      'end c',
      'commit a succeeded, b succeeded, c succeeded, d running, e new',
      'start d',
      'end d',
      'commit a succeeded, b succeeded, c succeeded, d succeeded, e running',
      'start e',
      'end e',
    ],
  );
});

t.test('skips a call that an earlier execution has settled', async (t) => {
  const stage = scene({ a: { gate: [PROCEED] }, b: { gate: [PROCEED] } });
  stage.turn.calls[0] = { ...asked('a'), status: 'succeeded' };
  await acted(stage);
  t.same(stage.trace, ['gate b', 'commit a succeeded, b running', 'start b', 'end b', 'succeeded b']);
});

t.test('evaluates gates in the order of the calls before any of them runs', async (t) => {
  const stage = scene({ a: { gate: [PROCEED] }, b: { gate: [PROCEED] } });
  await acted(stage);
  t.same(stage.trace.slice(0, 4), ['gate a', 'gate b', 'commit a running, b running', 'start a']);
});

for (const [name, decision, rest] of [
  ['blocks', BLOCK, ['failed b', 'failed c']],
  ['suspends', SUSPEND, ['commit', 'suspended b', 'commit', 'start c', 'end c', 'succeeded c']],
  ['sets a result', SET, ['succeeded b', 'commit', 'start c', 'end c', 'succeeded c']],
] as const) {
  t.test(`executes earlier calls before a gate that ${name}, and evaluates it again`, async (t) => {
    const stage = scene({ a: { gate: [PROCEED] }, b: { gate: [decision] }, c: {} });
    await acted(stage);
    t.same(
      stage.trace.map((line) => (line.startsWith('commit') ? 'commit' : line)),
      ['gate a', 'gate b', 'commit', 'start a', 'end a', 'succeeded a', 'gate b', ...rest],
    );
  });
}

t.test('uses the second verdict of a gate', async (t) => {
  const stage = scene({ a: {}, b: { gate: [BLOCK, PROCEED] }, c: {} });
  t.same(await acted(stage), { kind: 'executed' });
  t.same(results(stage.turn), ['tool a: "a"', 'tool b: "b"', 'tool c: "c"']);
});

t.test('evaluates a gate once if no call runs before it', async (t) => {
  const stage = scene({ b: { gate: [SET, BLOCK] }, c: {} });
  t.same(await acted(stage), { kind: 'executed' });
  t.same(stage.trace.filter((line) => line === 'gate b').length, 1);
});

t.test('ends the run at a blocked call without gating or executing later calls', async (t) => {
  const stage = scene({ a: {}, b: { gate: [BLOCK] }, c: { gate: [PROCEED] }, d: {} });
  t.same(await acted(stage), { kind: 'blocked', reason: 'denied' });
  t.same(results(stage.turn), [
    'tool a: "a"',
    'tool b: denied',
    `tool c: ${INTERRUPTED}`,
    `tool d: ${INTERRUPTED}`,
  ]);
  t.match(done(stage, 'b'), {
    outcome: 'failed',
    result: { tool_name: 'b', status: 'error', data: null, message: 'denied', metadata: { rejected: true } },
  });
  t.match(done(stage, 'c'), { outcome: 'failed', result: { status: 'error', message: INTERRUPTED } });
  t.equal(statuses(stage.turn), 'a succeeded, b failed, c failed, d failed');
  t.notOk(stage.trace.includes('gate c'));
});

t.test('suspends a call with its ticket and executes the later calls', async (t) => {
  const stage = scene({ a: {}, b: { gate: [SUSPEND] }, c: { gate: [PROCEED] }, d: {} });
  t.same(await acted(stage), { kind: 'suspended', waits: 'forDecision' });
  t.equal(statuses(stage.turn), 'a succeeded, b suspended, c succeeded, d succeeded');
  t.same(results(stage.turn), [
    'tool a: "a"',
    "tool b: Tool 'b' suspended: awaiting decision",
    'tool c: "c"',
    'tool d: "d"',
  ]);
  t.strictSame(done(stage, 'b'), {
    event_type: 'tool_call_done',
    id: 'b',
    message_id: stage.turn.produced[1]?.id,
    result: {
      tool_name: 'b',
      status: 'pending',
      data: null,
      message: "Tool 'b' suspended: awaiting approval",
      suspension: { ...ticket('b'), digest: digestOfCall({ tool: 'b', arguments: {} }) },
    },
    outcome: 'suspended',
  });
  t.strictSame(stage.turn.calls[1]?.ticket, {
    id: 'ticket_b',
    reason: 'tool:Ask',
    resume_mode: 'replay_tool_call',
    digest: digestOfCall({ tool: 'b', arguments: {} }),
  });
});

t.test('accepts several tickets per step', async (t) => {
  const stage = scene({ a: { gate: [SUSPEND] }, b: { gate: [SUSPEND] }, c: {} });
  t.same(await acted(stage), { kind: 'suspended', waits: 'forDecision' });
  t.equal(statuses(stage.turn), 'a suspended, b suspended, c succeeded');
});

t.test('ends the run on a block after a suspended call', async (t) => {
  const stage = scene({ a: { gate: [SUSPEND] }, b: { gate: [BLOCK] }, c: {} });
  t.same(await acted(stage), { kind: 'blocked', reason: 'denied' });
  t.equal(statuses(stage.turn), 'a suspended, b failed, c failed');
});

t.test('uses the result of a gate without executing the tool', async (t) => {
  const stage = scene({ b: { gate: [SET] } });
  t.same(await acted(stage), { kind: 'executed' });
  t.same(stage.trace, ['gate b', 'succeeded b']);
  t.match(done(stage, 'b'), { result: { status: 'success', data: { n: 1 }, message: 'one' } });
  t.same(results(stage.turn), ['tool b: one']);
});

t.test('finishes the neighbors of a call that suspends itself, and starts no later call', async (t) => {
  const stage = scene({
    a: { run: async () => ({ suspend: ticket('a') }) },
    b: {},
    c: { exclusive: true },
    d: {},
  });
  t.same(await acted(stage), { kind: 'suspended', waits: 'forDecision' });
  t.equal(statuses(stage.turn), 'a suspended, b succeeded, c failed, d failed');
  t.same(results(stage.turn), [
    "tool a: Tool 'a' suspended: awaiting decision",
    'tool b: "b"',
    `tool c: ${INTERRUPTED}`,
    `tool d: ${INTERRUPTED}`,
  ]);
  t.match(done(stage, 'a'), { outcome: 'suspended', result: { suspension: ticket('a') } });
});

t.test('counts each call by its outcome', async (t) => {
  const { turn } = scene({
    a: { run: async () => ({ suspend: ticket('a') }) },
    b: {},
    c: { run: () => Promise.reject(new ToolError('not_found', 'no such city')) },
    d: { run: () => Promise.reject(new Error('boom')) },
  });
  const ended: object[] = [];
  await act({ ...turn, observe: { ...turn.observe, tools: { ended: (call) => ended.push(call) } } }, never);
  t.match(ended, [
    { tool: 'a', status: 'suspended' },
    { tool: 'b', status: 'succeeded' },
    { tool: 'c', status: 'failed', errorClass: 'not_found' },
    { tool: 'd', status: 'failed', errorClass: 'internal' },
  ]);
});

t.test('stops a call that a gate would have blocked when an earlier call suspends itself', async (t) => {
  const stage = scene({
    a: { run: async () => ({ suspend: ticket('a') }) },
    b: { gate: [BLOCK] },
    c: { gate: [BLOCK] },
  });
  t.same(await acted(stage), { kind: 'suspended', waits: 'forDecision' });
  t.equal(statuses(stage.turn), 'a suspended, b failed, c failed');
  t.match(done(stage, 'b'), { result: { message: INTERRUPTED } });
  t.same(
    stage.trace.filter((line) => line.startsWith('gate')),
    ['gate b'],
  );
});

t.test('continues the run and the step after a failed tool', async (t) => {
  const stage = scene({
    a: { run: () => Promise.reject(new ToolError('not_found', 'no such city')) },
    b: { run: () => Promise.reject(new Error('boom')) },
    c: {},
  });
  t.same(await acted(stage), { kind: 'executed' });
  t.equal(statuses(stage.turn), 'a failed, b failed, c succeeded');
  t.same(results(stage.turn), [
    'tool a: Not found: no such city',
    'tool b: Internal error: boom',
    'tool c: "c"',
  ]);
});

t.test('fails the call of a missing tool and executes the others', async (t) => {
  const stage = scene({ a: {} });
  stage.turn.calls.push(asked('gone'));
  t.same(await acted(stage), { kind: 'executed' });
  t.same(results(stage.turn), ['tool a: "a"', "tool gone: tool 'gone' not found"]);
});

t.test('fails arguments that are not JSON without calling the gate or the tool', async (t) => {
  const stage = scene({ a: { gate: [BLOCK] } });
  stage.turn.calls = [{ ...asked('a'), malformed: 'the arguments are not JSON (SyntaxError: bad)' }];
  t.same(await acted(stage), { kind: 'executed' });
  t.same(stage.trace, ['commit a running', 'failed a']);
  t.same(results(stage.turn), ['tool a: Invalid arguments: the arguments are not JSON (SyntaxError: bad)']);
});

t.test('does nothing for a step without calls', async (t) => {
  const stage = scene({});
  t.same(await acted(stage), { kind: 'executed' });
  t.same(stage.trace, []);
});

t.test('starts nothing when a gate throws', async (t) => {
  const stage = scene({ a: {}, b: { gate: [PROCEED] } });
  const tools = new Map(stage.turn.agent.tools);
  const [b] = [...tools.values()].slice(1);
  if (b) tools.set('b', { ...b, gate: () => Promise.reject(new Error('no idea')) });
  const turn = { ...stage.turn, agent: { ...stage.turn.agent, tools } };
  await t.rejects(act(turn, never), { message: 'no idea' });
  t.same(stage.trace, []);
});

const endless: Record<string, unknown> = {};
endless.self = endless;

const unsendable: [name: string, data: unknown, words: string][] = [
  ['contains itself', endless, 'Execution failed: the result nests deeper than 128 levels'],
  ['has a BigInt', { n: 1n }, 'Execution failed: the result is not JSON (TypeError: '],
];
for (const [name, data, words] of unsendable) {
  t.test(`fails a tool whose result ${name}`, async (t) => {
    // A tool may return values that its types exclude.
    const stage = scene({ a: { run: async () => ({ data: data as Json }) } });
    t.same(await acted(stage), { kind: 'executed' });
    t.ok(results(stage.turn)[0]?.startsWith(`tool a: ${words}`));
  });
}

t.test('converts an undefined result to null', async (t) => {
  const stage = scene({ a: { run: async () => ({ data: undefined as unknown as Json }) } });
  t.same(await acted(stage), { kind: 'executed' });
  t.same(results(stage.turn), ['tool a: null']);
});
