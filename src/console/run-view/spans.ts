import { isObject } from '../data/guard.ts';
import type { LogEvent } from '../event-log/event.ts';
import { markCritical, newSpan, type Span, shortError, type Wait } from './span.ts';

/** The spans of a run, from its events. Pure. */

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);
const inside = (value: unknown) => (isObject(value) ? value : {});

type Draft = {
  spans: Span[];
  open: Map<string, Span>;
  step: number;
  /** Failed attempts of the next inference. */
  failures: number;
  /** When the run was last free to call its model; undefined while it is queued, waits, or has ended. */
  free: number | undefined;
};

type Handler = (draft: Draft, event: LogEvent, place: number) => void;

const begin = (draft: Draft, key: string, span: Span): void => {
  draft.spans.push(span);
  draft.open.set(key, span);
};

const closeWaits = (span: Span, at: number): void => {
  for (const wait of span.waits) wait.to ??= at;
};

const end = (draft: Draft, key: string, at: number, more: Partial<Span> = {}): void => {
  const span = draft.open.get(key);
  if (!span) return;
  draft.open.delete(key);
  closeWaits(span, at);
  Object.assign(span, { ...more, to: at, detail: { ...span.detail, ...more.detail } });
};

/** Fields that a span takes from the event that starts it. */
const started = ({ event_id: id, created_at: from, payload: detail }: LogEvent, event: number) => ({
  id,
  from,
  event,
  detail,
});

/** A request of the inference that failed and was repeated. */
type Retry = { at: number; error: string; wait: number };

const retriesIn = ({ retries }: LogEvent['payload']): Retry[] =>
  (Array.isArray(retries) ? retries : []).filter(isObject).map(({ failed_at, error, wait_ms }) => ({
    at: num(failed_at),
    error: text(error),
    wait: num(wait_ms),
  }));

/** One span for each failed request of an inference, each with the pause before the next one. Returns their end. */
const addRetries = (draft: Draft, base: Span): number => {
  let from = base.from;
  for (const { at, error, wait } of retriesIn(base.detail)) {
    draft.failures += 1;
    const waits: Wait[] = [{ from: at, to: at + wait }];
    const id = `${base.id} ${draft.failures}`;
    const failed = { hasFailed: true, error, attempt: draft.failures, to: at + wait, waits };
    draft.spans.push({ ...base, ...failed, id, from, tokens: undefined, costUsd: undefined });
    from = at + wait;
  }
  return from;
};

const onInference: Handler = (draft, event, place) => {
  const { payload, created_at: at } = event;
  const usage = inside(payload.usage);
  const span = newSpan({
    ...started(event, place),
    kind: 'inference',
    name: text(payload.model),
    step: draft.step,
    from: at - num(payload.duration_ms),
    to: at,
  });
  const from = addRetries(draft, span);
  const attempt = draft.failures > 0 ? draft.failures + 1 : undefined;
  const tokens = { input: num(usage.prompt_tokens), output: num(usage.completion_tokens) };
  const costUsd = typeof payload.cost_usd === 'number' ? payload.cost_usd : undefined;
  draft.spans.push({ ...span, from: Math.min(from, at), attempt, tokens, costUsd });
  // The calls of the inference were reported before it.
  for (const open of draft.open.values()) if (open.kind === 'tool') open.step = draft.step;
  draft.step += 1;
  draft.failures = 0;
  draft.free = draft.open.size === 0 ? at : undefined;
};

/** Adds the attempt that failed at an event. Its last request started after the pause of the one before. */
const addFailed = (draft: Draft, event: LogEvent, place: number, error: string): void => {
  const from = draft.free;
  if (from === undefined) return;
  const base = newSpan({ ...started(event, place), kind: 'inference', name: '', step: draft.step, from });
  const last = addRetries(draft, base);
  draft.failures += 1;
  const to = event.created_at;
  const attempt = draft.failures;
  draft.spans.push({
    ...base,
    from: Math.min(last, to),
    to,
    hasFailed: true,
    error: shortError(error),
    attempt,
  });
  draft.free = undefined;
};

const onReset: Handler = (draft, event, place) => {
  const error = text(event.payload.error);
  if (error !== '') addFailed(draft, event, place, error);
};

/** The pause before the next attempt belongs to the attempt that failed, if there is one. */
const onRescheduled: Handler = (draft, event, place) => {
  const wait: Wait = { from: event.created_at, to: undefined };
  const failed = draft.spans.findLast(({ kind, to }) => kind === 'inference' && to === event.created_at);
  draft.free = undefined;
  if (failed?.hasFailed) {
    failed.waits.push(wait);
    failed.to = undefined;
    draft.open.set('restart', failed);
    return;
  }
  const name = text(event.payload.reason);
  begin(draft, 'restart', newSpan({ ...started(event, place), kind: 'restart', name, waits: [wait] }));
};

const onStart: Handler = (draft, { created_at: at }) => {
  end(draft, 'queue', at);
  end(draft, 'restart', at);
  draft.free = at;
};

const keyOf = (id: unknown): string => `tool ${text(id)}`;

const onCallEnd: Handler = (draft, { event_kind: kind, payload, created_at: at }) => {
  const result = inside(payload.result);
  const hasFailed = kind !== 'ToolCallDone' || payload.outcome === 'failed' || result.status === 'error';
  const child = inside(result.metadata).child_run_id;
  end(draft, keyOf(payload.id), at, {
    hasFailed,
    detail: payload,
    ...(hasFailed && { error: text(result.message) || text(payload.reason) }),
    ...(typeof child === 'string' && { childRunId: child }),
  });
  if (draft.open.size === 0) draft.free = at;
};

const onResumed: Handler = (draft, { payload, created_at: at }) => {
  const { result, action } = payload;
  const error = isObject(result) && Object.keys(result).length === 1 ? text(result.error) : '';
  const hasFailed = action === 'cancel' || error !== '';
  end(draft, keyOf(payload.target_id), at, { hasFailed, detail: payload, error });
  if (draft.open.size === 0) draft.free = at;
};

const onFinish: Handler = (draft, event, place) => {
  const termination = inside(event.payload.termination);
  const value = text(termination.value);
  if (termination.type === 'error' && value.startsWith('inference failed')) {
    addFailed(draft, event, place, value);
  }
  for (const key of [...draft.open.keys()]) end(draft, key, event.created_at);
  const failed = termination.type === 'error' || termination.type === 'blocked';
  const root = draft.spans[0];
  if (root)
    Object.assign(root, {
      to: event.created_at,
      hasFailed: failed,
      ...(failed && { error: shortError(value) }),
    });
  draft.free = undefined;
};

const HANDLERS: Readonly<Record<string, Handler>> = {
  RunQueued: (draft, event, place) => {
    draft.free = undefined;
    begin(draft, 'queue', newSpan({ ...started(event, place), kind: 'queue', name: '', step: draft.step }));
  },
  RunSubmitted: onStart,
  RunStarted: onStart,
  RunResumed: onStart,
  RunRescheduled: onRescheduled,
  StreamReset: onReset,
  InferenceComplete: onInference,
  ToolCallReady: (draft, event, place) => {
    const { id, name } = event.payload;
    const call = { kind: 'tool' as const, name: text(name), callId: text(id), depth: 2, step: draft.step };
    begin(draft, keyOf(id), newSpan({ ...started(event, place), ...call }));
  },
  ToolCallDone: onCallEnd,
  ToolCallRejected: onCallEnd,
  ToolCallTimedOut: onCallEnd,
  ToolCallCancelled: onCallEnd,
  ToolCallSuspended: (draft, { payload, created_at: from }) => {
    const call = draft.open.get(keyOf(payload.id));
    if (call && !call.waits.some(({ to }) => to === undefined)) call.waits.push({ from, to: undefined });
  },
  MailboxDecisionReceived: (draft, { payload, created_at: at }) => {
    const call = draft.open.get(keyOf(payload.tool_call_id));
    if (!call) return;
    closeWaits(call, at);
    call.detail = { ...call.detail, decision: payload };
  },
  ToolCallResumed: onResumed,
  RunSuspended: (draft) => {
    draft.free = undefined;
  },
  RunFinished: onFinish,
  RunCancelled: onFinish,
  RunErrored: onFinish,
  RunTerminated: onFinish,
};

const ORDER: readonly string[] = ['run', 'queue', 'restart', 'inference', 'tool'];

/** The spans in the order of their start; the first one is the run. */
export const spansOf = (events: readonly LogEvent[], agent = ''): Span[] => {
  const [first] = events;
  if (!first) return [];
  const root = newSpan({ id: 'run', kind: 'run', name: agent, from: first.created_at, depth: 0 });
  const draft: Draft = { spans: [root], open: new Map(), step: 0, failures: 0, free: undefined };
  for (const [place, event] of events.entries()) HANDLERS[event.event_kind]?.(draft, event, place);
  const [, ...rest] = draft.spans;
  // A run that executes and has no open call waits for its model.
  if (draft.free !== undefined && root.to === undefined) {
    const open = { kind: 'inference' as const, name: '', step: draft.step, from: draft.free };
    rest.push(newSpan({ ...open, id: 'current', event: events.length - 1 }));
  }
  rest.sort((a, b) => a.from - b.from || a.step - b.step || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  markCritical(rest);
  return [root, ...rest];
};
