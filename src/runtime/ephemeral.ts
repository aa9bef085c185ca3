import { type Actor, createActor } from 'xstate';
import { abandonStep } from '../loop/step.ts';
import { Unavailable } from '../schema/outcome.ts';
import type { Attach } from './channel.ts';
import type { RuntimeDeps } from './deps.ts';
import { finishOf } from './ending.ts';
import { createHost, createMemory, type MemoryInput } from './ephemeral-host.ts';
import { identityOf } from './records.ts';
import { type BoundRunMachine, bindRunMachine } from './run-services.ts';

/**
 * Runs that nobody keeps: the client brings the whole history with each request and takes away what came of it.
 *
 * Guarantees: the run machine and the loop of every other run, live in the inspection of actors, and not one read
 * or write of the store. A call that waits for a decision ends the run; the next request brings the call and the
 * decision, and a run of another id goes on. Without the client there is nobody whom a run could be for: it is
 * cancelled when its signal fires. Nothing survives the process.
 * Relies on the client for what it says of earlier calls.
 */

export type EphemeralInput = MemoryInput & {
  attach: Attach;
  signal: AbortSignal;
  /** What the stream says of a failure, in the words of whoever answers for the run. */
  failed(reason: string): string;
};

/** With an end; for a decision; or because the service stops. */
type End = 'ended' | 'suspended' | 'released';

export type EphemeralRun = {
  run_id: string;
  /** Resolves when its stream has ended. */
  done: Promise<End>;
};

export type EphemeralRuns = {
  /** @throws Unavailable when the service stops */
  start(input: EphemeralInput): EphemeralRun;
  live(): number;
  /** No new ones. */
  close(): void;
  /** Lets go of those that live; their streams are told the reason. */
  release(reason: string): void;
};

export const createEphemeralRuns = (deps: RuntimeDeps): EphemeralRuns => {
  const machine = bindRunMachine(deps);
  const live = new Set<Live>();
  let closed = false;
  return {
    start(input) {
      if (closed) throw new Unavailable('service is shutting down');
      const run = begin(deps, machine, input);
      live.add(run);
      const done = run.done
        .catch((error): End => {
          deps.log.error({ err: error, run_id: run.run_id }, 'the end of a run failed');
          return 'released';
        })
        .finally(() => live.delete(run));
      return { run_id: run.run_id, done };
    },
    live: () => live.size,
    close: () => {
      closed = true;
    },
    release(reason) {
      for (const run of live) run.release(reason);
    },
  };
};

type Live = EphemeralRun & { release(reason: string): void };

const begin = (deps: RuntimeDeps, machine: BoundRunMachine, input: EphemeralInput): Live => {
  const memory = createMemory(deps, input);
  const { run, turn, channel } = memory;
  const { run_id, thread_id } = run;
  let end: End = 'released';
  let released = 'the run was given up';

  const host = createHost(memory, {
    parked() {
      end = 'suspended';
      // Nobody waits here: the next request brings what is waited for.
      actor.send({ type: 'RELEASE' });
    },
    ended() {
      end = 'ended';
    },
    failed: input.failed,
    broke: (err) => deps.log.error({ err, run_id }, 'what the run was doing failed'),
  });
  const entry = input.waiting.length > 0 ? 'decisions' : 'inference';
  const maxAttempts = deps.settings.mailbox.max_attempts;
  const actor = createActor(machine, { input: { host, entry, attempt: 0, maxAttempts } });
  const gone = deps.actors.began(actor, { machine: 'run', id: run_id, scope: input.scope });
  const cancel = (): void => actor.send({ type: 'CANCEL' });

  const done = settled(deps, actor, run_id).then(() => {
    gone();
    input.signal.removeEventListener('abort', cancel);
    if (end === 'released') {
      abandonStep(turn);
      channel.emit(finishOf(run, { type: 'error', value: input.failed(released) }));
    }
    channel.close();
    return end;
  });

  input.attach(channel);
  channel.emit({ event_type: 'run_start', thread_id, run_id, identity: identityOf(run) });
  actor.start();
  actor.send({ type: 'CLAIM' });
  input.signal.addEventListener('abort', cancel);
  if (input.signal.aborted) cancel();

  return {
    run_id,
    done,
    release(reason) {
      released = reason;
      actor.send({ type: 'RELEASE' });
    },
  };
};

const settled = ({ log }: RuntimeDeps, actor: Actor<BoundRunMachine>, run_id: string): Promise<void> =>
  new Promise((resolve) => {
    actor.subscribe({
      complete: resolve,
      error(error) {
        log.error({ err: error, run_id }, 'the run machine failed');
        resolve();
      },
    });
  });
