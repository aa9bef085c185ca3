/** The activities of a run as bars. Times are milliseconds. */

export type SpanKind = 'run' | 'queue' | 'inference' | 'tool' | 'restart' | 'other';

/** A part of a bar that is drawn hatched: a pause before a retry, or a wait for a decision. */
export type Wait = { from: number; to: number | undefined };

export type Span = {
  id: string;
  kind: SpanKind;
  name: string;
  depth: number;
  /** Number of inferences that the run had finished before, which is the index of this inference or that of the call. */
  step: number;
  from: number;
  /** Undefined while it has not ended. */
  to: number | undefined;
  /** In order, without overlap. */
  waits: Wait[];
  hasFailed: boolean;
  error?: string | undefined;
  /** The activity is on the critical path of the run. */
  isCritical: boolean;
  /** Number of the attempt, for an inference that was attempted more than once. */
  attempt?: number | undefined;
  tokens?: { input: number; output: number } | undefined;
  costUsd?: number | undefined;
  callId?: string | undefined;
  /** The run of the delegate that the call started. */
  childRunId?: string | undefined;
  /** Index of the event that started it. */
  event: number;
  /** Payloads of the events that started and ended it, such as the arguments and the result of a call. */
  detail: Readonly<Record<string, unknown>>;
};

export const newSpan = (given: Pick<Span, 'id' | 'kind' | 'name' | 'from'> & Partial<Span>): Span => ({
  depth: 1,
  step: 0,
  to: undefined,
  waits: [],
  hasFailed: false,
  isCritical: false,
  event: 0,
  detail: {},
  ...given,
});

export const waitedIn = ({ waits }: Span, now: number): number =>
  waits.reduce((sum, { from, to }) => sum + Math.max(0, (to ?? now) - from), 0);

export const isWaiting = ({ waits }: Span): boolean => waits.some(({ to }) => to === undefined);

export type Range = { from: number; to: number };

/** @param now in milliseconds; the end of spans that have not ended */
export const rangeOf = (spans: readonly Span[], now: number): Range => {
  let [from, to] = [Number.POSITIVE_INFINITY, 0];
  for (const span of spans) {
    from = Math.min(from, span.from);
    to = Math.max(to, span.to ?? Math.max(now, span.from));
  }
  return spans.length === 0 ? { from: 0, to: 0 } : { from, to };
};

/** The position of an interval in the range, as shares of its length. */
export const placeOf = ({ from, to }: Wait, range: Range, now: number): { left: number; width: number } => {
  const length = Math.max(1, range.to - range.from);
  const end = to ?? Math.max(now, from);
  return { left: (from - range.from) / length, width: Math.max(0, end - from) / length };
};

/**
 * Marks the critical path, from the end backwards: each of its spans ended before the next one started. Concurrent
 * spans did not delay the run.
 */
export const markCritical = (spans: readonly Span[]): void => {
  const endOf = ({ to }: Span): number => to ?? Number.POSITIVE_INFINITY;
  let began = Number.POSITIVE_INFINITY;
  for (const span of [...spans].sort((a, b) => endOf(b) - endOf(a))) {
    span.isCritical = endOf(span) <= began;
    if (span.isCritical) began = span.from;
  }
};

/** The id of a tool as people read it: its name, and the MCP server or the agent that it belongs to. */
export const toolName = (id: string): { name: string; server?: string; agent?: string } => {
  const [prefix, server, ...rest] = id.split('__');
  if (prefix === 'mcp' && server && rest.length > 0) return { name: rest.join('__'), server };
  const agent = /^agent_run_(.+)$/.exec(id)?.[1];
  return agent === undefined ? { name: id } : { name: agent, agent };
};

/** An error without the prefix that all failed inferences share. */
export const shortError = (error: string): string => error.replace(/^inference failed: /, '');

/** The span that waits, or whose failure ended the run, or the last inference. */
export const notableSpan = (spans: readonly Span[], hasFailed: boolean): Span | undefined =>
  spans.findLast((span) => span.kind === 'tool' && isWaiting(span)) ??
  (hasFailed ? spans.findLast((span) => span.hasFailed && span.kind !== 'run') : undefined) ??
  spans.findLast(({ kind }) => kind === 'inference') ??
  spans[0];
