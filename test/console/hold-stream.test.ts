import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { holdStream, type Next } from '../../src/console/data/hold-stream.ts';

/** Streams of a page are open only while the page is visible. */

/** A page with a stream that the test controls, and counters of its state. */
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

t.test('closes the stream a few seconds after the page was hidden', async (t) => {
  const { seen, show, wait } = openPage(t, 'visible');
  await show('hidden');
  await wait(2900);
  await show('visible');
  await wait(60_000);
  t.strictSame(
    seen,
    { begun: 1, held: 1, cuts: 0 },
    'a short visit to another page does not close the stream',
  );
  await show('hidden');
  await wait(3000);
  t.strictSame(seen, { begun: 1, held: 0, cuts: 1 });
  await wait(3_600_000);
  t.equal(seen.begun, 1);
  await show('visible');
  t.match(seen, { begun: 2, held: 1 });
});

t.test('opens no stream while a page is hidden from the start', async (t) => {
  const { seen, show, wait } = openPage(t, 'hidden');
  await wait(3_600_000);
  t.strictSame(seen, { begun: 0, held: 0, cuts: 1 });
  await show('visible');
  t.match(seen, { begun: 1, held: 1 });
});

t.test('reconnects a broken stream with backoff while the page is visible', async (t) => {
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
  t.equal(seen.begun, 4, 'the response resets the backoff');
  await show('hidden');
  await end(new Error('broken'));
  await wait(3_600_000);
  t.equal(seen.begun, 4);
  await show('visible');
  t.match(seen, { begun: 5, held: 1 });
});

t.test('restarts an ended stream only on request', async (t) => {
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
