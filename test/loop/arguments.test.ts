import t from 'tap';
import { act } from '../../src/loop/act.ts';
import { results, scene } from './turn.ts';

/** agent-loop.md 6.1: the loop validates arguments for tools that do not validate their own. */

const never = new AbortController().signal;

t.test('fails a call with invalid arguments, with the reason, without executing the tool', async (t) => {
  const { turn, trace } = scene({ a: { unchecked: { required: ['x'] } }, b: {} });
  t.same(await act(turn, never), { kind: 'executed' });
  t.notOk(trace.includes('start a'));
  t.same(results(turn), ["tool a: Invalid arguments: Missing 'x'", 'tool b: "b"']);
});

t.test('validates the arguments of a decision', async (t) => {
  const { turn } = scene({ a: { unchecked: { required: ['x'] }, run: async (args) => ({ data: args }) } });
  const [entry] = turn.calls;
  if (!entry) throw new Error('no call');
  entry.edited = { arguments: { x: 1 } };
  await act(turn, never);
  t.same(results(turn), ['tool a: {"x":1}']);
});

t.test('warns once about an unusable schema, and executes the tool', async (t) => {
  const { turn, warned } = scene({ a: { unchecked: { type: 'strnig' } } });
  await act(turn, never);
  t.same(results(turn), ['tool a: "a"']);
  t.match(warned, [{ tool: 'a', problem: /strnig/ }]);
});
