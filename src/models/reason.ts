import { isObject } from '../schema/endpoint.ts';

/**
 * What a provider says of a failure, whatever the shape of its body: services that speak the protocol of another one
 * rarely have its errors too.
 *
 * Costs one parse of a body that its reader has bounded. The text is not masked here; `ModelError` does so.
 */
export type Refusal = {
  /** Words for a person; empty where there are none. */
  reason: string;
  /** A status of HTTP that the body names: some services respond 200 and say so inside. */
  status?: number;
};

export const refusalIn = (body: string): Refusal => {
  const text = body.replace(/^\uFEFF/, '').trim();
  if (text.startsWith('<')) return { reason: titleOf(text) };
  const json = parsed(text) ?? parsed(dataOf(text));
  return json === undefined ? { reason: oneLine(text) } : refusalOf(json);
};

/** The same for JSON that was parsed. */
export const refusalOf = (json: unknown): Refusal => {
  const reason = oneLine(reasonOf(json, 0) ?? '');
  const status = statusOf(json, 0);
  return { reason, ...(status !== undefined && { status }) };
};

/** Whether JSON in place of a stream is an error and not an answer. */
export const isRefusal = (json: unknown): boolean => {
  const first = Array.isArray(json) ? json[0] : json;
  return isObject(first) && (ERRORS.some((key) => first[key] != null) || first.object === 'error');
};

const ERRORS = ['error', 'errors', 'detail', 'error_message', 'message'] as const;

/** In the order in which they say the most; the first that has words. */
const WORDS = [
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
  // The words of an error that stands in an envelope come before the words of the envelope.
  const inner = isObject(value.error) ? reasonOf(value.error, depth + 1) : undefined;
  return inner ?? firstOf(WORDS, (key) => reasonOf(value[key], depth + 1));
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

const parsed = (text: string): unknown => {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** An error in the form of an event, as the whole body. */
const dataOf = (text: string): string =>
  /^(?:event:[^\n]{0,200}\n)?data:(?<data>.+)/.exec(text)?.groups?.data?.trim() ?? '';

const titleOf = (html: string): string => {
  const title = /<title[^>]{0,200}>(?<title>[^<]{1,500})/i.exec(html.slice(0, 64 * 1024))?.groups?.title;
  return `an HTML page${title === undefined ? '' : `: ${oneLine(title)}`}`;
};

const oneLine = (text: string): string => text.trim().split(/\s+/).join(' ');
