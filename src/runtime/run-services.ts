import { fromPromise } from 'xstate';
import { type Parking, type RunContext, type RunEnding, runMachine } from '../../machines/run.ts';
import { act } from '../loop/act.ts';
import { decide } from '../loop/decide.ts';
import { infer } from '../loop/infer.ts';
import { wantedOutput } from '../loop/output.ts';
import { afterCalls, validate } from '../loop/validate.ts';
import type { Execution } from './execution.ts';
import {
  answered,
  beginDeciding,
  checkpoint,
  conclude,
  delayOf,
  finish,
  mustConclude,
  noteFailure,
  noteFault,
  park,
  reclaim,
  reportParked,
  reschedule,
} from './run-work.ts';

/** The run machine with the services of this process, each on its execution. */

// The host of every run machine that this room starts is an Execution.
const executionOf = ({ host }: { host: object }): Execution => host as Execution;

/** The machine sets it before it asks for an end. */
const endingOf = ({ ending }: RunContext): RunEnding => ending ?? { type: 'natural_end' };

const heard = <Result>(execution: Execution, signal: AbortSignal, done: Promise<Result>): Promise<Result> => {
  // Beside the promise, not behind it: whoever reads the stream to its end must find the machine moved on.
  done.catch((error) => {
    if (!signal.aborted) noteFault(execution, error);
  });
  return done;
};

const telling = <Result>(
  work: (execution: Execution, call: { input: RunContext; signal: AbortSignal }) => Promise<Result>,
) =>
  fromPromise<Result, RunContext>((call) => {
    const execution = executionOf(call.input);
    return heard(execution, call.signal, work(execution, call));
  });

/** Made once a process, since binding a machine is not cheap. */
export const boundRunMachine: typeof runMachine = runMachine.provide({
  guards: {
    mustValidate: ({ context }) => wantedOutput(executionOf(context).turn) !== undefined,
    mustConclude: ({ context }) => mustConclude(executionOf(context)),
  },
  actors: {
    decide: telling(async (execution, { signal }) => {
      await beginDeciding(execution, signal);
      return decide(execution.turn, signal);
    }),
    infer: fromPromise(async ({ input, signal }) => {
      const execution = executionOf(input);
      try {
        const outcome = await infer(execution.turn, signal);
        if (outcome.kind === 'answer' && !signal.aborted) answered(execution);
        return outcome;
      } catch (error) {
        if (!signal.aborted) noteFailure(execution, error);
        throw error;
      }
    }),
    act: telling(async (execution, { signal }) => {
      const outcome = await act(execution.turn, signal);
      if (signal.aborted) return outcome;
      const led = afterCalls(execution.turn, outcome);
      if (led.kind === 'answered') answered(execution);
      return led;
    }),
    validate: telling(async (execution, { signal }) => {
      const outcome = await validate(execution.turn, signal);
      if (outcome.kind === 'fits' && !signal.aborted) answered(execution);
      return outcome;
    }),
    checkpoint: telling((execution, { signal }) => checkpoint(execution, signal)),
    reschedule: telling((execution, { input }) => reschedule(execution, input)),
    reclaim: telling((execution) => reclaim(execution)),
    park: fromPromise<void, Parking>(({ input, signal }) => {
      const execution = executionOf(input);
      return heard(execution, signal, park(execution, input.waits, signal));
    }),
    conclude: telling((execution, { input, signal }) => conclude(execution, endingOf(input), signal)),
    finish: telling((execution, { input }) => finish(execution, endingOf(input))),
  },
  actions: { reportParked: ({ context }) => reportParked(executionOf(context)) },
  delays: {
    retryDelay({ context }) {
      const { deps } = executionOf(context);
      return delayOf(deps.settings.mailbox, context);
    },
  },
});
