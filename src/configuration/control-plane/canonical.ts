import { createHash } from 'node:crypto';
import { isObject, type JsonObject } from '../../schema/endpoint.ts';

/** The canonical text of a JSON value, and its hash (config.md 7). */

const SURROGATE = /[\ud800-\uffff]/;

/** Compares in the byte order of UTF-8. */
export const byBytes = (one: string, other: string): number => {
  if (one === other) return 0;
  // Below the surrogates, the order of code units is that of bytes.
  if (!SURROGATE.test(one) && !SURROGATE.test(other)) return one < other ? -1 : 1;
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
};

export const hashOf = (value: JsonObject): string =>
  `sha256:${createHash('sha256')
    .update(canonicalText({ value, value_schema_version: 1 }))
    .digest('hex')}`;

/** Implemented here because objects always enumerate integer-like keys first. */
const canonicalText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(byBytes)
    .map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`);
  return `{${members.join(',')}}`;
};
