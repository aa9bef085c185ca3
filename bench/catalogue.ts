import type { Benchmark } from './benchmark.ts';
import { bombs } from './bombs.ts';
import { budgets } from './budgets.ts';
import { cluster } from './cluster/index.ts';
import { takeover } from './cluster/takeover.ts';
import { config } from './config.ts';
import { consoleFrames } from './console.ts';
import { consoleHeap } from './console-heap.ts';
import { costs } from './costs.ts';
import { fanOut } from './fan-out.ts';
import { forwarding } from './forwarding.ts';
import { growth } from './growth.ts';
import { halfLoad } from './half-load.ts';
import { identity } from './identity.ts';
import { idle } from './idle.ts';
import { install } from './install.ts';
import { longRun } from './long-run.ts';
import { openai } from './openai/index.ts';
import { paced } from './paced.ts';
import { protocols } from './protocols.ts';
import { provider } from './provider/index.ts';
import { recovery } from './recovery.ts';
import { resume } from './resume.ts';
import { soak } from './soak.ts';
import { starts } from './starts.ts';
import { startup } from './startup.ts';
import { store } from './store.ts';
import { streams } from './streams.ts';
import { telemetry } from './telemetry.ts';
import { toolRuns } from './tool-runs.ts';
import { ttft } from './ttft.ts';
import { uploads } from './uploads.ts';
import { watched } from './watched.ts';

/** All benchmarks, in the order in which they run. */
export const BENCHMARKS: readonly Benchmark[] = [
  provider,
  store,
  cluster,
  takeover,
  forwarding,
  streams,
  costs,
  protocols,
  openai,
  toolRuns,
  telemetry,
  uploads,
  ttft,
  halfLoad,
  resume,
  startup,
  starts,
  install,
  recovery,
  identity,
  budgets,
  idle,
  paced,
  growth,
  longRun,
  fanOut,
  config,
  bombs,
  watched,
  consoleFrames,
  consoleHeap,
  soak,
];
