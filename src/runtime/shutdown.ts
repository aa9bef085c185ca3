import { monotonic } from '../schema/clock.ts';
import { withTimeout } from '../schema/with-timeout.ts';
import type { RuntimeDeps } from './deps.ts';
import { quiet } from './ledger/ledger.ts';
import type { Maintenance } from './maintenance/index.ts';
import type { Recovery } from './maintenance/recovery.ts';
import type { EphemeralRuns } from './run/ephemeral.ts';
import { releaseThread } from './thread/lifecycle.ts';
import { isExecuting, isPausing } from './thread/requests.ts';
import { STOPPING, type Supervisor } from './thread/supervisor.ts';

/** How far the service has stopped: while `stopping`, running runs continue; then they are released. */
export type Shutdown = { phase: 'running' | 'stopping' | 'released' };

type Parts = {
  deps: Pick<RuntimeDeps, 'clock'>;
  service: Shutdown;
  recovery: Recovery;
  maintenance: Maintenance | undefined;
  supervisor: Supervisor;
  ephemeral: EphemeralRuns;
};

/** Maximum wait for commits in progress after everything else was released. */
const LAST_COMMITS_MS = 10_000;

/**
 * Stops accepting work, waits for running runs up to the timeout, and releases the rest. `waiting` receives the number
 * of running runs initially and after each change.
 */
export async function shutDown(
  parts: Parts,
  timeoutMs: number,
  waiting: (runs: number) => void,
): Promise<void> {
  const { service, recovery, maintenance, supervisor, ephemeral } = parts;
  if (service.phase === 'running') service.phase = 'stopping';
  recovery.stop();
  ephemeral.close();
  maintenance?.stop();
  supervisor.stopTasks();
  await waitForRuns(parts, timeoutMs, waiting);
  service.phase = 'released';
  const busy = supervisor.busy();
  for (const thread of busy) releaseThread(thread, STOPPING);
  ephemeral.release(STOPPING);
  supervisor.failedThreads.endStreams(STOPPING);
  // The last frame of an ending run is sent when its end is durable. The timeout keeps a hanging disk from blocking.
  await withTimeout(Promise.all(busy.map(({ ledger }) => quiet(ledger))), LAST_COMMITS_MS);
  // One event-loop tick lets the last frames reach their buffers.
  await pause(0);
  supervisor.close();
}

async function waitForRuns(
  { deps, supervisor, ephemeral }: Parts,
  timeoutMs: number,
  waiting: (runs: number) => void,
): Promise<void> {
  const deadline = monotonic(deps.clock) + timeoutMs;
  // A run that pauses before its next attempt has no progress to wait for.
  const running = (): number =>
    supervisor.busy().filter((thread) => isExecuting(thread) && !isPausing(thread)).length + ephemeral.live();
  let reported = 0;
  for (let runs = running(); runs > 0 && monotonic(deps.clock) < deadline; runs = running()) {
    if (runs !== reported) waiting(runs);
    reported = runs;
    await pause(20);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
