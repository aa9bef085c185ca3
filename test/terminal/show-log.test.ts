import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import t from 'tap';
import { coloured, type Paint, paintFor, plain } from '../../src/terminal/paint.ts';
import { createScreen, openScreen } from '../../src/terminal/screen.ts';
import { showLog } from '../../src/terminal/show-log.ts';

/** What the log looks like on a terminal; the time is that of the test. */

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
  const say = (level: string, msg: string, fields: object = {}): void =>
    shown.write(`${JSON.stringify({ level, time: AT.toISOString(), ...fields, msg })}\n`);
  return {
    say,
    end: shown.end,
    run: (fields: object = {}, msg = 'run ended') => say('info', msg, { ...RUN, ...fields }),
    /** The second is over. */
    pass() {
      const act = later;
      later = undefined;
      act?.();
    },
    isWaiting: () => later !== undefined,
    /** What was written since this was asked last. */
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

t.test('a run is a row: when, how it ended, agent, model, time, tokens, thread', async (t) => {
  const { run, lines } = drawn();
  run();
  t.strictSame(lines(), [
    '14:02:11  done       writer            gpt-4o                     1.2 s      1,200 in, 34 out  …9b8392e5',
  ]);
});

t.test('why a run ended stands behind its row, and tokens where there are any', async (t) => {
  const { run, lines } = drawn();
  run({ reason: 'stopped:max_rounds', thread_id: 'T', input_tokens: 0, output_tokens: 0 });
  t.strictSame(lines(), [
    `14:02:11  stopped    writer            gpt-4o                     1.2 s  ${' '.repeat(20)}  T          max rounds`,
  ]);
});

t.test('a narrow terminal has the columns that matter, and no row is wider than it', async (t) => {
  const { run, lines } = drawn({ columns: 60 });
  run({ agent_id: 'an-agent-with-a-name-that-is-long' });
  const [line = ''] = lines();
  t.equal(line, '14:02:11  done       an-agent-with-a…       1.2 s  …9b8392e5');
  t.ok(line.length <= 60);
});

t.test('the word says how a run ended, and the end of the row why', async (t) => {
  const cases: [msg: string, fields: object, end: RegExp][] = [
    ['run ended', { reason: 'stopped:max_rounds' }, /stopped .* max rounds$/],
    ['run ended', { reason: 'cancelled', outcome: 'cancelled' }, /cancelled /],
    ['run ended', { outcome: 'superseded' }, /superseded /],
    ['run ended', { reason: 'error', outcome: 'dead_letter' }, /failed /],
    ['run ended', { reason: 'error' }, /failed /],
    ['run ended', { reason: 'blocked' }, /blocked /],
    ['run waits', { reason: 'tool_permission', outcome: undefined }, /waits .* tool permission$/],
    ['run let go', { outcome: 'transient_error', reason: undefined }, /let go /],
  ];
  const { run, lines } = drawn();
  for (const [msg, fields, end] of cases) {
    run(fields, msg);
    t.match(lines()[0], end);
  }
});

t.test('a problem is told whole, with its cause, within the width', async (t) => {
  const { say, lines } = drawn({ columns: 60 });
  const err = { type: 'Error', message: 'the provider says that the key is not one of its own', stack: 'x' };
  say('warn', 'an inference failed', { err, run_id: 'r1', attempt: 2 });
  t.strictSame(lines(), [
    '14:02:11  warning    an inference failed',
    '                     the provider says that the key is not',
    '                     one of its own',
    '                     run_id=r1 attempt=2',
  ]);
  say('error', 'request failed', { err: { message: 'oops', stack: 'Error: oops\n    at f (a.js:1:2)' } });
  t.strictSame(lines(), [
    '14:02:11  error      request failed',
    '                     oops',
    '                     at f (a.js:1:2)',
  ]);
});

t.test('nothing that comes from elsewhere can do anything to the terminal', async (t) => {
  const { say, run, lines } = drawn({ paint: coloured });
  say('warn', 'an inference failed', {
    err: { message: 'a\u001b[2Jb\u0007\r\nc\u009b1m' },
    x: '\u001b]0;t\u0007',
  });
  run({ agent_id: '\u001b[31mred' });
  const text = lines().join('\n');
  t.notMatch(stripVTControlCharacters(text), /[^\n\P{Cc}]/u);
  t.match(text, '\\x1b[2Jb\\x07\\x0d\\x0ac\\x9b1m');
});

t.test('what happens too fast to be read is one line a second', async (t) => {
  const { run, say, pass, lines, isWaiting } = drawn();
  for (let i = 0; i < 500; i += 1) run({ seconds: 0.01 * (i + 1) });
  t.equal(lines().length, 10);
  pass();
  t.match(lines(), [/runs {7}490 done; 110 ms to 5\.0 s; 604,660 tokens$/]);
  for (let i = 0; i < 1000; i += 1) run(i % 4 === 0 ? { reason: 'error', outcome: 'dead_letter' } : {});
  for (let i = 0; i < 50; i += 1) say('warn', 'an inference failed', { err: { message: 'full' } });
  const [first, cause, ...others] = lines();
  t.match(first, 'an inference failed', 'runs are counted only, the first causes are shown');
  t.match(cause, 'full');
  t.equal(others.length, 4);
  pass();
  t.match(lines(), [/runs {7}250 failed, 750 done; /, /\+ 47 .* more: an inference failed$/]);
  pass();
  t.strictSame(lines(), []);
  t.notOk(isWaiting(), 'nothing happened for a second: no timer is left');
  run();
  t.equal(lines().length, 1, 'and the next run is a row again');
});

t.test('what can be read is not counted, nor is what comes next', async (t) => {
  const { run, say, pass, lines } = drawn();
  for (let i = 0; i < 10; i += 1) run();
  for (let i = 0; i < 3; i += 1) say('warn', 'an inference failed');
  t.equal(lines().length, 13);
  pass();
  t.strictSame(lines(), []);
  run();
  t.equal(lines().length, 1);
});

t.test('the end tells what was only counted', async (t) => {
  const { run, say, end, lines, isWaiting } = drawn();
  for (let i = 0; i < 12; i += 1) run();
  say('info', 'stopped');
  end();
  t.notOk(isWaiting());
  t.match(lines().slice(10), [/runs {7}2 done/, /stopped /]);
});

t.test('a start on work of an earlier process says how far it is', async (t) => {
  const { say, lines } = drawn();
  say('info', 'taking up the work of an earlier process', { done: 64, threads: 1200 });
  say('info', 'work of an earlier process goes on', { threads: 1 });
  t.match(lines(), [/64 of 1,200 threads taken up$/, /left on 1 thread goes on$/]);
});

t.test('colours tell a problem from its cause and from what it is about', async (t) => {
  const { say, lines } = drawn({ paint: (tone, text) => `<${tone}>${text}` });
  say('warn', 'an inference failed', { err: { message: 'full' }, run_id: 'r' });
  t.strictSame(lines(), [
    '<dim>14:02:11  <yellow>warning    an inference failed',
    '                     <yellow>full',
    '                     <dim>run_id=r',
  ]);
});

t.test('a stop says for how many runs it waits, and how to stop now', async (t) => {
  const { say, lines } = drawn();
  say('info', 'stopping: waiting for runs', { runs: 2 });
  t.match(lines(), [/stopping {3}waiting for 2 runs; Ctrl-C again stops now$/]);
});

t.test('what the banner tells is not told again, and a line that is none is passed on', async (t) => {
  const { say, lines } = drawn({ hidden: ['started'] });
  say('info', 'started', { url: 'http://127.0.0.1:1' });
  t.strictSame(lines(), []);
  const other = drawn();
  other.say('info', 'started', { url: 'http://127.0.0.1:1' });
  t.match(other.lines(), [/listening on http:\/\/127\.0\.0\.1:1$/]);
});

t.test('a terminal that takes nothing holds nobody, and costs a bounded memory', async (t) => {
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
  t.ok(lines.length < 1000, 'no more than the bound was kept');
  t.ok(
    lines.slice(0, -1).every((line, i) => line.startsWith(`${i}x`)),
    'and that in its order',
  );
  const [, leftOut = ''] = /^… ([\d,]+) lines are left out/.exec(lines.at(-1) ?? '') ?? [];
  t.equal(lines.length - 1 + Number(leftOut.replaceAll(',', '')), 10_000, 'every line is there or counted');
  screen.write('after\n');
  t.match(taken, /\nafter\n$/);
});

t.test('a terminal that reads again has what waited for it', async (t) => {
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

t.test('what is drawn into a file comes behind what is there', async (t) => {
  const file = join(t.testdir({ log: 'before\n' }), 'log');
  const fd = openSync(file, 'a');
  t.teardown(() => closeSync(fd));
  openScreen({ fd, write: (text) => writeSync(fd, text) }).write('drawn\n');
  t.equal(readFileSync(file, 'utf8'), 'before\ndrawn\n');
});

t.test('a terminal that is gone is written to no more', async (t) => {
  let tries = 0;
  const screen = createScreen(() => {
    tries += 1;
    throw Object.assign(new Error('gone'), { code: 'EIO' });
  });
  for (let i = 0; i < 3; i += 1) screen.write('x\n');
  t.equal(tries, 1);
});

t.test('colours are for terminals, and the environment has the last word', async (t) => {
  // Everything that Node asks: a machine that tests has CI set, and that alone turns colours off.
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
