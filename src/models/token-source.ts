import { z } from 'zod';
import { BOUNDS } from './bounds.ts';
import { ModelError } from './errors.ts';
import { reasonOf, UnreadableBody } from './response.ts';
import type { TextResponse } from './transport/text.ts';
import type { Transport } from './transport/types.ts';

/**
 * Access tokens that a service issues for credentials and that expire.
 *
 * Guarantees: one request for a token at a time, which all callers share; a token is used until shortly before it
 * expires; a request that failed is repeated by the next call.
 * Costs: one request for the lifetime of a token, usually an hour.
 */
export type TokenSource = {
  get(): Promise<string>;
  /** The service refused this token: it is not used again. */
  drop(token: string): void;
};

export type TokenDeps = { text: Transport['text']; now(): number };

/** A token this close to its end is not used any more. */
const MARGIN_MS = 60_000;

/** What can stand in a header; the error of one that cannot would quote it. */
const Token = z.string().regex(/^[\x21-\x7e]{1,16384}$/);
const Granted = z.object({ access_token: Token, expires_in: z.coerce.number().positive() });
export type Granted = z.infer<typeof Granted>;

export const createTokenSource = (
  request: () => Promise<Granted>,
  { now }: Pick<TokenDeps, 'now'>,
): TokenSource => {
  let current: { token: Promise<string>; value?: string; until: number } | undefined;
  const renew = (): Promise<string> => {
    const asked: NonNullable<typeof current> = {
      token: Promise.resolve(''),
      until: Number.POSITIVE_INFINITY,
    };
    asked.token = request()
      .then(({ access_token, expires_in }) => {
        asked.until = now() + expires_in * 1000 - MARGIN_MS;
        asked.value = access_token;
        return access_token;
      })
      .catch((error: unknown) => {
        if (current === asked) current = undefined;
        throw error;
      });
    current = asked;
    return asked.token;
  };
  return {
    get: () => (current && now() < current.until ? current.token : renew()),
    drop(token) {
      if (current?.value === token) current = undefined;
    },
  };
};

/** `by`: the service that grants it and what it grants it to, for the error. */
type Exchange = { url: string; by: string; refused: string } & (
  | { form: Readonly<Record<string, string>> }
  | { headers: Readonly<Record<string, string>> }
);

const LONGEST_MS = 30_000;

/** Posts the form, or requests the address with the headers. @throws ModelError that quotes no credential */
export const exchange = async (asked: Exchange, { text }: Pick<TokenDeps, 'text'>): Promise<Granted> => {
  const common = { url: asked.url, most: BOUNDS.tokenBytes, signal: AbortSignal.timeout(LONGEST_MS) };
  const request =
    'form' in asked
      ? ({
          ...common,
          method: 'POST',
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
          body: new URLSearchParams(asked.form).toString(),
        } as const)
      : ({ ...common, method: 'GET', headers: asked.headers } as const);
  const { status, body } = await text(request).catch((error: unknown) => withoutBody(error, asked.by));
  const granted = Granted.safeParse(parseJson(body));
  if (status < 300 && granted.success) return granted.data;
  const kind = status >= 500 || status === 429 ? 'provider' : 'unauthorized';
  throw new ModelError(kind, `${asked.refused} (status ${status})`, { status });
};

/** What cannot be read grants no token, and its status says why. */
const withoutBody = (error: unknown, by: string): Pick<TextResponse, 'status' | 'body'> => {
  if (error instanceof UnreadableBody) return { status: error.status, body: '' };
  throw new ModelError('provider', `${by}: ${reasonOf(error)}`);
};

/** Undefined for text that is no JSON: the error of the parser would quote it. */
export const parseJson = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
};

type Authorization = {
  headers(signal: AbortSignal): Promise<Record<string, string>>;
  renew(refused: Readonly<Record<string, string>>): boolean;
};

const BEARER = 'Bearer ';

/**
 * Headers with a token. A token may be shared by several calls, so the signal of a call ends its wait and not the
 * exchange. `more`: further headers of every request.
 */
export const bearerOf = (
  source: TokenSource,
  more: Readonly<Record<string, string>> = {},
): Authorization => ({
  headers: async (signal) => ({
    authorization: `${BEARER}${await orAborted(source.get(), signal)}`,
    ...more,
  }),
  renew({ authorization = '' }) {
    if (!authorization.startsWith(BEARER)) return false;
    source.drop(authorization.slice(BEARER.length));
    return true;
  },
});

const orAborted = <Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> => {
  return new Promise<Value>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    value.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
};
