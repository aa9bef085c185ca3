import { ModelError } from './errors.ts';
import type { InferenceEnd, InferenceRequest, InferenceSink, Model } from './model.ts';
import { planRecovery, type ReceivedCall } from './recovery-plan.ts';
import { backoffMs, type Pause, type RetrySettings } from './retry.ts';

/**
 * Goes on with an inference whose stream broke off (agent-loop.md 9.4).
 *
 * Guarantees: what the sink hears adds up to one answer, unless `reset` voids it; every call that started ends,
 * is cancelled or is voided; no more than `max_stream_retries` further requests an inference.
 * Relies on: a failure that may pass, after something was heard, leaves what was heard valid.
 * Costs: one call and one concatenation a delta. A sink that cannot be told of a reset gets no recovery.
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
  const { model, settings, request, sink, signal } = recovery;
  const heard = listen(sink);
  let next = request;
  for (let used = 0; ; used += 1) {
    try {
      return await model.stream(next, heard.sink, signal);
    } catch (error) {
      if (!(error instanceof ModelError) || signal.aborted || !brokeOff(error, heard.any())) throw error;
      const plan = planRecovery({
        // An answer of a fixed form cannot be continued.
        text: request.output ? '' : heard.text(),
        calls: heard.calls(),
      });
      if (plan.kind !== 'finish' && used >= settings.max_stream_retries) throw error;
      const reason = reasonOf(error);
      sink.brokeOff?.(error.usage, error.by);
      if (plan.kind === 'restart') {
        sink.reset(reason);
        heard.forget();
        next = request;
      } else {
        for (const { id, name } of plan.lost) sink.toolCancel(id, name, reason);
        if (plan.kind === 'finish') return { stop: 'ToolUse', ...(plan.note && { note: plan.note }) };
        heard.forgetCalls();
        next = { ...request, messages: [...request.messages, ...plan.messages] };
      }
      await recovery.pause(reason === IDLE ? IDLE_PAUSE_MS : backoffMs(settings, error, used), signal);
      if (signal.aborted) throw new ModelError('cancelled', '');
    }
  }
};

const IDLE = 'idle stall';
const IDLE_PAUSE_MS = 200;

/** Before the first event a failure other than a broken stream is left to the opening; a call held back by an open circuit is left to the run. */
const brokeOff = (error: ModelError, begun: boolean): boolean =>
  error.class === 'stream_interrupted' || (begun && error.transient && !error.heldBack);

const reasonOf = (error: ModelError): string => {
  if (error.class === 'stream_interrupted') return error.detail;
  return error.class === 'timeout' ? IDLE : `provider ${error.status ?? 500} mid-stream`;
};

type Listener = {
  sink: InferenceSink;
  text(): string;
  calls(): ReceivedCall[];
  any(): boolean;
  forget(): void;
  forgetCalls(): void;
};

/** Hands everything on, and remembers what a plan needs to know. */
const listen = (sink: RecoverableSink): Listener => {
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
