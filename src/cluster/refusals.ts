import { STATUS_CODES } from 'node:http';
import { writeOrigin } from '../http/cors.ts';
import { encode } from '../http/encode.ts';
import { MEMBER_HEADER, UNTOUCHED_HEADER } from '../http/member-headers.ts';
import type { WireResponse } from '../http/wire.ts';

/** Responses that a member gives without a service: its own, or that of the active member. */
export type Refused = {
  status: number;
  error: string;
  /** Whether the request had no effect, so that it may be sent again. */
  isUntouched: boolean;
  headers?: Readonly<Record<string, string>>;
};

type To = {
  res: WireResponse;
  /** Upper or lower case. */
  method: string;
  requestId: string;
  /** The name of this member. */
  member: string;
  /** The origin whose pages may read the response, or an empty text. */
  origin: string;
};

/** Called in the callback of the request or in `cork`. */
export const refuse = ({ res, method, requestId, member, origin }: To, refused: Refused): void => {
  const text = JSON.stringify({ error: refused.error });
  res.writeStatus(`${refused.status} ${STATUS_CODES[refused.status]}`);
  writeOrigin(res, origin);
  res.writeHeader('x-request-id', requestId);
  res.writeHeader(MEMBER_HEADER, encode(member));
  if (refused.isUntouched) res.writeHeader(UNTOUCHED_HEADER, '1');
  for (const [name, value] of Object.entries(refused.headers ?? {})) res.writeHeader(name, value);
  res.writeHeader('content-type', 'application/json');
  if (method.toUpperCase() !== 'HEAD') res.end(encode(text));
  else {
    res.writeHeader('content-length', String(Buffer.byteLength(text)));
    res.endWithoutBody();
  }
};

/** @param leaseMs until the lease of an active member could be over */
export const unavailable = (error: string, leaseMs: number): Refused => ({
  status: 503,
  error,
  isUntouched: true,
  headers: { 'retry-after': String(Math.max(1, Math.ceil(leaseMs / 1000))) },
});

export const NONE_ACTIVE = 'no active member is known; try again';

export const UNREACHABLE = 'the active member cannot be reached; try again';

export const MISDIRECTED = 'the member that requests are forwarded to does not serve them; try again';

export const BUSY = 'too many requests are being forwarded; try again';

export const unknownEffect = (leaseMs: number): Refused => ({
  ...unavailable(
    'the member that has this thread did not answer; whether it took the request is not known',
    leaseMs,
  ),
  isUntouched: false,
});

export const tooSlow = (ms: number): Refused => ({
  status: 408,
  error: `request body has not ended within ${ms} ms (body_timeout_ms)`,
  isUntouched: true,
});

export const NOT_FORWARDABLE: Refused = {
  status: 400,
  error: 'the head of the request has characters that HTTP does not allow',
  isUntouched: true,
};
