import t from 'tap';
import { act } from '../../src/loop/act.ts';
import type { GateDecision } from '../../src/tools/tool.ts';
import { scene, statuses, ticket } from './turn.ts';

/** agent-loop.md 5.5: after its run is cancelled, a step starts nothing and settles nothing. */

const PROCEED: GateDecision = { kind: 'proceed' };

t.test('aborts an executing tool and discards its result', async (t) => {
  const cancel = new AbortController();
  const stage = scene({
    a: {
      run: async (_, signal) => {
        cancel.abort();
        return { data: signal.aborted };
      },
    },
    b: { exclusive: true },
  });
  await act(stage.turn, cancel.signal);
  t.same(stage.trace, ['commit a running, b new', 'start a', 'end a']);
  t.same(stage.turn.produced, []);
  t.equal(statuses(stage.turn), 'a running, b new');
});

t.test('keeps no ticket of a call that suspends itself after the cancel', async (t) => {
  const cancel = new AbortController();
  const stage = scene({
    a: {
      run: async () => {
        cancel.abort();
        return { suspend: ticket('a') };
      },
    },
  });
  t.same(await act(stage.turn, cancel.signal), { kind: 'executed' });
  t.same(stage.events, [{ event_type: 'tool_call_executing', id: 'a', name: 'a' }]);
});

t.test('never starts a call whose run is cancelled during the preceding commit', async (t) => {
  const cancel = new AbortController();
  const stage = scene({ a: {}, b: {} });
  const turn = {
    ...stage.turn,
    checkpoint: async () => {
      cancel.abort();
      return { taken: 0 };
    },
  };
  await act(turn, cancel.signal);
  t.same(stage.trace, []);
  t.same(stage.events, []);
});

t.test('starts nothing and calls no further gate when the run is cancelled during a gate', async (t) => {
  for (const verdict of [
    PROCEED,
    { kind: 'block', reason: 'denied' },
    { kind: 'suspend', ticket: ticket('b') },
    { kind: 'set_result', output: { data: 1 } },
  ] satisfies GateDecision[]) {
    const cancel = new AbortController();
    const stage = scene({ a: {}, b: {}, c: { gate: [PROCEED] } });
    const gate = async (): Promise<GateDecision> => {
      cancel.abort();
      return verdict;
    };
    const tools = new Map(
      [...stage.turn.agent.tools].map(([id, tool]) => [id, id === 'b' ? { ...tool, gate } : tool]),
    );
    await act({ ...stage.turn, agent: { ...stage.turn.agent, tools } }, cancel.signal);
    t.same(stage.trace, [], verdict.kind);
    t.same(stage.events, [], verdict.kind);
  }
});
