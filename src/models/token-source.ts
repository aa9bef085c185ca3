import { z } from 'zod';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';
import { BOUNDS } from './bounds.ts';
import { ModelError } from './errors.ts';
import { describeMissingResponse, UnreadableBody } from './response.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * Credentials that expire, such as access tokens that a service issues.
 *
 * Guarantees: at most one request at a time, which all callers share; a value is used until shortly before it expires;
 * after a failed request the next call repeats it.
 * Cost: one request per lifetime of a value, usually an hour.
 */
export type Source<Value> = {
  get(): Promise<Value>;
  /** Drops the value if it matches, because the service rejected it. */
  drop(isRefused: (value: Value) => boolean): void;
};

export type TokenSource = Source<string>;

export type TokenDeps = { text: Transport['text']; now(): number };

/** A value that expires within this time is renewed. */
const MARGIN_MS = 60_000;

/** `until`: milliseconds since 1970; absent if the value does not expire. */
export const createSource = <Value>(
  request: () => Promise<{ value: Value; until?: number | undefined }>,
  { now }: Pick<TokenDeps, 'now'>,
): Source<Value> => {
  let current: { pending: Promise<Value>; granted?: { value: Value }; until: number } | undefined;
  const renew = (): Promise<Value> => {
    const pending = request().then(
      ({ value, until = Number.POSITIVE_INFINITY }) => {
        requested.until = until - MARGIN_MS;
        requested.granted = { value };
        return value;
      },
      (error: unknown) => {
        if (current === requested) current = undefined;
        throw error;
      },
    );
    const requested: NonNullable<typeof current> = { pending, until: Number.POSITIVE_INFINITY };
    current = requested;
    return pending;
  };
  return {
    get: () => (current && now() < current.until ? current.pending : renew()),
    drop(isRefused) {
      if (current?.granted && isRefused(current.granted.value)) current = undefined;
    },
  };
};

/** Characters that a header may contain. The error for an invalid header would quote the token. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);
const Granted = z.object({ access_token: Token, expires_in: z.coerce.number().positive() });
export type Granted = z.infer<typeof Granted>;

export const createTokenSource = (
  request: () => Promise<Granted>,
  { now }: Pick<TokenDeps, 'now'>,
): TokenSource =>
  createSource(
    async () => {
      const { access_token, expires_in } = await request();
      return { value: access_token, until: now() + expires_in * 1000 };
    },
    { now },
  );

/** `by` and `refused`: for errors, the service that grants the token and the text for a rejection. */
type Exchange = { url: string; by: string; refused: string } & (
  | { form: Readonly<Record<string, string>> }
  | { headers: Readonly<Record<string, string>> }
);

const LONGEST_MS = 30_000;

/** Posts the form, or requests the address with the headers. @throws ModelError that quotes no credential */
export const exchange = async (target: Exchange, { text }: Pick<TokenDeps, 'text'>): Promise<Granted> => {
  const common = { url: target.url, most: BOUNDS.tokenBytes, signal: AbortSignal.timeout(LONGEST_MS) };
  const request =
    'form' in target
      ? ({
          ...common,
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(target.form).toString(),
        } as const)
      : ({ ...common, method: 'GET', headers: target.headers } as const);
  const { status, body } = await text(request).catch((error: unknown) => withoutBody(error, target.by));
  const granted = Granted.safeParse(jsonOrUndefined(body));
  if (status < 300 && granted.success) return granted.data;
  const kind = status >= 500 || status === 429 ? 'provider' : 'unauthorized';
  throw new ModelError(kind, `${target.refused} (status ${status})`, { status });
};

/** An unreadable body grants no token; its status explains the failure. */
const withoutBody = (error: unknown, by: string): Pick<TextResponse, 'status' | 'body'> => {
  if (error instanceof UnreadableBody) return { status: error.status, body: '' };
  throw new ModelError('provider', `${by}: ${describeMissingResponse(error)}`);
};

type Authorization = {
  headers(signal: AbortSignal): Promise<Record<string, string>>;
  renew(refused: Readonly<Record<string, string>>): boolean;
};

const BEARER = 'Bearer ';

/**
 * Headers with a token. Several calls may share a token, so the signal of a call aborts its wait and not the exchange.
 * `more`: additional headers of every request.
 */
export const createBearerAuthorization = (
  source: TokenSource,
  more: Readonly<Record<string, string>> = {},
): Authorization => ({
  headers: async (signal) => ({
    authorization: `${BEARER}${await orAborted(source.get(), signal)}`,
    ...more,
  }),
  renew({ authorization = '' }) {
    if (!authorization.startsWith(BEARER)) return false;
    source.drop((token) => authorization === `${BEARER}${token}`);
    return true;
  },
});

/** Resolves with the value, or rejects with the reason of the signal if that is aborted first. */
export const orAborted = <Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  return new Promise<Value>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
};
