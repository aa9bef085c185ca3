import type { WireRequest } from './wire.ts';

/**
 * Whether it is beyond doubt where a request ends and which host it names. A parser in front of this service, or
 * uWebSockets.js itself, may read such a head in another way, and what it takes for a body would be executed as a
 * request. No answer is safe then, because the parser continues behind it: the connection is closed.
 */
export const isMisframed = (req: WireRequest): boolean => {
  const hosts: string[] = [];
  const lengths: string[] = [];
  const codings: string[] = [];
  req.forEach((name, value) => {
    if (name === 'host') hosts.push(value);
    else if (name === 'content-length') lengths.push(value);
    else if (name === 'transfer-encoding') codings.push(value.toLowerCase());
  });
  if (hosts.length > 1 || lengths.length + codings.length > 1) return true;
  return !lengths.every((length) => LENGTH.test(length)) || !codings.every((coding) => coding === 'chunked');
};

const LENGTH = /^\d{1,15}$/;
