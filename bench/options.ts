import { parseArgs } from 'node:util';
import { BenchError } from './error.ts';

/** The command line of the benchmarks. */

export type Options = {
  /** Names of benchmarks; empty for all. */
  names: string[];
  rounds: number | undefined;
  /** Seconds. */
  duration: number | undefined;
  openRuns: number;
  short: boolean;
  /** A built checkout to measure instead of this tree. */
  build: string | undefined;
  /** A result, or a built checkout. */
  against: string | undefined;
  /** A result to use instead of measuring. */
  from: string | undefined;
  /** Root folder of another Linux. */
  root: string | undefined;
  /** Command that starts LiteLLM. */
  litellm: string | undefined;
  /** Folder for profiles. */
  profile: string | undefined;
  json: string | undefined;
  markdown: boolean;
  updateDocs: boolean;
  help: boolean;
};

const ROWS = {
  rounds: ['N', 'number of measurements of each row, alternating with its baseline (3; soak 1)'],
  duration: [
    'SECONDS',
    'duration of the load in a round; soak: total duration (default: that of the benchmark)',
  ],
  'open-runs': ['N', 'runs that are open when the server of `recovery` is killed (1000)'],
  against: ['RESULT', 'compare with a result, or with the build of another checkout, in alternating rounds'],
  from: ['RESULT', 'use this result instead of a measurement'],
  build: ['FOLDER', 'measure the build in this checkout; without it, this tree is built and measured'],
  root: [
    'FOLDER',
    'root of a Linux whose C library `streams` and `starts` use where uWebSockets.js needs it (.ci/debian-13-root)',
  ],
  litellm: ['COMMAND', 'starts LiteLLM, which `provider` measures too'],
  profile: [
    'FOLDER',
    'write a CPU and an allocation profile of `provider` here, print them by module, and skip all measurements',
  ],
  json: ['FILE', 'where the result is written (.bench/TIME-COMMIT.json)'],
  markdown: [undefined, 'print the rows as a Markdown table'],
  'update-docs': [
    undefined,
    'write the table of the benchmark into src/docs/benchmarks.md, between its marks: one benchmark must be named',
  ],
  short: [undefined, 'short rounds that only check that everything runs; the figures have no meaning'],
  help: [undefined, 'this text'],
} as const satisfies Record<string, readonly [string | undefined, string]>;

export const helpText = (benchmarks: readonly { name: string; title: string }[]): string => {
  const options = Object.entries(ROWS).map(([name, [value, text]]) => [
    `--${name}${value === undefined ? '' : ` ${value}`}`,
    text,
  ]);
  const names = benchmarks.map(({ name, title }) => [name, title.replace(`${name}: `, '')]);
  const lines = (rows: string[][]): string =>
    rows.map(([left = '', right = '']) => `  ${left.padEnd(29)}${right}\n`).join('');
  return (
    'npm run bench -- [benchmarks…] [options]: compares the service with its baselines, in all benchmarks by default.\n\n' +
    `Options:\n${lines(options)}\nBenchmarks:\n${lines(names)}\n` +
    'It fails when a server does, when something grows without bound (soak), and with --against when a row that\n' +
    'counts lost more than 10 %: its medians differ by that and its rounds do not overlap, also after the\n' +
    'benchmarks with such rows were measured once more.\n'
  );
};

/** @throws BenchError with the allowed values */
export const parseOptions = (args: readonly string[], benchmarks: readonly string[]): Options => {
  const { values, positionals } = parsed(args);
  const unknown = positionals.find((name) => !benchmarks.includes(name));
  if (unknown !== undefined) {
    throw new BenchError(`unknown benchmark '${unknown}'; allowed: ${benchmarks.join(', ')}`);
  }
  const options = {
    names: positionals,
    rounds: values.rounds === undefined ? undefined : count('--rounds', values.rounds),
    duration: values.duration === undefined ? undefined : seconds('--duration', values.duration),
    openRuns: count('--open-runs', values['open-runs'] ?? (values.short ? '5' : '1000')),
    short: values.short ?? false,
    build: values.build,
    against: values.against,
    from: values.from,
    root: values.root,
    litellm: values.litellm,
    profile: values.profile,
    json: values.json,
    markdown: values.markdown ?? false,
    updateDocs: values['update-docs'] ?? false,
    help: values.help ?? false,
  };
  checkCombination(options);
  return options;
};

const checkCombination = ({ names, from, build, json, profile, updateDocs }: Options): void => {
  if (from !== undefined && (build !== undefined || json !== undefined)) {
    throw new BenchError('--from uses an existing result, so neither --build nor --json is allowed');
  }
  if (profile !== undefined && names.join() !== 'provider') {
    throw new BenchError('--profile: name the benchmark provider, and no other');
  }
  if (updateDocs && names.length !== 1) {
    throw new BenchError('--update-docs: name one benchmark, such as provider');
  }
};

const parsed = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        rounds: { type: 'string' },
        duration: { type: 'string' },
        'open-runs': { type: 'string' },
        against: { type: 'string' },
        from: { type: 'string' },
        build: { type: 'string' },
        root: { type: 'string' },
        json: { type: 'string' },
        litellm: { type: 'string' },
        profile: { type: 'string' },
        markdown: { type: 'boolean' },
        'update-docs': { type: 'boolean' },
        short: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error);
    throw new BenchError(
      `${reason}; allowed: ${Object.keys(ROWS)
        .map((name) => `--${name}`)
        .join(', ')}`,
    );
  }
};

const count = (option: string, text: string): number => {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new BenchError(`${option}: '${text}' is not a count; allowed: a whole number from 1 on`);
};

const seconds = (option: string, text: string): number => {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value > 0) return value;
  throw new BenchError(`${option}: '${text}' is not a time; allowed: seconds, such as 4 or 0.5`);
};
