import { mock } from 'node:test';
import fc from 'fast-check';
import t from 'tap';
import { createWheel, deadline } from '../../../src/models/transport/wheel.ts';

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] }));
t.afterEach(() => mock.timers.reset());

t.test('expires every deadline once, in order, at its time, and none that was removed', async () => {
  const step = fc.record({ id: fc.nat(9), ms: fc.integer({ min: 0, max: 900 }), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat(300)), { maxLength: 60 }), (steps) => {
      let time = 0;
      const wheel = createWheel(() => time);
      const due = new Map<number, number>();
      const wrong: string[] = [];
      const items = Array.from({ length: 10 }, (_, id) =>
        deadline(() => {
          if (due.get(id) !== time) wrong.push(`${id} at ${time} instead of ${due.get(id)}`);
          due.delete(id);
        }),
      );
      const pass = (ms: number): void => {
        for (let left = ms; left > 0; left -= 1) {
          time += 1;
          mock.timers.tick(1);
          for (const [id, at] of due) if (at < time) wrong.push(`${id} is late`);
        }
      };
      for (const [{ id, ms, remove }, wait] of steps) {
        const item = items[id];
        if (!item) continue;
        if (remove) {
          wheel.remove(item);
          due.delete(id);
        } else {
          wheel.set(item, ms + 1);
          due.set(id, time + ms + 1);
        }
        pass(wait);
      }
      pass(1000);
      return wrong.length === 0 && due.size === 0;
    }),
    { numRuns: 50 },
  );
});

t.test('uses one timer for all deadlines, and none without deadlines', async (t) => {
  const set = t.capture(globalThis, 'setTimeout', globalThis.setTimeout);
  const cleared = t.capture(globalThis, 'clearTimeout', globalThis.clearTimeout);
  const wheel = createWheel(() => 0);
  const items = Array.from({ length: 100 }, () => deadline(() => {}));
  for (const item of items) wheel.set(item, 1000);
  for (const item of items) wheel.set(item, 2000);
  t.equal(set().length, 1);
  cleared();
  for (const item of items) wheel.remove(item);
  t.equal(cleared().length, 1);
});
