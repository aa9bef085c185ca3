import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { BenchError } from './error.ts';
import { Machine } from './machine.ts';

/** A result as a file: the figures with every sample, and the host, so that another result can be compared with it. */

const VERSION = 1;

/** JSON has no NaN and no Infinity: a figure that could not be measured is null. */
const Figure = z
  .number()
  .nullable()
  .transform((value) => value ?? Number.NaN);

const Range = z.object({ median: Figure, min: Figure, max: Figure });

const aimOf = z.enum(['value', 'ratio', 'p99']);

const Row = z.object({
  metric: z.string(),
  unit: z.string(),
  better: z.enum(['lower', 'higher']),
  value: Range,
  samples: z.array(Figure).min(1),
  baseline: z.object({ name: z.string(), value: Range, samples: z.array(Figure) }).exactOptional(),
  ratio: Range.exactOptional(),
  rates: z.object({ troupe: Figure, baseline: Figure.exactOptional() }).exactOptional(),
  p50: Figure.exactOptional(),
  p99: Figure.exactOptional(),
  aim: z
    .union([z.object({ of: aimOf, most: z.number() }), z.object({ of: aimOf, least: z.number() })])
    .exactOptional(),
  counted: z.boolean(),
  reason: z.string().exactOptional(),
});

const Outcome = z.object({
  name: z.string(),
  title: z.string(),
  rows: z.array(Row),
  notes: z.array(z.string()),
});
export type Outcome = z.output<typeof Outcome>;

const Settings = z.object({
  short: z.boolean(),
  /** null: the number of each benchmark. */
  rounds: z.int().nullable(),
  /** Seconds; null: the duration of each benchmark. */
  duration: z.number().nullable(),
  open_runs: z.int(),
});
export type Settings = z.output<typeof Settings>;

const Result = z.object({
  version: z.literal(VERSION),
  at: z.iso.datetime(),
  commit: z.string(),
  machine: Machine,
  settings: Settings,
  benchmarks: z.array(Outcome),
});
export type Result = z.output<typeof Result>;

export const createResult = (
  commit: string,
  machine: Machine,
  settings: Settings,
  benchmarks: Outcome[],
): Result => ({ version: VERSION, at: new Date().toISOString(), commit, machine, settings, benchmarks });

/** @throws BenchError */
export const readResult = (file: string): Result => {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new BenchError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  const parsed = Result.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new BenchError(`${file} is no result of the benchmarks:\n${z.prettifyError(parsed.error)}`);
};

export const writeResult = (file: string, result: Result): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(result, null, 2)}\n`);
};
