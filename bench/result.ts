import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Machine } from './machine.ts';

/** A figure of one benchmark. A ratio is of medians; its range is that of the single rounds. */
export type Row = {
  metric: string;
  unit: string;
  troupe: number;
  baseline?: number;
  ratio?: { value: number; min: number; max: number };
  p50?: number;
  p99?: number;
  target?: string;
};

export type Context = {
  /** A smoke run: the figures mean nothing. */
  short: boolean;
  /** The `main.js` that is measured. */
  server: string;
  note(text: string): void;
  /** An empty folder that is removed at the end. */
  folder(): string;
};

export type Benchmark = {
  name: string;
  title: string;
  run(context: Context): Promise<Row[]>;
};

export type Outcome = { name: string; rows: Row[]; notes: string[] };

/** One entry for each time that the benchmarks ran, the newest last. */
export const appendOutcomes = (file: string, machine: Machine, short: boolean, outcomes: Outcome[]): void => {
  const before: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const entries = Array.isArray(before) ? before : [];
  entries.push({ at: new Date().toISOString(), machine, short, benchmarks: outcomes });
  writeFileSync(file, `${JSON.stringify(entries, null, 2)}\n`);
};
