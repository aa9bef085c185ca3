import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { holdStream, type Next } from '../../src/console/data/hold-stream.ts';

/** A page holds a stream of the service while it is seen, and no longer. */

/** A page whose streams are ended, broken and counted by hand. */
const openPage = (t: Test, visibilityState: 'visible' | 'hidden') => {
  const page = Object.assign(new EventTarget(), { visibilityState: visibilityState as string });
  Object.assign(globalThis, { document: page });
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const seen = { begun: 0, held: 0, cuts: 0 };
  let answer: (next: Next | Error) => void = () => {};
  const held = holdStream({
    async read(signal, answered) {
      seen.begun += 1;
      seen.held += 1;
      const next = await new Promise<Next | Error>((resolve) => {
        answer = resolve;
        signal.addEventListener('abort', () => resolve(new Error('aborted')));
      });
      seen.held -= 1;
      if (next instanceof Error) throw next;
      answered();
      return next;
    },
    failed: () => 'after a pause',
    onCut() {
      seen.cuts += 1;
    },
  });
  t.teardown(held.close);
  const wait = async (ms: number): Promise<void> => {
    mock.timers.tick(ms);
    await setImmediate();
  };
  return {
    seen,
    held,
    wait,
    show: (state: 'visible' | 'hidden') => {
      page.visibilityState = state;
      page.dispatchEvent(new Event('visibilitychange'));
      return setImmediate();
    },
    end: (next: Next | Error) => {
      answer(next);
      return setImmediate();
    },
  };
};

t.test('a page that is not seen any more lets its stream go after a few seconds', async (t) => {
  const { seen, show, wait } = openPage(t, 'visible');
  await show('hidden');
  await wait(2900);
  await show('visible');
  await wait(60_000);
  t.strictSame(seen, { begun: 1, held: 1, cuts: 0 }, 'who only glances at another page keeps it');
  await show('hidden');
  await wait(3000);
  t.strictSame(seen, { begun: 1, held: 0, cuts: 1 });
  await wait(3_600_000);
  t.equal(seen.begun, 1);
  await show('visible');
  t.match(seen, { begun: 2, held: 1 });
});

t.test('a page that is opened unseen holds none before it is seen', async (t) => {
  const { seen, show, wait } = openPage(t, 'hidden');
  await wait(3_600_000);
  t.strictSame(seen, { begun: 0, held: 0, cuts: 1 });
  await show('visible');
  t.match(seen, { begun: 1, held: 1 });
});

t.test('a stream that breaks is taken up after growing pauses, unless nobody sees the page', async (t) => {
  const { seen, show, wait, end } = openPage(t, 'visible');
  await end(new Error('broken'));
  await wait(999);
  t.equal(seen.begun, 1);
  await wait(1);
  t.equal(seen.begun, 2);
  await end(new Error('broken'));
  await wait(1999);
  t.equal(seen.begun, 2);
  await wait(1);
  await end('after a pause');
  await wait(1000);
  t.equal(seen.begun, 4, 'it had been answered meanwhile');
  await show('hidden');
  await end(new Error('broken'));
  await wait(3_600_000);
  t.equal(seen.begun, 4);
  await show('visible');
  t.match(seen, { begun: 5, held: 1 });
});

t.test('what is over is begun anew only when somebody asks', async (t) => {
  const { seen, held, show, wait, end } = openPage(t, 'visible');
  await end('at once');
  t.equal(seen.begun, 2);
  await end('nothing');
  await show('hidden');
  await wait(60_000);
  await show('visible');
  t.match(seen, { begun: 2, held: 0, cuts: 0 });
  held.again();
  t.match(seen, { begun: 3, held: 1 });
  held.close();
  await setImmediate();
  await show('visible');
  t.match(seen, { begun: 3, held: 0, cuts: 0 });
});
