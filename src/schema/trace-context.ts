import { z } from 'zod';

/** W3C Trace Context (https://www.w3.org/TR/trace-context/): the trace that an operation belongs to. */

export const TraceContext = z.object({
  traceparent: z.string(),
  tracestate: z.string().optional(),
});
export type TraceContext = z.infer<typeof TraceContext>;

/** In unknown versions, text after the four fields is ignored. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MOST_STATE = 512;
const STATE = /^[\x20-\x7e]+$/;

export type ParsedTraceparent = { traceId: string; spanId: string; flags: number };

/** Undefined for malformed text. */
export const parseTraceparent = (text: string): ParsedTraceparent | undefined => {
  const [, version, traceId, spanId, flags = '00', more] = TRACEPARENT.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
};

export const formatTraceparent = ({ traceId, spanId, flags }: ParsedTraceparent): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;

/** Returns the trace context of a request; undefined if it is missing or malformed. */
export const traceContextOf = (header: (name: string) => string | undefined): TraceContext | undefined => {
  const traceparent = header('traceparent')?.trim();
  if (traceparent === undefined || traceparent.length > MOST_STATE || !parseTraceparent(traceparent))
    return undefined;
  const tracestate = header('tracestate')?.trim();
  const isState = tracestate !== undefined && tracestate.length <= MOST_STATE && STATE.test(tracestate);
  return { traceparent, ...(isState && { tracestate }) };
};
