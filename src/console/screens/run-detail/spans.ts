import { isObject } from '../../data/guard.ts';
import type { LogEvent } from '../../events/event.ts';
import type { TraceEvent } from '../../trace/traces.ts';

/** What a run spent its time with, as bars. Pure: events in, bars out. Times are milliseconds. */

export type SpanKind = 'queue' | 'inference' | 'tool' | 'wait' | 'retry' | 'delegate';

export type Span = {
  id: string;
  kind: SpanKind;
  name: string;
  /** Of the inference that it belongs to, from 1 on; 0: before the first. */
  step: number;
  from: number;
  /** Undefined: it goes on. */
  to: number | undefined;
  hasFailed: boolean;
  /** The run took as long as it did because of this one. */
  isCritical: boolean;
  tokens?: { input: number; output: number } | undefined;
  /** The place of the event that ended it, or that began it where it goes on. */
  event: number;
  /** What began it and what ended it say: such as the arguments of a call, and what came of it. */
  detail?: Readonly<Record<string, unknown>>;
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const num = (value: unknown): number => (typeof value === 'number' ? value : 0);

type Draft = { spans: Span[]; open: Map<string, Span>; step: number };

const begin = (draft: Draft, key: string, span: Omit<Span, 'to' | 'hasFailed' | 'isCritical'>): void => {
  const begun = { ...span, to: undefined, hasFailed: false, isCritical: false };
  draft.spans.push(begun);
  draft.open.set(key, begun);
};

const end = (draft: Draft, key: string, to: number, event: number, more: Partial<Span> = {}): void => {
  const span = draft.open.get(key);
  if (!span) return;
  draft.open.delete(key);
  Object.assign(span, more, { to, event, detail: { ...span.detail, ...more.detail } });
};

const endAll = (draft: Draft, to: number, event: number): void => {
  for (const key of draft.open.keys()) end(draft, key, to, event);
};

const resultOf = (payload: LogEvent['payload']) => (isObject(payload.result) ? payload.result : {});

const onEvent = (draft: Draft, event: LogEvent, place: number): void => {
  const { event_kind: kind, payload, created_at: at } = event;
  const id = event.event_id;
  switch (kind) {
    case 'RunQueued':
      begin(draft, 'queue', { id, kind: 'queue', name: '', step: draft.step, from: at, event: place });
      return;
    case 'RunSubmitted':
    case 'RunStarted':
      end(draft, 'queue', at, place);
      end(draft, 'retry', at, place);
      return;
    case 'RunRescheduled':
      begin(draft, 'retry', {
        id,
        kind: 'retry',
        name: text(payload.reason),
        step: draft.step,
        from: at,
        event: place,
        detail: payload,
      });
      return;
    case 'InferenceComplete': {
      draft.step += 1;
      const usage = isObject(payload.usage) ? payload.usage : {};
      const calls = [...draft.open].filter(([, { kind: each }]) => each === 'tool');
      // The calls that it asked for were told of before it.
      for (const [, call] of calls) call.step = draft.step;
      draft.spans.push({
        id,
        kind: 'inference',
        name: text(payload.model),
        step: draft.step,
        from: at - num(payload.duration_ms),
        to: at,
        hasFailed: false,
        isCritical: false,
        tokens: { input: num(usage.prompt_tokens), output: num(usage.completion_tokens) },
        event: place,
        detail: payload,
      });
      return;
    }
    case 'ToolCallReady': {
      const { id: call, name } = payload;
      begin(draft, `tool ${text(call)}`, {
        id,
        kind: 'tool',
        name: text(name),
        step: draft.step + 1,
        from: at,
        event: place,
        detail: payload,
      });
      return;
    }
    case 'ToolCallDone':
    case 'ToolCallRejected':
    case 'ToolCallTimedOut': {
      const hasFailed =
        kind !== 'ToolCallDone' || payload.outcome === 'failed' || resultOf(payload).status === 'error';
      end(draft, `tool ${text(payload.id)}`, at, place, { hasFailed, detail: payload });
      return;
    }
    case 'ToolCallCancelled':
      end(draft, `tool ${text(payload.id)}`, at, place, { hasFailed: true, detail: payload });
      return;
    case 'ToolCallSuspended':
      begin(draft, `wait ${text(payload.id)}`, {
        id,
        kind: 'wait',
        name: text(resultOf(payload).tool_name),
        step: draft.step,
        from: at,
        event: place,
        detail: payload,
      });
      return;
    case 'MailboxDecisionReceived':
      end(draft, `wait ${text(payload.tool_call_id)}`, at, place, { detail: payload });
      return;
    case 'ToolCallResumed':
      end(draft, `wait ${text(payload.target_id)}`, at, place);
      end(draft, `tool ${text(payload.target_id)}`, at, place, {
        hasFailed: payload.action === 'cancel',
        detail: payload,
      });
      return;
    case 'RunFinished':
    case 'RunCancelled':
    case 'RunErrored':
    case 'RunTerminated':
      endAll(draft, at, place);
      return;
    default:
  }
};

/** From the end back: whatever ended last before the one behind it began. What went on beside that held nothing up. */
const markCritical = (spans: readonly Span[]): void => {
  const endOf = ({ to }: Span): number => to ?? Number.POSITIVE_INFINITY;
  let began = Number.POSITIVE_INFINITY;
  for (const span of [...spans].sort((a, b) => endOf(b) - endOf(a))) {
    if (endOf(span) > began) continue;
    span.isCritical = true;
    began = span.from;
  }
};

/** Of what is stored in one moment, what led to the other comes first. */
const ORDER: readonly SpanKind[] = ['queue', 'retry', 'inference', 'tool', 'wait', 'delegate'];

export const spansOf = (events: readonly LogEvent[]): Span[] => {
  const draft: Draft = { spans: [], open: new Map(), step: 0 };
  for (const [place, event] of events.entries()) onEvent(draft, event, place);
  const spans = draft.spans.sort(
    (a, b) => a.from - b.from || a.step - b.step || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind),
  );
  markCritical(spans);
  return spans;
};

/**
 * The log says when something was stored, the trace when it happened: where there is a trace, bars stand where it says.
 * Inferences are matched by their order, calls by theirs among calls of that tool.
 */
export const refined = (spans: readonly Span[], trace: readonly TraceEvent[]): Span[] => {
  const left = new Map<string, TraceEvent[]>();
  const keyOf = (kind: string, name: string): string => (kind === 'inference' ? kind : `${kind} ${name}`);
  for (const event of trace) {
    const key = keyOf(event.type, event.name ?? '');
    const alike = left.get(key);
    if (alike) alike.push(event);
    else left.set(key, [event]);
  }
  const taken = new Map<string, number>();
  return spans.map((span) => {
    const key = keyOf(span.kind, span.name);
    const place = taken.get(key) ?? 0;
    taken.set(key, place + 1);
    const found = left.get(key)?.[place];
    const { started_at_ms: from, ended_at_ms: to } = found ?? {};
    return from === undefined || to === undefined ? span : { ...span, from, to };
  });
};

export type Range = { from: number; to: number };

/** @param now milliseconds: to where what goes on reaches */
export const rangeOf = (spans: readonly Span[], now: number): Range => {
  if (spans.length === 0) return { from: 0, to: 0 };
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to ?? Math.max(now, span.from));
  }
  return { from, to };
};

/** Where it lies in the range, as shares of it. */
export const placeOf = (span: Span, { from, to }: Range, now: number): { left: number; width: number } => {
  const length = Math.max(1, to - from);
  const end = span.to ?? Math.max(now, span.from);
  return { left: (span.from - from) / length, width: Math.max(0, end - span.from) / length };
};

/** A line of the timeline: where a step begins, or a bar. */
export type Line = { step: number } | { span: Span };

/** By their steps; what is before the first has no heading. */
export const linesOf = (spans: readonly Span[]): Line[] => {
  const steps = new Map<number, Span[]>();
  for (const span of spans) {
    const members = steps.get(span.step);
    if (members) members.push(span);
    else steps.set(span.step, [span]);
  }
  return [...steps]
    .sort(([a], [b]) => a - b)
    .flatMap(([step, members]) => [...(step > 0 ? [{ step }] : []), ...members.map((span) => ({ span }))]);
};
