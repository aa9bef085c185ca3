import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { z } from 'zod';
import { MAIN } from '../e2e/built.ts';

/** The benchmarks run and give figures of the promised shape. How large the figures are is not tested. */

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const Figure = z.number().positive();

const Outcomes = z.array(
  z.object({
    machine: z.object({ cpu: z.string(), cores: z.int(), node: z.string(), kernel: z.string() }),
    short: z.literal(true),
    benchmarks: z.array(
      z.object({
        name: z.string(),
        rows: z
          .array(
            z.object({
              metric: z.string(),
              unit: z.string(),
              troupe: Figure,
              baseline: Figure,
              ratio: z.object({ value: Figure, min: Figure, max: Figure }),
              p50: Figure,
              p99: Figure,
            }),
          )
          .min(1),
        notes: z.array(z.string()),
      }),
    ),
  }),
);

const bench = async (args: readonly string[]) => {
  // The hooks that tap puts into NODE_OPTIONS are not for the servers under measurement.
  const command = ['-u', 'NODE_OPTIONS', process.execPath, '--import=tsx', 'bench/index.ts'];
  const child = spawn('env', [...command, '--server', MAIN, ...args], { cwd: ROOT });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, printed };
};

t.test('a short run prints a table and appends its figures to the file', async (t) => {
  const file = join(t.testdir(), 'figures.json');
  const args = ['store', 'streams', '--short', '--json', file];
  const first = await bench(args);
  t.equal(first.code, 0, first.printed);
  for (const text of ['commits/s', 'streams/s', 'ratio (min to max)', 'p99', 'over bare loop', 'over ai 6']) {
    t.match(first.printed, text);
  }
  t.equal((await bench(['store', ...args.slice(2)])).code, 0);
  const outcomes = Outcomes.parse(JSON.parse(readFileSync(file, 'utf8')));
  t.strictSame(
    outcomes.map(({ benchmarks }) => benchmarks.map(({ name }) => name)),
    [['store', 'streams'], ['store']],
  );
});

t.test('a benchmark that does not exist is refused with the names of those that do', async (t) => {
  const { code, printed } = await bench(['strems']);
  t.equal(code, 1);
  t.match(printed, "there is no benchmark 'strems'; allowed: store, streams, ttft, startup, idle, paced");
});
