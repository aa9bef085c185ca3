import t from 'tap';
import { delegateCircles } from '../../src/configuration/delegate-circles.ts';

const circlesOf = (delegates: Record<string, string[]>): string[] =>
  delegateCircles(Object.entries(delegates).map(([id, others]) => ({ id, delegates: others }))).map(
    ({ message }) => message,
  );

t.test('names an agent that delegates to itself', async (t) => {
  t.strictSame(circlesOf({ a: ['a', 'a'], b: ['a'] }), ["agents delegate in a circle: 'a' → 'a'"]);
});

t.test('names each circle once, wherever the search enters it', async (t) => {
  const ring = ["agents delegate in a circle: 'a' → 'b' → 'c' → 'a'"];
  t.strictSame(circlesOf({ a: ['b'], b: ['c'], c: ['a'] }), ring);
  t.strictSame(circlesOf({ x: ['c'], c: ['a'], b: ['c'], a: ['b', 'gone'] }), ring);
});

t.test('accepts agents that share a delegate', async (t) => {
  t.strictSame(circlesOf({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }), []);
});

t.test('searches a chain of any length', async (t) => {
  const ids = Array.from({ length: 20_000 }, (_, at) => `a${at}`);
  const chain = Object.fromEntries(ids.map((id, at) => [id, ids[at + 1] ? [`a${at + 1}`] : []]));
  t.strictSame(circlesOf(chain), []);
});
