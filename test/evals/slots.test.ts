import t from 'tap';
import { createSlots } from '../../src/evals/slots.ts';

/** Slots for cells that all runs of a process share. */

const never = new AbortController().signal;

const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
};

t.test('limits the number of slots, and serves waiting cells in order', async (t) => {
  const slots = createSlots(2);
  const order: string[] = [];
  const leaves: (() => void)[] = [];
  for (const name of ['a', 'b', 'c', 'd']) {
    slots.take(never).then((leave) => {
      order.push(name);
      if (leave) leaves.push(leave);
    });
  }
  await settled();
  t.strictSame(order, ['a', 'b']);
  leaves[1]?.();
  await settled();
  t.strictSame(order, ['a', 'b', 'c']);
  leaves[1]?.();
  await settled();
  t.strictSame(order, ['a', 'b', 'c'], 'a slot is released once');
  leaves[0]?.();
  await settled();
  t.strictSame(order, ['a', 'b', 'c', 'd']);
});

t.test('grants no slot to a cancelled wait, and takes none from others', async (t) => {
  const slots = createSlots(1);
  const leave = await slots.take(never);
  const impatient = new AbortController();
  const given = slots.take(impatient.signal);
  const next = slots.take(never);
  impatient.abort();
  t.equal(await given, undefined);
  t.equal(await slots.take(impatient.signal), undefined);
  leave?.();
  const second = await next;
  t.ok(second);
  second?.();
  t.ok(await slots.take(never));
});
