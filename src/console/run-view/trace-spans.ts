import { anyObject, isObject } from '../data/guard.ts';
import type { Said } from '../thread-messages/conversation.ts';
import { Message } from '../thread-messages/messages.ts';
import type { TraceEvent } from '../trace-records/traces.ts';
import { markCritical, newSpan, type Span } from './span.ts';

/** Spans and contents from the lines of a trace. Pure. */

/**
 * The log contains the times at which events were stored, the trace those at which they happened, so the trace takes
 * precedence. Inferences are matched by their index, calls by their id.
 */
export const refined = (spans: readonly Span[], trace: readonly TraceEvent[]): Span[] => {
  const calls = new Map(trace.map((event) => [event.call_id ?? '', event]));
  return spans.map((span) => {
    const found = span.kind === 'tool' ? calls.get(span.callId ?? '') : undefined;
    const { started_at_ms: from, ended_at_ms: to } = found ?? {};
    if (from === undefined || to === undefined || span.to === undefined) return span;
    // A wait precedes the execution, or interrupts it.
    return { ...span, from: span.waits.length > 0 ? span.from : from, to };
  });
};

const KINDS: Readonly<Record<string, Span['kind']>> = { inference: 'inference', tool: 'tool' };

const spanOf = (event: TraceEvent, place: number): Span => {
  const { type, started_at_ms, ended_at_ms, timestamp_ms, error_type } = event;
  const from = started_at_ms ?? timestamp_ms ?? 0;
  return newSpan({
    id: `line ${place}`,
    kind: KINDS[type] ?? 'other',
    name: event.name ?? event.model ?? type,
    depth: type === 'inference' ? 1 : 2,
    step: event.step_index ?? 0,
    from,
    to: ended_at_ms ?? from,
    hasFailed: error_type !== undefined,
    error: error_type,
    tokens:
      event.input_tokens === undefined && event.output_tokens === undefined
        ? undefined
        : { input: event.input_tokens ?? 0, output: event.output_tokens ?? 0 },
    costUsd: event.cost_usd,
    callId: event.call_id,
    detail: event,
    event: place,
  });
};

/** The spans of a run that is not stored; the first one is the run. */
export const spansOfTrace = (trace: readonly TraceEvent[], agent = ''): Span[] => {
  const spans = trace.map(spanOf);
  markCritical(spans);
  const from = spans.reduce((least, span) => Math.min(least, span.from), Number.POSITIVE_INFINITY);
  const to = spans.reduce((most, span) => Math.max(most, span.to ?? 0), 0);
  const hasFailed = spans.at(-1)?.kind === 'inference' && spans.at(-1)?.hasFailed === true;
  if (spans.length === 0) return [];
  return [newSpan({ id: 'run', kind: 'run', name: agent, from, to, depth: 0, hasFailed }), ...spans];
};

/** An input or an output of a model. */
export type Recorded = {
  system?: string | undefined;
  messages: readonly Said[];
  omitted_messages: number;
  tools: readonly { id: string; description: string; parameters: unknown }[];
  response: Said | undefined;
};

const blocks = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);

/** A message of an inference; it has neither a number nor a time. */
export const Sent = (value: unknown, at: string): Said => {
  const {
    seq: _seq,
    created_at: _created,
    ...said
  } = Message({ id: at, ...anyObject(value, at), seq: 0, created_at: 0 }, at);
  return said;
};

const responseOf = ({ detail, id }: Span): Said | undefined => {
  const [content, tool_calls] = [blocks(detail.response_content), blocks(detail.response_tool_calls)];
  if (content.length + tool_calls.length === 0) return undefined;
  return Sent({ role: 'assistant', content, tool_calls }, id);
};

const resultOf = ({ detail, id, callId }: Span): Said | undefined => {
  const { call_result: result } = detail;
  if (result === undefined) return undefined;
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  return Sent({ role: 'tool', content: [{ type: 'text', text }], tool_call_id: callId }, id);
};

/** A trace contains the messages of the first inference; later ones received what followed. */
export const recordedIn = (spans: readonly Span[], span: Span): Recorded => {
  const before = spans.slice(0, spans.indexOf(span));
  const first = [...before, span].find(({ detail }) => detail.request_messages !== undefined);
  const asked = blocks(first?.detail.request_messages).map((message, place) =>
    Sent(message, `asked ${place}`),
  );
  const since = before.flatMap((each) => (each.kind === 'tool' ? resultOf(each) : responseOf(each)) ?? []);
  return { messages: [...asked, ...since], omitted_messages: 0, tools: [], response: responseOf(span) };
};
