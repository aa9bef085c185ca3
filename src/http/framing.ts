import type { WireRequest } from './wire.ts';

/**
 * Returns whether the end of a request or its host is ambiguous. A parser in front of this service, or uWebSockets.js
 * itself, may interpret such a head differently and execute a part of the body as a request. No response is safe then,
 * because the parser continues behind it; so the connection is closed.
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
