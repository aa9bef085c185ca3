import type { Build } from './build.ts';
import type { Measured } from './row.ts';

export type Context = {
  /** A smoke run: the figures mean nothing. */
  short: boolean;
  /** What is measured. */
  build: Build;
  /** How often each of the things that are compared has its turn. */
  rounds: number;
  /** How long a turn of a load is; what a benchmark takes for it when nobody says. */
  roundMs(usual: number): number;
  /** How many runs are open when the server of `recovery` is killed. */
  openRuns: number;
  note(text: string): void;
  /** An empty folder that is removed at the end. */
  folder(): string;
};

export type Benchmark = {
  name: string;
  title: string;
  run(context: Context): Promise<Measured[]>;
};
