import { fromPromise } from 'xstate';
import { runMachine } from '../../../machines/run.ts';
import type { Decided, Parking, RunContext, RunEnding } from '../../../machines/run-types.ts';
import { act } from '../../loop/act.ts';
import { decide } from '../../loop/decide.ts';
import { infer } from '../../loop/infer.ts';
import { wantedOutput } from '../../loop/output.ts';
import { afterCalls, validate } from '../../loop/validate.ts';
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
} from './commit-steps.ts';
import type { Execution } from './execution.ts';

/** The run machine bound to the services of this process, each on its execution. */

// The host of every run machine that this module starts is an Execution.
const executionOf = ({ host }: { host: object }): Execution => host as Execution;

/** The machine sets the ending before it invokes a service that needs it. */
const endingOf = ({ ending }: RunContext): RunEnding => ending ?? { type: 'natural_end' };

const logFailure = <Result>(
  execution: Execution,
  signal: AbortSignal,
  done: Promise<Result>,
): Promise<Result> => {
  // A side branch of the promise: logging must not delay the result, because a reader that has reached the end of the
  // stream must find the machine in its next state.
  done.catch((error) => {
    if (!signal.aborted) noteFault(execution, error);
  });
  return done;
};

const loggingFailures = <Result>(
  work: (execution: Execution, call: { input: RunContext; signal: AbortSignal }) => Promise<Result>,
) =>
  fromPromise<Result, RunContext>((call) => {
    const execution = executionOf(call.input);
    return logFailure(execution, call.signal, work(execution, call));
  });

/** Bound once per process, since binding a machine is expensive. */
export const boundRunMachine: typeof runMachine = runMachine.provide({
  guards: {
    mustValidate: ({ context }) => wantedOutput(executionOf(context).turn) !== undefined,
    mustConclude: ({ context }) => mustConclude(executionOf(context)),
  },
  actors: {
    decide: loggingFailures<Decided>(async (execution, { signal }) => {
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
        if (!signal.aborted) noteFailure(execution, error, input);
        throw error;
      }
    }),
    act: loggingFailures(async (execution, { signal }) => {
      const outcome = await act(execution.turn, signal);
      if (signal.aborted) return outcome;
      const acted = await afterCalls(execution.turn, outcome, signal);
      if (acted.kind === 'answered') answered(execution);
      return acted;
    }),
    validate: loggingFailures(async (execution, { signal }) => {
      const outcome = await validate(execution.turn, signal);
      if (outcome.kind === 'fits' && !signal.aborted) answered(execution);
      return outcome;
    }),
    checkpoint: loggingFailures((execution, { signal }) => checkpoint(execution, signal)),
    reschedule: loggingFailures((execution, { input }) => reschedule(execution, input)),
    reclaim: loggingFailures((execution) => reclaim(execution)),
    park: fromPromise<void, Parking>(({ input, signal }) => {
      const execution = executionOf(input);
      return logFailure(execution, signal, park(execution, input.waits, signal));
    }),
    conclude: loggingFailures((execution, { input, signal }) => conclude(execution, endingOf(input), signal)),
    finish: loggingFailures((execution, { input }) => finish(execution, endingOf(input))),
  },
  actions: { reportParked: ({ context }) => reportParked(executionOf(context)) },
  delays: {
    retryDelay({ context }) {
      const { deps } = executionOf(context);
      return delayOf(deps.settings.mailbox, context);
    },
  },
});
