import type { Benchmark } from './benchmark.ts';
import { bombs } from './bombs.ts';
import { config } from './config.ts';
import { fanOut } from './fan-out.ts';
import { growth } from './growth.ts';
import { idle } from './idle.ts';
import { longRun } from './long-run.ts';
import { paced } from './paced.ts';
import { protocols } from './protocols.ts';
import { startup } from './startup.ts';
import { store } from './store.ts';
import { streams } from './streams.ts';
import { ttft } from './ttft.ts';

/** All benchmarks, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  store,
  streams,
  protocols,
  ttft,
  startup,
  idle,
  paced,
  growth,
  longRun,
  fanOut,
  config,
  bombs,
];
