import { isObject } from '../schema/endpoint.ts';
import { jsonOrUndefined } from '../schema/json-or-undefined.ts';

/**
 * Extracts a provider's error message from a body of any shape: services that implement another provider's protocol
 * rarely use its error format.
 *
 * Cost: one parse of a body whose length its reader has limited. The text is not masked here; `ModelError` masks it.
 */
export type Refusal = {
  /** Human-readable message; empty if there is none. */
  reason: string;
  /** An HTTP status in the body: some services respond 200 and report the error inside. */
  status?: number;
};

export const refusalIn = (body: string): Refusal => {
  const text = body.replace(/^\uFEFF/, '').trim();
  if (text.startsWith('<')) return { reason: titleOf(text) };
  const json = parsed(text) ?? parsed(dataOf(text));
  return json === undefined ? { reason: oneLine(text) } : readRefusal(json);
};

/** Like `refusalIn`, for parsed JSON. */
export const readRefusal = (json: unknown): Refusal => {
  const reason = oneLine(reasonOf(json, 0) ?? '');
  const status = statusOf(json, 0);
  return { reason, ...(status !== undefined && { status }) };
};

/** Whether JSON in place of a stream is an error and not a completion. */
export const isRefusal = (json: unknown): boolean => {
  const first = Array.isArray(json) ? json[0] : json;
  return isObject(first) && (ERRORS.some((key) => first[key] != null) || first.object === 'error');
};

const ERRORS = ['error', 'errors', 'detail', 'error_message', 'message'] as const;

/** Most informative fields first; the first one with text is used. */
const MESSAGE_FIELDS = [
  'message',
  'error_message',
  'error',
  'errors',
  'detail',
  'details',
  'msg',
  'error_description',
  'description',
  'reason',
  'title',
] as const;

const DEEPEST = 4;

const reasonOf = (value: unknown, depth: number): string | undefined => {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (depth > DEEPEST) return undefined;
  if (Array.isArray(value)) return firstOf(value.slice(0, 10), (item) => reasonOf(item, depth + 1));
  if (!isObject(value)) return undefined;
  // The message of a nested error takes precedence over that of its envelope.
  const inner = isObject(value.error) ? reasonOf(value.error, depth + 1) : undefined;
  return inner ?? firstOf(MESSAGE_FIELDS, (key) => reasonOf(value[key], depth + 1));
};

const firstOf = <Item>(
  items: readonly Item[],
  read: (item: Item) => string | undefined,
): string | undefined => {
  for (const item of items) {
    const found = read(item);
    if (found !== undefined) return found;
  }
  return undefined;
};

const STATUSES = ['status', 'status_code', 'code'] as const;

const statusOf = (value: unknown, depth: number): number | undefined => {
  const found = Array.isArray(value) ? value[0] : value;
  if (!isObject(found) || depth > DEEPEST) return undefined;
  for (const key of STATUSES) {
    const status = Number(found[key]);
    if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  }
  return statusOf(found.error, depth + 1);
};

const parsed = (text: string): unknown => (/^[[{"]/.test(text) ? jsonOrUndefined(text) : undefined);

/** The data of an error event that is the whole body. */
const dataOf = (text: string): string => {
  const [head] = /^(?:event:[^\n]{0,200}\n)?data:/.exec(text.slice(0, 300)) ?? [];
  if (head === undefined) return '';
  const end = text.indexOf('\n', head.length);
  return text.slice(head.length, end < 0 ? undefined : end).trim();
};

const titleOf = (html: string): string => {
  const title = /<title[^>]{0,200}>(?<title>[^<]{1,500})/i.exec(html.slice(0, 64 * 1024))?.groups?.title;
  return `an HTML page${title === undefined ? '' : `: ${oneLine(title)}`}`;
};

const oneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');
