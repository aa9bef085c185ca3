import { mock } from 'node:test';
import t from 'tap';
import { createWheel } from '../../src/models/transport/wheel.ts';
import { createWatchdog } from '../../src/models/watchdog.ts';

/** A watchdog of ten seconds on a manual clock. */
const watch = (caller: AbortSignal = new AbortController().signal, idle?: number) => {
  let time = 0;
  const watchdog = createWatchdog(
    { call: 10, idle },
    caller,
    createWheel(() => time),
  );
  return {
    watchdog,
    /** Advances in steps, because a jump of the clock counts as a stalled process. */
    pass: (ms: number) => {
      for (let left = ms; left > 0; left -= STEP_MS) {
        const passed = Math.min(left, STEP_MS);
        time += passed;
        mock.timers.tick(passed);
      }
    },
  };
};

const STEP_MS = 500;

t.beforeEach(() => mock.timers.enable({ apis: ['setTimeout', 'setImmediate'] }));
t.afterEach(() => mock.timers.reset());

t.test('reports a stream that does not open in time as an inference timeout', async (t) => {
  const { watchdog, pass } = watch();
  pass(9_999);
  t.notOk(watchdog.signal.aborted);
  pass(1);
  t.ok(watchdog.signal.aborted);
  t.match(watchdog.cause(), { class: 'timeout', message: 'timeout: inference timeout after 10s' });
});

t.test('reports a gap between events as a stream idle timeout', async (t) => {
  const { watchdog, pass } = watch();
  pass(5_000);
  watchdog.opened();
  pass(9_999);
  t.equal(watchdog.cause(), undefined);
  pass(1);
  t.match(watchdog.cause(), { class: 'timeout', message: 'timeout: stream idle timeout after 10s' });
});

t.test('never times out while events arrive', async (t) => {
  const { watchdog, pass } = watch();
  watchdog.opened();
  for (let event = 0; event < 10; event += 1) {
    pass(9_000);
    watchdog.touch();
  }
  t.equal(watchdog.cause(), undefined);
  pass(10_000);
  t.match(watchdog.cause(), { class: 'timeout' });
});

t.test('keeps the first cause', async (t) => {
  const abort = new AbortController();
  const { watchdog, pass } = watch(abort.signal);
  abort.abort();
  pass(20_000);
  t.match(watchdog.cause(), { class: 'cancelled' });
});

t.test('handles a signal that was already aborted', async (t) => {
  t.match(watch(AbortSignal.abort()).watchdog.cause(), { class: 'cancelled' });
});

t.test('aborts nothing after it was closed', async (t) => {
  const abort = new AbortController();
  const { watchdog, pass } = watch(abort.signal);
  watchdog.close();
  pass(20_000);
  abort.abort();
  t.notOk(watchdog.signal.aborted);
  t.equal(watchdog.cause(), undefined);
});

t.test('applies a shorter idle limit once the stream is open, and reports an idle stall', async (t) => {
  const { watchdog, pass } = watch(undefined, 3);
  pass(9_000);
  t.notOk(watchdog.signal.aborted);
  watchdog.opened();
  pass(2_999);
  watchdog.touch();
  pass(2_999);
  t.equal(watchdog.cause(), undefined);
  pass(1);
  t.match(watchdog.cause(), {
    class: 'stream_interrupted',
    message: 'stream interrupted (idle stall)',
    transient: true,
  });
});

t.test('ignores a longer idle limit', async (t) => {
  const { watchdog, pass } = watch(undefined, 11);
  watchdog.opened();
  pass(10_000);
  t.match(watchdog.cause(), { class: 'timeout', message: 'timeout: stream idle timeout after 10s' });
});

t.test('splits a limit that exceeds the maximum timer', async (t) => {
  let time = 0;
  const asked = t.capture(globalThis, 'setTimeout', globalThis.setTimeout);
  const watchdog = createWatchdog(
    { call: 3_000_000 },
    new AbortController().signal,
    createWheel(() => time),
  );
  time = 2 ** 31 - 1;
  mock.timers.tick(time);
  t.strictSame(
    asked().map(({ args: [, ms] }) => ms),
    [2 ** 31 - 1, 3_000_000_000 - (2 ** 31 - 1)],
  );
  asked.restore();
  watchdog.close();
});

t.test('sets no timer for a stream that opens after the cancel', async (t) => {
  const abort = new AbortController();
  const { watchdog, pass } = watch(abort.signal, 3);
  abort.abort();
  watchdog.opened();
  pass(20_000);
  t.match(watchdog.cause(), { class: 'cancelled' });
});

/** A stalled process: the clock moves first, and timers run afterwards. */
const standStill = () => {
  let time = 0;
  const watchdog = createWatchdog(
    { call: 10, idle: undefined },
    new AbortController().signal,
    createWheel(() => time),
  );
  watchdog.opened();
  time = 60_000;
  mock.timers.tick(10_000);
  return {
    watchdog,
    pass(ms: number) {
      time += ms;
      mock.timers.tick(ms);
    },
  };
};

t.test('keeps the stream alive after a stall if events arrived in that time', async (t) => {
  const { watchdog, pass } = standStill();
  t.equal(watchdog.cause(), undefined);
  watchdog.touch();
  pass(1000);
  t.equal(watchdog.cause(), undefined);
  pass(8999);
  t.equal(watchdog.cause(), undefined);
  pass(1);
  t.match(watchdog.cause(), { class: 'timeout' });
});

t.test('ends a silent stream a second after a stall', async (t) => {
  const { watchdog, pass } = standStill();
  pass(999);
  t.equal(watchdog.cause(), undefined);
  pass(1);
  t.match(watchdog.cause(), { class: 'timeout' });
});

t.test('counts an event that is read after the timer, in the same event-loop tick', async (t) => {
  let time = 0;
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  const watchdog = createWatchdog(
    { call: 1, idle: undefined },
    new AbortController().signal,
    createWheel(() => time),
  );
  watchdog.opened();
  time = 1000;
  // The timer leaves the decision to the end of the event-loop tick, which is a real one.
  mock.timers.tick(1000);
  watchdog.touch();
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(watchdog.cause(), undefined);
  watchdog.close();
});
