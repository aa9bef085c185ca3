import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { LOG_EVENTS, type LogEvent } from '../../src/schema/log-events.ts';
import { coloured, type Paint, paintFor, plain } from '../../src/terminal/paint.ts';
import { createScreen, openScreen } from '../../src/terminal/screen.ts';
import { showLog } from '../../src/terminal/show-log.ts';

/** The form of the log on a terminal, at the time of the test. */

const AT = new Date(2026, 0, 2, 14, 2, 11);

const drawn = ({
  columns = 120,
  paint = plain,
  hidden,
}: {
  columns?: number;
  paint?: Paint;
  hidden?: string[];
} = {}) => {
  let text = '';
  let later: (() => void) | undefined;
  const shown = showLog({
    screen: {
      write(more) {
        text += more;
      },
    },
    page: () => ({ paint, columns }),
    clock: { now: () => AT.getTime() },
    later(act) {
      later = act;
      return () => {
        later = undefined;
      };
    },
    ...(hidden && { hidden: new Set(hidden) }),
  });
  const say = (level: string, event: LogEvent, fields: object = {}): void => {
    const { message: msg } = LOG_EVENTS[event];
    shown.write(`${JSON.stringify({ level, time: AT.toISOString(), event, ...fields, msg })}\n`);
  };
  return {
    say,
    end: shown.end,
    run: (fields: object = {}, event: LogEvent = 'run.ended') => say('info', event, { ...RUN, ...fields }),
    /** Ends the second. */
    pass() {
      const act = later;
      later = undefined;
      act?.();
    },
    isWaiting: () => later !== undefined,
    /** The lines that were written since the last call. */
    lines() {
      const lines = text.split('\n').slice(0, -1);
      text = '';
      return lines;
    },
  };
};

const RUN = {
  run_id: '01a207a7-c485-7da2-8cdd-fac3c50f800f',
  thread_id: '01a207a7-c481-7480-84d8-29c19b8392e5',
  agent_id: 'writer',
  model_id: 'gpt-4o',
  outcome: 'completed',
  reason: 'natural',
  input_tokens: 1200,
  output_tokens: 34,
  seconds: 1.234,
};

t.test('a run is a row: time, outcome, agent, model, duration, tokens, thread', async (t) => {
  const { run, lines } = drawn();
  run();
  t.strictSame(lines(), [
    '14:02:11  done       writer            gpt-4o                     1.2 s      1,200 in, 34 out  …9b8392e5',
  ]);
});

t.test('the row of a run ends with the reason for its end, and shows tokens if there are any', async (t) => {
  const { run, lines } = drawn();
  run({ reason: 'stopped:max_rounds', thread_id: 'T', input_tokens: 0, output_tokens: 0 });
  t.strictSame(lines(), [
    `14:02:11  stopped    writer            gpt-4o                     1.2 s  ${' '.repeat(20)}  T          max rounds`,
  ]);
});

t.test('a narrow terminal shows only the important columns, and no row is wider than it', async (t) => {
  const { run, lines } = drawn({ columns: 60 });
  run({ agent_id: 'an-agent-with-a-name-that-is-long' });
  const [line = ''] = lines();
  t.equal(line, '14:02:11  done       an-agent-with-a…       1.2 s  …9b8392e5');
  t.ok(line.length <= 60);
});

t.test('a word shows the outcome of a run, and the end of the row the reason', async (t) => {
  const cases: [event: LogEvent, fields: object, end: RegExp][] = [
    ['run.ended', { reason: 'stopped:max_rounds' }, /stopped .* max rounds$/],
    ['run.ended', { reason: 'cancelled', outcome: 'cancelled' }, /cancelled /],
    ['run.ended', { outcome: 'superseded' }, /superseded /],
    ['run.ended', { reason: 'error', outcome: 'dead_letter' }, /failed /],
    ['run.ended', { reason: 'error' }, /failed /],
    ['run.ended', { reason: 'blocked' }, /blocked /],
    ['run.waiting', { reason: 'tool_permission', outcome: undefined }, /waiting .* tool permission$/],
    ['run.released', { outcome: 'transient_error', reason: undefined }, /released /],
  ];
  const { run, lines } = drawn();
  for (const [event, fields, end] of cases) {
    run(fields, event);
    t.match(lines()[0], end);
  }
});

t.test('shows a problem completely, with its cause, within the width', async (t) => {
  const { say, lines } = drawn({ columns: 60 });
  const err = { type: 'Error', message: 'the provider says that the key is not one of its own', stack: 'x' };
  say('warn', 'run.inference_failed', { err, run_id: 'r1', attempt: 2 });
  t.strictSame(lines(), [
    '14:02:11  warning    inference failed',
    '                     the provider says that the key is not',
    '                     one of its own',
    '                     run_id=r1 attempt=2',
  ]);
  say('error', 'http.request_failed', {
    err: { message: 'oops', stack: 'Error: oops\n    at f (a.js:1:2)' },
  });
  t.strictSame(lines(), [
    '14:02:11  error      request failed',
    '                     oops',
    '                     at f (a.js:1:2)',
  ]);
});

t.test('an attempt that fails like the one before it is one line', async (t) => {
  const { say, run, pass, lines } = drawn({ columns: 90 });
  const { run_id } = RUN;
  const attempt = (count: number, message = 'refused'): void => {
    pass();
    say('warn', 'run.inference_failed', { err: { message }, run_id, attempt: count, max_attempts: 5 });
  };
  attempt(1);
  t.equal(lines().length, 3);
  attempt(2);
  run();
  lines();
  attempt(3);
  t.strictSame(lines(), [
    '14:02:11  warning    inference failed, attempt 3 of 5: the same error (run …c50f800f)',
  ]);
  attempt(4, 'too slow');
  t.match(lines(), [/inference failed$/, /too slow$/, /attempt=4 max_attempts=5$/], 'another error is shown');
  say('info', 'recovery.finished', { threads: 1 });
  attempt(5, 'too slow');
  t.match(
    lines().slice(1),
    [/inference failed$/, /too slow$/, /attempt=5/],
    'an error after another line is shown, too',
  );
});

t.test('external text cannot control the terminal', async (t) => {
  const { say, run, lines } = drawn({ paint: coloured });
  say('warn', 'run.inference_failed', {
    err: { message: 'a\u001b[2Jb\u0007\r\nc\u009b1m' },
    x: '\u001b]0;t\u0007',
  });
  run({ agent_id: '\u001b[31mred' });
  const text = lines().join('\n');
  t.notMatch(stripVTControlCharacters(text), /[^\n\P{Cc}]/u);
  t.match(text, '\\x1b[2Jb\\x07\\x0d\\x0ac\\x9b1m');
});

t.test('events that are too fast to read become one line per second', async (t) => {
  const { run, say, pass, lines, isWaiting } = drawn();
  for (let i = 0; i < 500; i += 1) run({ seconds: 0.01 * (i + 1) });
  t.equal(lines().length, 10);
  pass();
  t.match(lines(), [/runs {7}490 done; 110 ms to 5\.0 s; 604,660 tokens$/]);
  for (let i = 0; i < 1000; i += 1) run(i % 4 === 0 ? { reason: 'error', outcome: 'dead_letter' } : {});
  for (let i = 0; i < 50; i += 1) say('warn', 'run.inference_failed', { err: { message: 'full' } });
  const [first, cause, ...others] = lines();
  t.match(first, 'inference failed', 'only the number of runs is shown, and the first causes');
  t.match(cause, 'full');
  t.equal(others.length, 4);
  pass();
  t.match(lines(), [/runs {7}250 failed, 750 done; /, /\+ 47 .* more: inference failed$/]);
  pass();
  t.strictSame(lines(), []);
  t.notOk(isWaiting(), 'a quiet second clears the timer');
  run();
  t.equal(lines().length, 1, 'the next run is shown in its own row');
});

t.test('does not count readable events, or the event after them', async (t) => {
  const { run, say, pass, lines } = drawn();
  for (let i = 0; i < 10; i += 1) run();
  for (let i = 0; i < 3; i += 1) say('warn', 'run.inference_failed');
  t.equal(lines().length, 13);
  pass();
  t.strictSame(lines(), []);
  run();
  t.equal(lines().length, 1);
});

t.test('the end shows the events that were only counted', async (t) => {
  const { run, say, end, lines, isWaiting } = drawn();
  for (let i = 0; i < 12; i += 1) run();
  say('info', 'service.stopped');
  end();
  t.notOk(isWaiting());
  t.match(lines().slice(10), [/runs {7}2 done/, /stopped /]);
});

t.test('a start with work of an earlier process shows its progress', async (t) => {
  const { say, lines } = drawn();
  say('info', 'recovery.progress', { done: 64, threads: 1200 });
  say('info', 'recovery.finished', { threads: 1 });
  t.match(lines(), [/64 of 1,200 threads recovered$/, /1 thread of an earlier process recovered$/]);
});

t.test('colors distinguish a problem from its cause and from its subject', async (t) => {
  const { say, lines } = drawn({ paint: (tone, text) => `<${tone}>${text}` });
  say('warn', 'run.inference_failed', { err: { message: 'full' }, run_id: 'r' });
  t.strictSame(lines(), [
    '<dim>14:02:11  <yellow>warning    inference failed',
    '                     <yellow>full',
    '                     <dim>run_id=r',
  ]);
});

t.test('a stop shows the number of runs it waits for, and how to stop now', async (t) => {
  const { say, lines } = drawn();
  say('info', 'service.waiting_for_runs', { runs: 2 });
  t.match(lines(), [/stopping {3}waiting for 2 runs; press Ctrl-C again to stop now$/]);
});

t.test('hides lines whose content is in the banner, and shows all others', async (t) => {
  const { say, lines } = drawn({ hidden: ['service.started'] });
  say('info', 'service.started', { url: 'http://127.0.0.1:1' });
  t.strictSame(lines(), []);
  const other = drawn();
  other.say('info', 'service.started', { url: 'http://127.0.0.1:1' });
  t.match(other.lines(), [/listening on http:\/\/127\.0\.0\.1:1$/]);
});

t.test('a terminal that accepts no data blocks nothing, and uses bounded memory', async (t) => {
  let room = 10;
  let taken = '';
  const screen = createScreen((bytes) => {
    if (room === 0) throw Object.assign(new Error('full'), { code: 'EAGAIN' });
    const some = bytes.subarray(0, room);
    room -= some.length;
    taken += some.toString();
    return some.length;
  });
  for (let i = 0; i < 10_000; i += 1) screen.write(`${String(i).padEnd(99, 'x')}\n`);
  t.equal(taken.length, 10);
  room = Number.POSITIVE_INFINITY;
  screen.flush();
  const lines = taken.split('\n').slice(0, -1);
  t.ok(lines.length < 1000, 'the buffer is bounded');
  t.ok(
    lines.slice(0, -1).every((line, i) => line.startsWith(`${i}x`)),
    'the kept lines are in order',
  );
  const [, leftOut = ''] = /^… ([\d,]+) lines are left out/.exec(lines.at(-1) ?? '') ?? [];
  t.equal(lines.length - 1 + Number(leftOut.replaceAll(',', '')), 10_000, 'every line is shown or counted');
  screen.write('after\n');
  t.match(taken, /\nafter\n$/);
});

t.test('a terminal that reads again receives the waiting data', async (t) => {
  let tries = 0;
  const done = new Promise<string>((resolve) => {
    const screen = createScreen((bytes) => {
      tries += 1;
      if (tries < 3) return 0;
      resolve(bytes.toString());
      return bytes.length;
    });
    screen.write('x\n');
  });
  const alive = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(alive));
  t.equal(await done, 'x\n');
});

t.test('text that is drawn into a file is appended', async (t) => {
  const file = join(t.testdir({ log: 'before\n' }), 'log');
  const fd = openSync(file, 'a');
  t.teardown(() => closeSync(fd));
  openScreen({ fd, write: (text) => writeSync(fd, text) }).write('drawn\n');
  t.equal(readFileSync(file, 'utf8'), 'before\ndrawn\n');
});

t.test('writes no more to a closed terminal', async (t) => {
  let tries = 0;
  const screen = createScreen(() => {
    tries += 1;
    throw Object.assign(new Error('gone'), { code: 'EIO' });
  });
  for (let i = 0; i < 3; i += 1) screen.write('x\n');
  t.equal(tries, 1);
});

t.test('colors are for terminals, and the environment overrides', async (t) => {
  // All variables that Node checks: test machines set CI, and that alone turns colors off.
  const names = [
    'CI',
    'COLORTERM',
    'FORCE_COLOR',
    'NODE_DISABLE_COLORS',
    'NO_COLOR',
    'TEAMCITY_VERSION',
    'TERM',
    'TMUX',
  ];
  const before = names.map((name) => [name, process.env[name]] as const);
  const set = (variables: Iterable<readonly [string, string | undefined]>): void => {
    for (const [name, value] of variables) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  t.teardown(() => set(before));
  const on = (isTTY: boolean, env: Record<string, string>): boolean => {
    set(names.map((name) => [name, undefined]));
    set(Object.entries({ TERM: 'xterm-256color', ...env }));
    const stream = isTTY
      ? Object.create(WriteStream.prototype, { isTTY: { value: true } })
      : new PassThrough();
    return paintFor(stream)('red', 'x') !== 'x';
  };
  t.equal(on(true, {}), true);
  t.equal(on(false, {}), false);
  t.equal(on(true, { NO_COLOR: '1' }), false);
  t.equal(on(false, { FORCE_COLOR: '1' }), true);
});
