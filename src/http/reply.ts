import type { StoredText } from '../schema/idempotency.ts';

/** Identifies values of type `Reply`: responses with an explicit status and headers. */

const brand = Symbol('reply');

export type Reply = {
  readonly [brand]: true;
  readonly status: number;
  /** A string, bytes, or text that is generated while it is sent; undefined for a response without a body. */
  readonly text: ReplyText | undefined;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
};

export type ReplyText = string | Uint8Array | Pieces;

/** Chunks of a text or of bytes, generated as the client reads. An iterator that is not read to its end is closed. */
export type Pieces = { readonly pieces: Iterator<string | Uint8Array> };

export const JSON_TYPE = 'application/json';

/** Sends `body` as JSON; without it, the response is empty. */
export const reply = (status: number, body?: unknown, headers?: Record<string, string>): Reply => ({
  [brand]: true,
  status,
  text: body === undefined ? undefined : JSON.stringify(body),
  contentType: JSON_TYPE,
  headers,
});

/** @param cookies values of `Set-Cookie`, which a header of other responses never has */
export const withCookies = (answer: Reply, cookies: readonly string[]): Reply => ({ ...answer, cookies });

/** Sends a response again. */
export const storedReply = ({
  status,
  content_type: contentType,
  headers,
  body: text,
}: StoredText): Reply => ({
  [brand]: true,
  status,
  text,
  contentType,
  headers,
});

/** Sends text that is encoded already. */
export const textReply = (
  text: ReplyText,
  contentType: string,
  headers?: Readonly<Record<string, string>>,
): Reply => ({ [brand]: true, status: 200, text, contentType, headers });

/** @example plainText('ready', 'text/plain; charset=utf-8') */
export const plainText = (text: string, contentType: string, status = 200): Reply => ({
  ...textReply(text, contentType),
  status,
});

/** Sends a file; `headers` may contain its encoding. */
export const fileReply = (
  bytes: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Reply => textReply(bytes, contentType, headers);

export const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' && value !== null && brand in value;
