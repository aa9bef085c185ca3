import { excerpt } from '../models/bounds.ts';
import { byIn, ModelError, usageIn } from '../models/errors.ts';
import type { InferenceEnd, InferenceRequest } from '../models/model.ts';
import { isBetweenTries } from '../models/retry.ts';
import { maskForeign } from '../schema/redaction/foreign.ts';
import type { Account, Granted } from '../schema/spending.ts';
import { allow, purposeOf, refusedEnding, withinAllowance } from './allowance.ts';
import {
  createContent,
  type Ending,
  type InferOutcome,
  keepAnswer,
  openStep,
  reportInference,
} from './answer.ts';
import { joinAnswer } from './answer-parts.ts';
import { noteLostAttempt } from './attempts.ts';
import { dropBudgetWaits, waitForBudget } from './budget-wait.ts';
import { handOver, noteActive } from './handoff.ts';
import { observeInference } from './observe-inference.ts';
import {
  type OutputPlan,
  planOutput,
  requestWithOutput,
  unsupportedMode,
  type WantedOutput,
  wantedOutput,
} from './output.ts';
import { restoreScratch, runPhase, type Scratch, scratchOf } from './phases.ts';
import { converse } from './remote.ts';
import { requestFor } from './request.ts';
import { createOutputReader } from './result-call.ts';
import { chargeInference, count, countFailure, startCount } from './rounds.ts';
import { interruptCalls } from './settle.ts';
import { receiveStream, type StreamReceiver } from './stream-receiver.ts';
import { mustWait } from './tasks.ts';
import { produce, type Step, type Turn } from './turn.ts';
import { takeResult } from './validate.ts';

/** One inference: opens the step, sends the prompt, and stores the answer for the next commit. */

/** An inference that failed; the message becomes `termination.value`. */
export class InferenceFailed extends Error {
  readonly transient: boolean;
  /** Whether a retry cannot help, so that the dispatch is dead-lettered. */
  readonly permanent: boolean;
  /** Whether no model was called. */
  readonly heldBack: boolean;
  /** The minimum wait of the run before its next attempt. */
  readonly retryAfterMs: number;

  constructor(cause: unknown) {
    super(`inference failed: ${excerpt(messageOf(cause))}`, { cause });
    this.name = 'InferenceFailed';
    this.transient = cause instanceof ModelError ? cause.transient : true;
    this.permanent = !this.transient;
    this.heldBack = cause instanceof ModelError && cause.heldBack;
    this.retryAfterMs = cause instanceof ModelError ? (cause.retryAfterSeconds ?? 0) * 1000 : 0;
  }

  /**
   * Fields for a log line, with the message once. The stack of a model failure is omitted, since it has no diagnostic
   * value.
   */
  get logFields(): object {
    const { message, cause } = this;
    if (!(cause instanceof ModelError)) return { err: { message, stack: excerpt(stackOf(cause)) } };
    const { class: kind, status, by } = cause;
    return {
      err: {
        message,
        class: kind,
        ...(status !== undefined && { status }),
        ...(by && { model: by.id }),
        // For a pool: the failure of its last member.
        ...(cause.cause instanceof ModelError && { cause: cause.cause.message }),
      },
    };
  }
}

/** A stream that a provider error interrupted includes the provider's message. */
const messageOf = (cause: unknown): string => {
  if (!(cause instanceof ModelError))
    return maskForeign(cause instanceof Error ? cause.message : String(cause));
  const { class: kind, message, cause: from } = cause;
  return kind === 'stream_interrupted' && from instanceof ModelError
    ? `${message}: ${from.message}`
    : message;
};

const stackOf = (cause: unknown): string => maskForeign((cause instanceof Error && cause.stack) || '');

/** Whether the model call is between two tries, so that nothing is in progress. */
export const isPausing = ({ inference }: Turn): boolean =>
  inference !== undefined && isBetweenTries(inference);

export const infer = async (turn: Turn, signal: AbortSignal): Promise<InferOutcome> => {
  if (!turn.started) {
    turn.started = true;
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
  dropBudgetWaits(turn);
  const step = openStep(turn);
  await runPhase(turn, 'step_start', signal);
  await runPhase(turn, 'before_inference', signal);
  return signal.aborted ? NOTHING : callModel(turn, step, wanted, signal);
};

/** One call of the model; `request` and `plan` are set before it is sent. */
type ModelCall = {
  readonly step: Step;
  readonly wanted: WantedOutput | undefined;
  readonly output: ReturnType<typeof createOutputReader> | undefined;
  readonly receiver: StreamReceiver;
  request?: InferenceRequest;
  plan?: OutputPlan | undefined;
  /** The reservation of budgets for it. */
  allowance?: Granted;
};

const callModel = async (
  turn: Turn,
  step: Step,
  wanted: WantedOutput | undefined,
  signal: AbortSignal,
): Promise<InferOutcome> => {
  const output = wanted && createOutputReader(turn, step);
  const call: ModelCall = { step, wanted, output, receiver: receiveStream(turn, step, output?.stream) };
  turn.inference = signal;
  let end: InferenceEnd;
  try {
    // Without budgets, nothing is awaited.
    const account = turn.account();
    const before = account && scratchOf(turn);
    const request = prepareRequest(turn, call, signal);
    if (wanted && !call.plan) return stopped(refusedMode(turn, wanted));
    const sent = call.plan ? requestWithOutput(turn, call.plan, request) : request;
    const refused = account && before && (await reserve(turn, call, { account, before, sent, signal }));
    if (refused) return refused;
    end = await sendRequest(turn, call, sent, signal);
  } catch (error) {
    return failCall(turn, call, error, signal);
  }
  call.receiver.attempts.end(end);
  return signal.aborted ? NOTHING : finishModelCall(turn, call, end, signal);
};

const prepareRequest = (turn: Turn, call: ModelCall, signal: AbortSignal): InferenceRequest => {
  const request = requestFor(turn, call.step, signal);
  call.request = request;
  call.plan = call.wanted && planOutput(turn, call.wanted, request.tools);
  return request;
};

type Reserving = { account: Account; before: Scratch; sent: InferenceRequest; signal: AbortSignal };

/** Reserves what the request may cost. Returns how the run ends or waits if a budget does not permit it. */
const reserve = async (
  turn: Turn,
  call: ModelCall,
  { account, before, sent, signal }: Reserving,
): Promise<InferOutcome | undefined> => {
  const purpose = purposeOf(turn.agent);
  const allowance = await allow(account, purpose, sent, signal);
  if (!allowance) return undefined;
  if (allowance.kind === 'granted') {
    call.allowance = allowance;
    return undefined;
  }
  if (signal.aborted) return NOTHING;
  if (allowance.kind === 'unpriced' || !allowance.pause) return stopped(refusedEnding(allowance, purpose));
  restoreScratch(turn, before);
  return waitForBudget(turn, call.step, allowance.pause);
};

const sendRequest = (
  turn: Turn,
  { plan, output, allowance, receiver: { sink, attempts } }: ModelCall,
  request: InferenceRequest,
  signal: AbortSignal,
): Promise<InferenceEnd> => {
  const { agent } = turn;
  const sent = allowance ? withinAllowance(request, purposeOf(agent), allowance) : request;
  const receiving = plan && output ? output.sinkFor(plan, sink) : sink;
  const lost = noteLostAttempt(turn, sent);
  attempts.begin(sent, allowance, lost);
  return agent.model.stream(sent, receiving, signal);
};

/** @throws InferenceFailed unless the failures of the run stop it */
const failCall = (
  turn: Turn,
  { step, request, receiver: { attempts, firstAt } }: ModelCall,
  error: unknown,
  signal: AbortSignal,
): InferOutcome => {
  attempts.brokeOff(usageIn(error), byIn(error));
  attempts.end();
  const call = { startedAt: step.startedAt, firstAt: firstAt(), error };
  const traced = { step_index: step.index, request, sent: step.sent, lost: attempts.lost() };
  // A cancelled call is not a failure.
  observeInference(turn, signal.aborted ? call : { ...call, traced });
  const verdict = signal.aborted ? undefined : countFailure(turn);
  if (verdict) return stopped(verdict);
  throw new InferenceFailed(error);
};

const finishModelCall = (
  turn: Turn,
  { step, request, plan, receiver }: ModelCall,
  end: InferenceEnd,
  signal: AbortSignal,
): Promise<InferOutcome> => {
  if (end.cutShort)
    turn.warn('run.completion_cut_short', { step_index: step.index, model: turn.agent.model.id });
  receiver.settle(end.stop);
  takeResult(turn, step, plan, end.stop === 'MaxTokens');
  observeInference(turn, {
    startedAt: step.startedAt,
    firstAt: receiver.firstAt(),
    end,
    ...(turn.trace && request && { traced: answered(turn, step, request) }),
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
  content: createContent([], step),
  calls: turn.calls.map(({ call }) => call),
  ...(step.attempts && { lost: step.attempts.lost() }),
});

/** The machine is in another state and another service closes the step; no output of this inference may be kept. */
const NOTHING: InferOutcome = { kind: 'answer' };

const stopped = (ending: Ending): InferOutcome => ({ kind: 'stopped', ending });

type Concluded = { step: Step; end: InferenceEnd; signal: AbortSignal };

const conclude = async (turn: Turn, { step, end, signal }: Concluded): Promise<InferOutcome> => {
  chargeInference(turn, end, turn.agent.model.id);
  turn.note = end.note;
  reportInference(turn, end);
  // Complete calls are executed, and their results continue the answer. A structured result is requested again as a
  // whole.
  const cutOff =
    end.stop === 'MaxTokens' &&
    turn.answer === undefined &&
    turn.calls.length === 0 &&
    turn.continuesTruncated &&
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
  // An answer in the last allowed round ends the run, unless new input causes another step.
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
