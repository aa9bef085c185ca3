import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from './model.ts';
import { planRecovery, type ReceivedCall, type RecoveryPlan } from './recovery-plan.ts';
import { backoffMs, type Pause, type RetrySettings } from './retry.ts';

/**
 * Continues an inference whose stream was interrupted (agent-loop.md 9.4).
 *
 * Guarantees: the sink receives exactly one completion, unless `reset` voids it; every call that started ends, is
 * cancelled or is voided; at most `max_stream_retries` further requests per inference.
 * Relies on: a transient failure after the first output leaves the received output valid.
 * Cost: one call and one concatenation per delta. There is no recovery for a sink without `reset` and `toolCancel`.
 */

export const withRecovery = (model: Model, settings: RetrySettings, pause: Pause): Model => ({
  ...model,
  stream(request, sink, signal) {
    const idle = { ...request };
    idle.stream_idle_timeout_secs = settings.stream_idle_timeout_secs;
    return canRecover(sink)
      ? recovering({ model, settings, pause, request: idle, sink, signal })
      : model.stream(idle, sink, signal);
  },
});

type RecoverableSink = InferenceSink & Required<Pick<InferenceSink, 'reset' | 'toolCancel'>>;

const canRecover = (sink: InferenceSink): sink is RecoverableSink =>
  sink.reset !== undefined && sink.toolCancel !== undefined;

type Recovery = {
  model: Model;
  settings: RetrySettings;
  pause: Pause;
  request: InferenceRequest;
  sink: RecoverableSink;
  signal: AbortSignal;
};

const recovering = async (recovery: Recovery): Promise<InferenceEnd> => {
  const { settings, request, sink, signal } = recovery;
  const received = recordOutput(sink);
  let next = request;
  for (let used = 0; ; used += 1) {
    const end = await streamUntilBroken(recovery, received, next);
    if (!(end instanceof ModelError)) return end;
    const plan = planNext(recovery, received, end, used);
    const reason = reasonOf(end);
    sink.brokeOff?.(end.usage, end.by);
    if (plan.kind !== 'restart') cancelCalls(sink, plan.lost, reason);
    if (plan.kind === 'finish') return { stop: 'ToolUse', ...(plan.note && { note: plan.note }) };
    next = nextRequest(recovery, received, plan, reason);
    const wait_ms = reason === IDLE ? IDLE_PAUSE_MS : backoffMs(settings, end, used);
    sink.retrying?.({ error: end.message, wait_ms });
    await recovery.pause(wait_ms, signal);
    if (signal.aborted) throw new ModelError('cancelled', '');
  }
};

/** Returns the failure if the stream was interrupted. @throws any other failure */
const streamUntilBroken = async (
  { model, signal }: Recovery,
  received: RecordedOutput,
  request: InferenceRequest,
): Promise<InferenceEnd | ModelError> => {
  try {
    return await model.stream(request, received.sink, signal);
  } catch (error) {
    if (!(error instanceof ModelError) || signal.aborted || !brokeOff(error, received.any())) throw error;
    return error;
  }
};

/** @throws the failure when no further request is allowed */
const planNext = (
  { request, settings }: Recovery,
  received: RecordedOutput,
  failure: ModelError,
  used: number,
): RecoveryPlan => {
  const plan = planRecovery({
    // A completion with a schema cannot be continued.
    text: request.output ? '' : received.text(),
    calls: received.calls(),
  });
  if (plan.kind !== 'finish' && used >= settings.max_stream_retries) throw failure;
  return plan;
};

const cancelCalls = (sink: RecoverableSink, lost: readonly ReceivedCall[], reason: string): void => {
  for (const { id, name } of lost) sink.toolCancel(id, name, reason);
};

const nextRequest = (
  { request, sink }: Recovery,
  received: RecordedOutput,
  plan: Exclude<RecoveryPlan, { kind: 'finish' }>,
  reason: string,
): InferenceRequest => {
  if (plan.kind === 'continue') {
    received.forgetCalls();
    return { ...request, messages: [...request.messages, ...plan.messages] };
  }
  sink.reset(reason);
  received.forget();
  return request;
};

const IDLE = 'idle stall';
const IDLE_PAUSE_MS = 200;

/**
 * Before the first event, the opening retries every failure except a broken stream; the run retries a call that an open
 * circuit blocked.
 */
const brokeOff = (error: ModelError, hasBegun: boolean): boolean =>
  error.class === 'stream_interrupted' || (hasBegun && error.transient && !error.heldBack);

const reasonOf = (error: ModelError): string => {
  if (error.class === 'stream_interrupted') return error.detail;
  return error.class === 'timeout' ? IDLE : `provider ${error.status ?? 500} mid-stream`;
};

type RecordedOutput = {
  sink: InferenceSink;
  text(): string;
  calls(): ReceivedCall[];
  any(): boolean;
  forget(): void;
  forgetCalls(): void;
};

/** Forwards everything, and records the data that a plan needs. */
const recordOutput = (sink: RecoverableSink): RecordedOutput => {
  const calls = new Map<string, ReceivedCall>();
  let text = '';
  let reasoned = false;
  let given = false;
  return {
    sink: {
      ...sink,
      text(delta) {
        text += delta;
        sink.text(delta);
      },
      reasoning(delta) {
        reasoned = true;
        sink.reasoning(delta);
      },
      part(part) {
        given = true;
        sink.part?.(part);
      },
      source(source) {
        given = true;
        sink.source?.(source);
      },
      providerCall(call) {
        given = true;
        sink.providerCall?.(call);
      },
      toolStart(id, name) {
        calls.set(id, { id, name, complete: false });
        sink.toolStart(id, name);
      },
      toolEnd(id, argsText) {
        calls.set(id, { id, name: calls.get(id)?.name ?? '', complete: true });
        sink.toolEnd(id, argsText);
      },
    },
    text: () => text,
    calls: () => [...calls.values()],
    any: () => text !== '' || reasoned || given || calls.size > 0,
    forget() {
      text = '';
      reasoned = false;
      given = false;
      calls.clear();
    },
    forgetCalls: () => calls.clear(),
  };
};
