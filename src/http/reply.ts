/** An answer with a status and headers of its own. */

const brand = Symbol('reply');

export type Reply = {
  readonly [brand]: true;
  readonly status: number;
  /** Characters, bytes as they are, or a text that is made while it is sent. Undefined: the response has no body. */
  readonly text: ReplyText | undefined;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
};

export type ReplyText = string | Uint8Array | Pieces;

/** Parts of a text, taken as the client reads. */
export type Pieces = { readonly pieces: Iterator<string> };

export const JSON_TYPE = 'application/json';

/** `body` is sent as JSON; without it the response is empty. */
export const reply = (status: number, body?: unknown, headers?: Record<string, string>): Reply => ({
  [brand]: true,
  status,
  text: body === undefined ? undefined : JSON.stringify(body),
  contentType: JSON_TYPE,
  headers,
});

/** A text that is encoded already. */
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

/** What a file holds; `headers` may say how it is encoded. */
export const fileReply = (
  bytes: Uint8Array,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): Reply => textReply(bytes, contentType, headers);

export const isReply = (value: unknown): value is Reply =>
  typeof value === 'object' && value !== null && brand in value;
