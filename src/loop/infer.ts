import { excerpt } from '../models/bounds.ts';
import { addUsd } from '../models/cost.ts';
import { byIn, ModelError, usageIn } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest } from '../models/model.ts';
import { isBetweenTries } from '../models/retry.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import {
  contentOf,
  type Ending,
  type InferOutcome,
  keepAnswer,
  openStep,
  reportInference,
} from './answer.ts';
import { joinAnswer } from './answer-parts.ts';
import { noteLostAttempt } from './attempts.ts';
import { handOver, noteActive } from './handoff.ts';
import { listen } from './hearing.ts';
import { observeInference } from './observe-inference.ts';
import {
  type OutputPlan,
  planOutput,
  requestWithOutput,
  unsupportedMode,
  type WantedOutput,
  wantedOutput,
} from './output.ts';
import { runPhase } from './phases.ts';
import { converse } from './remote.ts';
import { requestFor } from './request.ts';
import { createOutputReader } from './result-call.ts';
import { count, countFailure, startCount } from './rounds.ts';
import { interruptCalls } from './settle.ts';
import { mustWait } from './tasks.ts';
import { produce, type Step, type Turn } from './turn.ts';
import { takeResult } from './validate.ts';

/** One inference: opens the step, sends the prompt, and keeps what must be committed of the answer. */

/** An inference that failed; the message is what `termination.value` says. */
export class InferenceFailed extends Error {
  readonly transient: boolean;
  /** True when trying again cannot help; the dispatch is dead-lettered. */
  readonly permanent: boolean;
  /** No model was called. */
  readonly heldBack: boolean;
  /** The run waits at least so long before its next attempt. */
  readonly retryAfterMs: number;

  constructor(cause: unknown) {
    super(`inference failed: ${excerpt(wordsOf(cause))}`, { cause });
    this.name = 'InferenceFailed';
    this.transient = cause instanceof ModelError ? cause.transient : true;
    this.permanent = !this.transient;
    this.heldBack = cause instanceof ModelError && cause.heldBack;
    this.retryAfterMs = cause instanceof ModelError ? (cause.retryAfterSeconds ?? 0) * 1000 : 0;
  }

  /** For a line of the log: the words once. Where a failure of the model itself came from tells nobody anything. */
  get told(): object {
    const { message, cause } = this;
    if (!(cause instanceof ModelError)) return { err: { message, stack: excerpt(stackOf(cause)) } };
    const { class: kind, status, by } = cause;
    return {
      err: {
        message,
        class: kind,
        ...(status !== undefined && { status }),
        ...(by && { model: by.id }),
        // Of a pool: why its last member was given up.
        ...(cause.cause instanceof ModelError && { cause: cause.cause.message }),
      },
    };
  }
}

/** Of a stream that broke off because the provider said so, with the words of the provider. */
const wordsOf = (cause: unknown): string => {
  if (!(cause instanceof ModelError))
    return maskForeign(cause instanceof Error ? cause.message : String(cause));
  const { class: kind, message, cause: from } = cause;
  return kind === 'stream_interrupted' && from instanceof ModelError
    ? `${message}: ${from.message}`
    : message;
};

const stackOf = (cause: unknown): string => maskForeign((cause instanceof Error && cause.stack) || '');

/** The model is asked again after a while, and nothing is done until then. */
export const isPausing = ({ inference }: Turn): boolean =>
  inference !== undefined && isBetweenTries(inference);

export const infer = async (turn: Turn, signal: AbortSignal): Promise<InferOutcome> => {
  if (!turn.begun) {
    turn.begun = true;
    startCount(turn);
    noteActive(turn);
    await runPhase(turn, 'run_start', signal);
  }
  const refused = handOver(turn);
  if (refused !== undefined) return stopped({ type: 'blocked', value: refused });
  const wanted = wantedOutput(turn);
  const { remote } = turn.agent;
  if (remote) {
    if (wanted && !planOutput(turn, wanted, [])) return stopped(refusedMode(turn, wanted));
    return converse(turn, remote, signal);
  }
  const step = openStep(turn);
  await runPhase(turn, 'step_start', signal);
  await runPhase(turn, 'before_inference', signal);
  if (signal.aborted) return NOTHING;
  const output = wanted && createOutputReader(turn, step);
  const hearing = listen(turn, step, output?.stream);
  const { attempts } = hearing;
  turn.inference = signal;
  let end: InferenceEnd;
  let request: InferenceRequest | undefined;
  let plan: OutputPlan | undefined;
  const step_index = step.index;
  try {
    request = requestFor(turn, step, signal);
    plan = wanted && planOutput(turn, wanted, request.tools);
    if (wanted && !plan) return stopped(refusedMode(turn, wanted));
    const sent = plan ? requestWithOutput(turn, plan, request) : request;
    const sink = plan && output ? output.sinkFor(plan, hearing.sink) : hearing.sink;
    noteLostAttempt(turn, sent);
    attempts.begin(sent);
    end = await turn.agent.model.stream(sent, sink, signal);
  } catch (error) {
    attempts.brokeOff(usageIn(error), byIn(error));
    attempts.end();
    const call = { startedAt: step.startedAt, firstAt: hearing.firstAt(), error };
    const traced = { step_index, request, sent: step.sent, lost: attempts.lost() };
    // One that was cut off has not failed.
    observeInference(turn, signal.aborted ? call : { ...call, traced });
    const verdict = signal.aborted ? undefined : countFailure(turn);
    if (verdict) return stopped(verdict);
    throw new InferenceFailed(error);
  }
  attempts.end();
  if (signal.aborted) return NOTHING;
  if (end.cutShort) {
    turn.warn({ step_index, model: turn.agent.model.id }, 'the provider did not say that its answer ended');
  }
  hearing.settle(end.stop);
  takeResult(turn, step, plan, end.stop === 'MaxTokens');
  observeInference(turn, {
    startedAt: step.startedAt,
    firstAt: hearing.firstAt(),
    end,
    ...(turn.trace && { traced: answered(turn, step, request) }),
  });
  return conclude(turn, { step, end, signal });
};

const refusedMode = (turn: Turn, wanted: WantedOutput): Ending => ({
  type: 'error',
  value: unsupportedMode(turn, wanted),
});

const answered = (turn: Turn, step: Step, request: InferenceRequest) => ({
  step_index: step.index,
  request,
  sent: step.sent,
  content: contentOf([], step),
  calls: turn.calls.map(({ call }) => call),
  ...(step.attempts && { lost: step.attempts.lost() }),
});

/** The machine has moved on and another service closes the step; nothing of this inference may be kept. */
const NOTHING: InferOutcome = { kind: 'answer' };

const stopped = (ending: Ending): InferOutcome => ({ kind: 'stopped', ending });

type Concluded = { step: Step; end: InferenceEnd; signal: AbortSignal };

const conclude = async (turn: Turn, { step, end, signal }: Concluded): Promise<InferOutcome> => {
  turn.inputTokens += end.usage?.prompt_tokens ?? 0;
  turn.outputTokens += end.usage?.completion_tokens ?? 0;
  turn.costUsd = addUsd(turn.costUsd, end.cost_usd);
  turn.note = end.note;
  reportInference(turn, end);
  // Calls that came whole are executed, and their results continue the answer. A result is asked for again as a whole.
  const cutOff =
    end.stop === 'MaxTokens' &&
    turn.answer === undefined &&
    turn.calls.length === 0 &&
    turn.continuations < turn.agent.spec.max_continuation_retries;
  keepAnswer(turn, step);
  turn.answered = !cutOff && turn.calls.length === 0;
  const verdict = count(turn, {
    text: step.text,
    calls: turn.calls.map(({ call }) => call),
    usage: end.usage,
  });
  const ends = await runPhase(turn, 'after_inference', signal, {
    inference: {
      text: step.text,
      calls: turn.calls.map(({ call }) => call),
      usage: end.usage,
      model: end.by?.upstream ?? turn.agent.model.upstream,
    },
  });
  if (signal.aborted) return NOTHING;
  joinAnswer(turn, step.message_id);
  // An answer in the last allowed round ends by itself, unless new input makes another step.
  const ending: Ending | undefined = ends ? { type: 'behavior_requested' } : verdict;
  if (ending && ending.type !== 'natural_end') {
    interruptCalls(turn);
    return stopped(ending);
  }
  if (cutOff && !ending) return continueTruncated(turn);
  if (turn.calls.length > 0) return { kind: 'calls' };
  turn.answered = true;
  return (await mustWait(turn, signal)) ? { kind: 'pending_work' } : { kind: 'answer' };
};

const CONTINUE =
  'Your previous answer was cut off because it reached the output limit. Continue exactly where it stopped, in smaller pieces.';

const continueTruncated = (turn: Turn): InferOutcome => {
  turn.continuations += 1;
  produce(turn, {
    id: turn.ids.uuid(),
    role: 'user',
    content: [{ type: 'text', text: CONTINUE }],
    visibility: 'internal',
  });
  return { kind: 'truncated' };
};
