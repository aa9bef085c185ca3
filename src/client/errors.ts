import type { Termination } from '../schema/run.ts';

/** What can go wrong between a client and the service, as classes. */

/** The service said no. */
export class TroupeError extends Error {
  /** Of HTTP. */
  readonly status: number;
  /** Where the service has a word for it, beside the text. */
  readonly code: string | undefined;
  /** As it came; the text of an answer that is no JSON. */
  readonly body: unknown;
  /** Under which the service has it in its log. */
  readonly requestId: string | undefined;
  /** Method and path. */
  readonly request: string;

  constructor({ request, status, body, requestId }: Refused) {
    const { error, code } = said(body);
    super(error ?? `${request} was answered with ${status}`);
    this.name = new.target.name;
    this.request = request;
    this.status = status;
    this.code = code;
    this.body = body;
    this.requestId = requestId;
  }
}

export type Refused = { request: string; status: number; body: unknown; requestId: string | undefined };

const said = (body: unknown): { error: string | undefined; code: string | undefined } => {
  const { error, code }: { error?: unknown; code?: unknown } =
    typeof body === 'object' && body !== null ? body : {};
  return {
    error: typeof error === 'string' ? error : undefined,
    code: typeof code === 'string' ? code : undefined,
  };
};

/** 400 and 422: something in the request is not as it has to be. */
export class InvalidRequest extends TroupeError {}
/** 401 and 403. */
export class Unauthorized extends TroupeError {}
/** 404 */
export class NotFound extends TroupeError {}
/** 409 */
export class Conflict extends TroupeError {}
/** 410: a cursor is not, or no longer, of the log that it was used for. */
export class Gone extends TroupeError {}
/** 503: later, it may work. */
export class Unavailable extends TroupeError {
  /** Milliseconds that the service asks to wait, if it does. */
  readonly retryAfter: number | undefined;

  constructor(refused: Refused, retryAfter?: number) {
    super(refused);
    this.retryAfter = retryAfter;
  }
}

/** There was no answer, or a stream ended before its time and could not be taken up again. */
export class ConnectionLost extends Error {
  /** Method and path. */
  readonly request: string;

  constructor(request: string, cause: unknown) {
    const reason = cause instanceof Error ? `: ${cause.message}` : '';
    super(`${request}: the connection is lost${reason}`, { cause });
    this.name = 'ConnectionLost';
    this.request = request;
  }
}

const classes: Readonly<Record<number, typeof TroupeError>> = {
  400: InvalidRequest,
  401: Unauthorized,
  403: Unauthorized,
  404: NotFound,
  409: Conflict,
  410: Gone,
  422: InvalidRequest,
};

/** The error that an answer is. */
export const errorOf = async (request: string, response: Response): Promise<TroupeError> => {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const refused = {
    request,
    status,
    body: jsonOf(text),
    requestId: headers.get('x-request-id') ?? undefined,
  };
  if (status !== 503) return new (classes[status] ?? TroupeError)(refused);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new Unavailable(refused, Number.isFinite(seconds) ? seconds * 1000 : undefined);
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

type OfRun = { run_id: string; text: string };

/** A run has ended without a structured result that fits. */
export class OutputInvalid extends Error {
  readonly problems: readonly string[];
  /** Everything that the run has said. */
  readonly text: string;
  readonly run_id: string;

  constructor(problems: readonly string[], { run_id, text }: OfRun, options: { cause?: unknown } = {}) {
    super(`run ${run_id} has no valid structured result: ${problems.join('; ')}`, options);
    this.name = 'OutputInvalid';
    this.problems = problems;
    this.text = text;
    this.run_id = run_id;
  }
}

/** A run whose result was wanted has ended otherwise, or waits. */
export class RunFailed extends Error {
  readonly termination: Termination;
  readonly text: string;
  readonly run_id: string;

  constructor(termination: Termination, { run_id, text }: OfRun) {
    super(`run ${run_id} has no result: ${wordsOf(termination)}`);
    this.name = 'RunFailed';
    this.termination = termination;
    this.text = text;
    this.run_id = run_id;
  }
}

const wordsOf = (termination: Termination): string => {
  if (!('value' in termination)) return termination.type;
  const { type, value } = termination;
  return `${type}: ${typeof value === 'string' ? value : (value.detail ?? value.code)}`;
};

/** Of an error of zod, each issue with its place; of any other one, its message. */
export function problemsIn(error: unknown): string[] {
  const issues: unknown =
    typeof error === 'object' && error !== null && 'issues' in error ? error.issues : [];
  const problems = (Array.isArray(issues) ? issues : []).map(({ path = [], message = '' }) =>
    path.length > 0 ? `/${path.join('/')}: ${message}` : String(message),
  );
  return problems.length > 0 ? problems : [error instanceof Error ? error.message : String(error)];
}
