import { type ErrorForm, headersOf, internalError, Refusal } from '../../http/errors.ts';
import { isReply, JSON_TYPE, type Reply, reply } from '../../http/reply.ts';
import { isEventStream } from '../../http/sse.ts';
import { A2aError, errorBody, errorInfo, invalidRequest, type Reason } from '../../protocols/a2a/errors.ts';
import {
  BudgetExhausted,
  Conflict,
  Forbidden,
  Gone,
  Invalid,
  NotFound,
  Outcome,
  RateLimited,
  TooLarge,
  Unauthorized,
  Unavailable,
  Unprocessable,
} from '../../schema/outcome.ts';
import { answerType, invalidBody } from './negotiation.ts';

/** The response format of A2A (a2a.md 3.2, 3.3): the requested media type and the error form. */

/** Returns a JSON reply with the requested media type; other replies and streams are unchanged. */
export const answered = (value: unknown, accept: string | undefined): unknown => {
  if (value === undefined || isEventStream(value)) return value;
  return typed(isReply(value) ? value : reply(200, value), answerType(accept));
};

const typed = (answer: Reply, type: string): Reply =>
  answer.contentType === JSON_TYPE && type !== JSON_TYPE ? { ...answer, contentType: type } : answer;

/** Renders all errors below the interface, including refusals by the server. */
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
  const found = outcomes.find(([outcome]) => error instanceof outcome);
  if (!found) return new A2aError(500, 'INTERNAL', internalError(requestId));
  const [, code, status, text] = found;
  const headers = headersOf(error, code);
  const reason = REASON_OF[code];
  return new A2aError(code, status, text ?? (error instanceof Error ? error.message : ''), {
    ...(reason && { details: [errorInfo(reason, metadataOf(error))] }),
    ...(headers && { headers }),
  });
};

/** The reasons of refusals that depend on the principal (identity.md 3.3). */
const REASON_OF: Readonly<Record<number, Reason>> = {
  401: 'UNAUTHENTICATED',
  402: 'BUDGET_EXCEEDED',
  403: 'PERMISSION_DENIED',
  429: 'RATE_LIMITED',
};

/** Metadata has texts only; lists are joined with commas. */
const metadataOf = (error: unknown): Record<string, string> => {
  const details = error instanceof Outcome ? (error.details ?? {}) : {};
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [name, String(value)]));
};

/** Error details of a store are logged only; clients receive a fixed text. */
const outcomes = [
  [Unauthorized, 401, 'UNAUTHENTICATED'],
  [BudgetExhausted, 402, 'RESOURCE_EXHAUSTED'],
  [Forbidden, 403, 'PERMISSION_DENIED'],
  [NotFound, 404, 'NOT_FOUND'],
  [Conflict, 409, 'ABORTED'],
  [Gone, 410, 'NOT_FOUND'],
  [TooLarge, 413, 'INVALID_ARGUMENT'],
  [RateLimited, 429, 'RESOURCE_EXHAUSTED'],
  [Unavailable, 503, 'UNAVAILABLE', 'the service cannot answer now'],
] as const;

const refused = ({ status, message, headers = {} }: Refusal): A2aError => {
  if (status === 413) return new A2aError(413, 'INVALID_ARGUMENT', 'request body too large');
  // The head or body could not be parsed.
  if (status === 400) return invalidBody(message);
  return new A2aError(status, REFUSED[status] ?? 'UNKNOWN', message, { headers });
};

const REFUSED: Readonly<Record<number, string>> = {
  403: 'PERMISSION_DENIED',
  408: 'DEADLINE_EXCEEDED',
  415: 'INVALID_ARGUMENT',
  422: 'INVALID_ARGUMENT',
  503: 'UNAVAILABLE',
};
