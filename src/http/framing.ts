import type { RequestHeaders } from './headers.ts';

/**
 * Returns whether the end of a request or its host is ambiguous. A parser in front of this service, or uWebSockets.js
 * itself, may interpret such a head differently and execute a part of the body as a request. No response is safe then,
 * because the parser continues behind it; so the connection is closed.
 */
export const isMisframed = ({ lines }: Pick<RequestHeaders, 'lines'>): boolean => {
  const lengths = lines('content-length');
  const codings = lines('transfer-encoding');
  if (lines('host').length > 1 || lengths.length + codings.length > 1) return true;
  return (
    !lengths.every((length) => LENGTH.test(length)) ||
    !codings.every((coding) => coding.toLowerCase() === 'chunked')
  );
};

const LENGTH = /^\d{1,15}$/;
