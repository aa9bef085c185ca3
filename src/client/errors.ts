import type { Termination } from '../schema/run.ts';

/** Error classes of the client. */

/**
 * An error response of the service. A subclass names each status that callers treat differently; other statuses are
 * plain `TroupeError`s. The message is the error text of the service.
 *
 * @example
 * ```ts
 * try {
 *   await client.runs.get('unknown');
 * } catch (error) {
 *   if (!(error instanceof TroupeError)) throw error;
 *   console.error(`${error.request}: ${error.status} ${error.message} (request ${error.requestId})`);
 * }
 * ```
 */
export class TroupeError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable error code, if the service provides one. */
  readonly code: string | undefined;
  /** The parsed body; the text of a body that is not JSON. */
  readonly body: unknown;
  /** Request id in the log of the service. */
  readonly requestId: string | undefined;
  /** Method and path. */
  readonly request: string;

  constructor({ request, status, body, requestId }: Refused) {
    const { error, code } = errorIn(body);
    super(error ?? `${request} returned status ${status}`);
    this.name = new.target.name;
    this.request = request;
    this.status = status;
    this.code = code;
    this.body = body;
    this.requestId = requestId;
  }
}

export type Refused = { request: string; status: number; body: unknown; requestId: string | undefined };

/** Routes in the form of OpenAI have an object as their error. */
const errorIn = (body: unknown): { error: string | undefined; code: string | undefined } => {
  const outer = fieldsOf(body);
  const { error, code } = typeof outer.error === 'object' ? messageOf(fieldsOf(outer.error)) : outer;
  return { error: textOf(error), code: textOf(code) };
};

const fieldsOf = (value: unknown): { error?: unknown; message?: unknown; code?: unknown } =>
  typeof value === 'object' && value !== null ? value : {};

const messageOf = ({ message, code }: ReturnType<typeof fieldsOf>) => ({ error: message, code });

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/**
 * The request is invalid (status 400 or 422). The message names the field and what it allows.
 *
 * @example
 * ```ts
 * await client.runs.stream({ agentId: 'default', messages: [] }).end().catch((error) => {
 *   if (!(error instanceof InvalidRequest)) throw error;
 *   console.error(error.message, error.body);
 * });
 * ```
 */
export class InvalidRequest extends TroupeError {}
/**
 * The credentials are missing or wrong, or do not permit the request (status 401 or 403). Admin routes require the
 * admin token.
 *
 * @example
 * ```ts
 * const admin = createClient({ url: 'http://127.0.0.1:38080', token: 'secret' });
 * await admin.system.info().catch((error) => {
 *   if (error instanceof Unauthorized) console.error('The admin token is wrong.');
 * });
 * ```
 */
export class Unauthorized extends TroupeError {}
/**
 * The requested object does not exist in the scope of the client (status 404).
 *
 * @example
 * ```ts
 * const thread = await client.threads.get('first').catch((error) => {
 *   if (error instanceof NotFound) return client.threads.create({ title: 'First' });
 *   throw error;
 * });
 * ```
 */
export class NotFound extends TroupeError {}
/**
 * The request contradicts the current state (status 409): the object exists, has changed, or is in use.
 *
 * @example
 * ```ts
 * await client.config.create('agents', { id: 'poet', model_id: 'default' }).catch((error) => {
 *   if (!(error instanceof Conflict)) throw error;
 *   console.log('The agent exists already.');
 * });
 * ```
 */
export class Conflict extends TroupeError {}
/**
 * A cursor does not, or no longer, belong to the requested log (status 410). The reader starts without a cursor, and
 * reads the stored events again.
 *
 * @example
 * ```ts
 * const follow = async (cursor: string): Promise<void> => {
 *   for await (const event of client.events.follow({ threadId: 'first', cursor })) console.log(event.event_kind);
 * };
 * await follow('cursor-of-yesterday').catch((error) => {
 *   if (!(error instanceof Gone)) throw error;
 *   console.log('The log was replaced: read the thread again.');
 * });
 * ```
 */
export class Gone extends TroupeError {}
/**
 * The service is overloaded, or a part of it is disabled (status 503). The request may succeed after `retryAfter`.
 *
 * @example
 * ```ts
 * const agents = await client.system.agents().catch((error) => {
 *   if (error instanceof Unavailable) console.log(`Retry in ${error.retryAfter ?? 1000} ms.`);
 *   return [];
 * });
 * ```
 */
export class Unavailable extends TroupeError {
  /** Delay in milliseconds that the service requests, if any. */
  readonly retryAfter: number | undefined;

  constructor(refused: Refused, retryAfter?: number) {
    super(refused);
    this.retryAfter = retryAfter;
  }
}

/**
 * No response arrived, or an interrupted stream could not be resumed within the pauses of the client.
 *
 * @example
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:9', pauses: [] });
 * await client.threads.get('first').catch((error) => {
 *   if (error instanceof ConnectionLost) console.error(`${error.request}: the service is unreachable`);
 * });
 * ```
 */
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

/** Creates the error of a response. */
export const readError = async (request: string, response: Response): Promise<TroupeError> => {
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

/**
 * A run has ended without a structured result that fits its schema. `problems` lists a path and a message per
 * violation.
 *
 * @example
 * ```ts
 * const run = client.runs.stream({ agentId: 'triage', messages: [{ role: 'user', content: 'Wrong invoice' }] });
 * const result = await run.output().catch((error) => {
 *   if (!(error instanceof OutputInvalid)) throw error;
 *   console.error(error.problems.join('; '), error.text);
 * });
 * ```
 */
export class OutputInvalid extends Error {
  readonly problems: readonly string[];
  /** All text of the run. */
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

/**
 * A run whose result was requested has failed, was cancelled or stopped, or waits for a decision.
 *
 * @example
 * ```ts
 * const run = client.runs.stream({ agentId: 'triage', messages: [{ role: 'user', content: 'Wrong invoice' }] });
 * const result = await run.output().catch((error) => {
 *   if (!(error instanceof RunFailed)) throw error;
 *   console.error(`run ${error.run_id} ended with ${error.termination.type}`);
 * });
 * ```
 */
export class RunFailed extends Error {
  readonly termination: Termination;
  readonly text: string;
  readonly run_id: string;

  constructor(termination: Termination, { run_id, text }: OfRun) {
    super(`run ${run_id} has no result: ${describeTermination(termination)}`);
    this.name = 'RunFailed';
    this.termination = termination;
    this.text = text;
    this.run_id = run_id;
  }
}

const describeTermination = (termination: Termination): string => {
  if (!('value' in termination)) return termination.type;
  const { type, value } = termination;
  return `${type}: ${typeof value === 'string' ? value : (value.detail ?? value.code)}`;
};

/** Returns each issue of a zod error with its path, or the message of any other error. */
export function problemsIn(error: unknown): string[] {
  const issues: unknown =
    typeof error === 'object' && error !== null && 'issues' in error ? error.issues : [];
  const problems = (Array.isArray(issues) ? issues : []).map(({ path = [], message = '' }) =>
    path.length > 0 ? `/${path.join('/')}: ${message}` : String(message),
  );
  return problems.length > 0 ? problems : [error instanceof Error ? error.message : String(error)];
}
