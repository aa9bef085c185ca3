import type { Build } from './build.ts';
import type { Measured } from './row.ts';

export type Context = {
  /** True for a smoke run, whose figures are meaningless. */
  short: boolean;
  build: Build;
  /** Duration of a load in one round; `usual` unless set by an option. */
  roundMs(usual: number): number;
  /** Number of open runs when the server of `recovery` is killed. */
  openRuns: number;
  /** Root folder of another Linux, whose C library a benchmark may use. */
  root: string | undefined;
  /** Command that starts LiteLLM. */
  litellm: string | undefined;
  /** Folder for profiles: a benchmark that supports profiles measures only the profiled rows. */
  profile: string | undefined;
  /** Adds a note below the table. */
  note(text: string): void;
  /** Prints progress immediately. */
  report(text: string): void;
  /** Creates an empty folder that is removed at the end. */
  folder(): string;
};

/**
 * A benchmark measures one round: it starts its processes, measures Troupe and the baselines in turns, and stops all of
 * them. The runner repeats this several times, alternating with another build when two are compared.
 */
export type Benchmark = {
  name: string;
  title: string;
  /** Default number of rounds; 3 if omitted. */
  rounds?: number;
  /** True if the rows are too many for the page of benchmarks. */
  long?: true;
  /** @throws BenchError when a server fails, because the figures are then meaningless */
  run(context: Context): Promise<Measured[]>;
};
