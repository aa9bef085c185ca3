/** An answer with a status and headers of its own. */

const brand = Symbol('reply');

export type Reply = {
  readonly [brand]: true;
  readonly status: number;
  /** Characters, or bytes as they are. Undefined: the response has no body. */
  readonly text: string | Uint8Array | undefined;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
};

export const JSON_TYPE = 'application/json';

/** `body` is sent as JSON; without it the response is empty. */
export const reply = (status: number, body?: unknown, headers?: Record<string, string>): Reply => ({
  [brand]: true,
  status,
  text: body === undefined ? undefined : JSON.stringify(body),
  contentType: JSON_TYPE,
  headers,
});

/** @example plainText(await metrics.render(), 'text/plain; version=0.0.4; charset=utf-8') */
export const plainText = (text: string, contentType: string, status = 200): Reply => ({
  [brand]: true,
  status,
  text,
  contentType,
  headers: undefined,
});

/** What a file holds; `headers` may say how it is encoded. */
export const fileReply = (
  bytes: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Reply => ({ [brand]: true, status: 200, text: bytes, contentType, headers });

export const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' && value !== null && brand in value;
