import { CHALLENGE, type ErrorForm, internalError, Refusal } from '../../http/errors.ts';
import { isReply, JSON_TYPE, type Reply, reply } from '../../http/reply.ts';
import { isEventStream } from '../../http/sse.ts';
import { A2aError, errorBody, invalidRequest } from '../../protocols/a2a/errors.ts';
import {
  Conflict,
  Gone,
  Invalid,
  NotFound,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../../schema/outcome.ts';
import { answerType, invalidBody } from './negotiation.ts';

/** What is answered as A2A answers it (a2a.md 3.2, 3.3): the media type that was asked for, and its errors. */

/** JSON under another type; everything else as it is. */
export const answered = (value: unknown, accept: string | undefined): unknown => {
  if (value === undefined || isEventStream(value)) return value;
  return typed(isReply(value) ? value : reply(200, value), answerType(accept));
};

const typed = (answer: Reply, type: string): Reply =>
  answer.contentType === JSON_TYPE && type !== JSON_TYPE ? { ...answer, contentType: type } : answer;

/** Whatever is thrown below the interface, and what the server refuses there. */
export const errorsFor = (accept: string | undefined): ErrorForm => {
  const type = answerType(accept);
  return (thrown, requestId) => {
    const error = asA2a(thrown, requestId);
    const headers = Object.keys(error.headers).length > 0 ? error.headers : undefined;
    return typed(reply(error.code, errorBody(error), headers), type);
  };
};

const asA2a = (error: unknown, requestId: string): A2aError => {
  if (error instanceof A2aError) return error;
  if (error instanceof Refusal) return refused(error);
  if (error instanceof Invalid || error instanceof Unprocessable) {
    return invalidRequest([{ field: 'request', description: error.message }]);
  }
  const found = outcomes.find(([Outcome]) => error instanceof Outcome);
  if (!found) return new A2aError(500, 'INTERNAL', internalError(requestId));
  const [, code, status, text] = found;
  const headers = code === 401 ? CHALLENGE : {};
  return new A2aError(code, status, text ?? (error instanceof Error ? error.message : ''), { headers });
};

/** What a store says of itself is for the log, not for strangers: those have a text of their own. */
const outcomes = [
  [Unauthorized, 401, 'UNAUTHENTICATED'],
  [NotFound, 404, 'NOT_FOUND'],
  [Conflict, 409, 'ABORTED'],
  [Gone, 410, 'NOT_FOUND'],
  [TooLarge, 413, 'INVALID_ARGUMENT'],
  [Unavailable, 503, 'UNAVAILABLE', 'the service cannot answer now'],
] as const;

const refused = ({ status, message, headers = {} }: Refusal): A2aError => {
  if (status === 413) return new A2aError(413, 'INVALID_ARGUMENT', 'request body too large');
  // Of a head or a body that nobody can read.
  if (status === 400) return invalidBody(message);
  return new A2aError(status, REFUSED[status] ?? 'UNKNOWN', message, { headers });
};

const REFUSED: Readonly<Record<number, string>> = {
  403: 'PERMISSION_DENIED',
  408: 'DEADLINE_EXCEEDED',
  415: 'INVALID_ARGUMENT',
  503: 'UNAVAILABLE',
};
