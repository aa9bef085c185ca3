import { fromPromise } from 'xstate';
import {
  type Checkpointed,
  type Parking,
  type RunContext,
  type RunEnding,
  type RunEntry,
  runMachine,
  type WaitsFor,
} from '../../machines/run.ts';
import { act } from '../loop/act.ts';
import { decide } from '../loop/decide.ts';
import { infer } from '../loop/infer.ts';
import type { Turn } from '../loop/turn.ts';
import type { RuntimeDeps } from './deps.ts';

/** The run machine with the services of this process, each on the host of its run (`execution.ts`, `ephemeral-host.ts`). */

/** What the services of the machine work on: the context's `host`. */
export type Host = {
  turn: Turn;
  beginDeciding(signal: AbortSignal): Promise<void>;
  /** The model has answered: input that waited for this moment makes another step. */
  answered(): void;
  checkpoint(signal: AbortSignal): Promise<Checkpointed>;
  reschedule(context: RunContext): Promise<void>;
  reclaim(): Promise<{ entry: RunEntry }>;
  park(waits: WaitsFor, signal: AbortSignal): Promise<void>;
  parked(): void;
  conclude(ending: RunEnding, signal: AbortSignal): Promise<void>;
  finish(ending: RunEnding): Promise<void>;
  /** An inference failed. */
  failed(error: unknown): void;
  /** Something else did: a hook, the store, or a mistake that nobody else would hear of. */
  broke(error: unknown): void;
};

// The host of every run machine that this room starts is made here or in ephemeral.ts, and is a Host.
const hostOf = ({ host }: { host: object }): Host => host as Host;

/** The machine sets it before it asks for an end. */
const endingOf = ({ ending }: RunContext): RunEnding => ending ?? { type: 'natural_end' };

/** The retry delay of a dispatch in ms (runtime.md 10.4 rule 5). */
export const retryDelay = (settings: RuntimeDeps['settings']['mailbox'], attempt: number): number =>
  Math.min(settings.retry_cap_ms, settings.retry_base_ms * 2 ** Math.min(Math.max(attempt - 1, 0), 6));

const heard = <Result>(host: Host, signal: AbortSignal, done: Promise<Result>): Promise<Result> => {
  // Beside the promise, not behind it: whoever reads the stream to its end must find the machine moved on.
  done.catch((error) => {
    if (!signal.aborted) host.broke(error);
  });
  return done;
};

const telling = <Result>(
  work: (host: Host, call: { input: RunContext; signal: AbortSignal }) => Promise<Result>,
) =>
  fromPromise<Result, RunContext>((call) => {
    const host = hostOf(call.input);
    return heard(host, call.signal, work(host, call));
  });

/** The run machine with the services of this process; made once, since binding a machine is not cheap. */
export const bindRunMachine = (deps: RuntimeDeps) =>
  runMachine.provide({
    actors: {
      decide: telling(async (host, { signal }) => {
        await host.beginDeciding(signal);
        return decide(host.turn, signal);
      }),
      infer: fromPromise(async ({ input, signal }) => {
        const host = hostOf(input);
        try {
          const outcome = await infer(host.turn, signal);
          if (outcome.kind === 'answer' && !signal.aborted) host.answered();
          return outcome;
        } catch (error) {
          if (!signal.aborted) host.failed(error);
          throw error;
        }
      }),
      act: telling((host, { signal }) => act(host.turn, signal)),
      checkpoint: telling((host, { signal }) => host.checkpoint(signal)),
      reschedule: telling((host, { input }) => host.reschedule(input)),
      reclaim: telling((host) => host.reclaim()),
      park: fromPromise<void, Parking>(({ input, signal }) => {
        const host = hostOf(input);
        return heard(host, signal, host.park(input.waits, signal));
      }),
      conclude: telling((host, { input, signal }) => host.conclude(endingOf(input), signal)),
      finish: telling((host, { input }) => host.finish(endingOf(input))),
    },
    actions: { reportParked: ({ context }) => hostOf(context).parked() },
    delays: { retryDelay: ({ context }) => retryDelay(deps.settings.mailbox, context.attempt) },
  });

export type BoundRunMachine = ReturnType<typeof bindRunMachine>;
