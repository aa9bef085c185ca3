import { Unavailable } from '../schema/outcome.ts';
import type { RuntimeDeps } from './deps.ts';
import { recover } from './recovery.ts';
import { createSupervisor } from './supervisor.ts';
import type { Accepted, Submission } from './thread.ts';
import { createThreads, type Threads } from './threads.ts';

export type { Protocol } from './channel.ts';
export {
  listMessages,
  type MessageFilter,
  type MessageStart,
  type Visibility,
} from './history-view.ts';
export type { UserMessage } from './thread.ts';
export { checkClientId } from './threads.ts';

/** The actors of threads and runs, and everything that may be asked of them. */
export type Runtime = {
  readonly threads: Threads;
  /**
   * Starts a run on a thread and takes the thread from whatever executes there (runtime.md 5.1).
   * Resolves once the input is durable.
   */
  submitForeground(scope: string, thread_id: string, submission: Submission): Promise<Accepted>;
  /** Takes up the work that an earlier process left behind. */
  recover(): void;
  /** Waits for running runs for so long, then lets them go; the next start takes them up. */
  stop(timeoutMs: number): Promise<void>;
};

export const createRuntime = (deps: RuntimeDeps): Runtime => {
  let stopping = false;
  const supervisor = createSupervisor(deps, () => !stopping);

  const executing = () => Array.from(supervisor.actors()).filter((actor) => actor.executing());

  return {
    threads: createThreads(deps, supervisor),
    async submitForeground(scope, thread_id, submission) {
      // Two actors that write the log of one thread at a time would give out the same sequence numbers.
      for (
        let gone = supervisor.retiring(scope, thread_id);
        gone;
        gone = supervisor.retiring(scope, thread_id)
      ) {
        await gone;
      }
      if (stopping) throw new Unavailable('service is shutting down');
      return supervisor.actor(scope, thread_id).submitForeground(submission);
    },
    recover: () => recover(deps, supervisor),
    async stop(timeoutMs) {
      stopping = true;
      const deadline = deps.clock.now() + timeoutMs;
      while (executing().length > 0 && deps.clock.now() < deadline) await pause(20);
      for (const actor of supervisor.actors()) actor.release('service is shutting down');
      // One turn of the loop: the last frames reach their buffers.
      await pause(0);
    },
  };
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
