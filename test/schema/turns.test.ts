import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { inOwnTurn } from '../../src/schema/turns.ts';

t.test('executes long work one chunk per tick in order, and none in the requesting tick', async (t) => {
  const done: string[] = [];
  inOwnTurn(() => {
    done.push('first');
    inOwnTurn(() => done.push('second of the first'));
  });
  inOwnTurn(() => done.push('second'));
  t.strictSame(done, []);
  const seen: number[] = [];
  while (done.length < 3) {
    await nextTurn();
    seen.push(done.length);
  }
  t.strictSame(done, ['first', 'second', 'second of the first']);
  t.ok(
    seen.every((count, index) => count <= index + 1),
    `pieces done after each turn: ${seen}`,
  );
});
