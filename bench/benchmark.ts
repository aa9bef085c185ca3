import type { Build } from './build.ts';
import type { Measured } from './row.ts';

export type Context = {
  /** A smoke run: the figures mean nothing. */
  short: boolean;
  /** What is measured. */
  build: Build;
  /** How long a load is in one round; `usual` when nobody says. */
  roundMs(usual: number): number;
  /** How many runs are open when the server of `recovery` is killed. */
  openRuns: number;
  /** The root folder of another Linux, whose C library a benchmark may use. */
  root: string | undefined;
  /** The command of LiteLLM, which a benchmark may start. */
  litellm: string | undefined;
  /** The folder for profiles: a benchmark that can write one measures only the rows that it profiles. */
  profile: string | undefined;
  /** Below the table. */
  note(text: string): void;
  /** At once: how far it is. */
  report(text: string): void;
  /** An empty folder that is removed at the end. */
  folder(): string;
};

/**
 * A benchmark measures one round: it starts what it needs, measures Troupe and what stands beside it in turns, and
 * stops all of it. Whoever runs it does so several times, in turns with another build when two are compared.
 */
export type Benchmark = {
  name: string;
  title: string;
  /** How many rounds there are when nobody says; 3 when left out. */
  rounds?: number;
  /** Its rows are too many for the README. */
  long?: true;
  /** @throws BenchError when a server fails: a figure beside an error means nothing */
  run(context: Context): Promise<Measured[]>;
};
