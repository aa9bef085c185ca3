import { isObject, type JsonObject } from '../data/guard.ts';
import type { Meta } from '../data/meta.ts';
import type { Namespace } from '../data/records.ts';
import { MASK } from '../data/redact-text.ts';
import { type Draft, same, withoutUndefined } from '../data/spec.ts';
import type { Entity } from '../feedback/use-write.ts';
import type { Unread } from '../schema-form/context.ts';
import { asItIs, type MergePart, merged, mergeParts, type ReadField } from './merge.ts';

/** One entry of the configuration while it is open in a form. */

export type Spec = Draft;

export type EntryKind = { namespace: Namespace; entity: Entity };

export type Opened = {
  isNew: boolean;
  /** The stored entry, or the initial values of a new one. */
  start: Spec;
  /** Undefined if the entry has no metadata. */
  meta: Meta | undefined;
  /** Values that a new entry takes from another one. */
  copied?: Spec;
};

/** Problems by the path of their field, in the order of the fields. */
export type Errors = ReadonlyMap<string, string>;

export const NO_ERRORS: Errors = new Map();

export const asSpec = (record: JsonObject): Spec => ({
  ...record,
  id: typeof record.id === 'string' ? record.id : '',
});

/** Applies the changed fields and removes the undefined ones. */
export const withFields = (spec: Spec, fields: JsonObject): Spec =>
  asSpec(withoutUndefined({ ...spec, ...fields }));

/** The draft of an opened entry, and texts in it that are not valid JSON yet. */
export type Editing = { opened: Opened; draft: Spec; unread: Unread };

/** Top-level fields that differ. */
export const changedFields = (before: JsonObject, after: JsonObject, read: ReadField = asItIs): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !same(read(before, field), read(after, field)),
  );

export const isDirty = (opened: Opened, draft: Spec, unread: Unread = {}, read?: ReadField): boolean =>
  Object.keys(unread).length > 0 || changedFields(opened.start, draft, read).length > 0;

/** The state after a write: changes of the draft since then are kept. */
export const stored = (now: Editing, sent: Spec, next: Opened, read?: ReadField): Editing => {
  const { draft, unread } = now;
  if (draft === sent) return { opened: next, draft: next.start, unread };
  const parts = mergeParts({ base: sent, theirs: next.start, mine: draft }, read);
  const mine = parts.map((part): MergePart => (part.isConflict ? { ...part, from: 'mine' } : part));
  return { opened: next, draft: merged(next.start, draft, mine), unread };
};

export const revisionOf = (meta: Meta | undefined): number | undefined => meta?.revision ?? meta?.version;

/** Facts about stored secrets, which are not part of the entry. */
const REPORTED = new Set(['has_api_key', 'has_auth', 'has_env', 'env_keys']);

/** The entry as the service accepts it. */
export const writtenOf = (spec: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([field]) => !REPORTED.has(field)));

const withoutMasks = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutMasks);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== MASK);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutMasks(inner)]));
};

/** The values for a copy of an entry. The service does not return secrets, so a copy has none. */
export const copyOf = (spec: Spec): Spec => {
  const values = withoutMasks(writtenOf(spec));
  return asSpec({ ...(isObject(values) ? values : {}), id: `${spec.id}-copy` });
};

/** Removes the problems of fields that have changed since. */
export const withoutFields = (errors: Errors, fields: readonly string[]): Errors => {
  const left = [...errors].filter(
    ([field]) => !fields.some((one) => field === one || field.startsWith(`${one}.`)),
  );
  return left.length === errors.size ? errors : new Map(left);
};

export const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

const PREFIX =
  /^(invalid payload: |invalid managed config: |registry validation failed: |conflict: |invalid [\w ]+ spec(?: patch)?: )+/;

const NAMED = /field '([^']+)'/;
const BEGINS_WITH = /^([a-z_]+(?:[.[][\w.\]]+)?)(?=[: ])/;

/** The field that the text names explicitly, or otherwise the first name in it that cannot be an ordinary word. */
const fieldIn = (text: string, named: string, fields: readonly string[]): string => {
  const [root = ''] = named.split(/[.[]/);
  const known = [named, root].find((each) => fields.includes(each));
  if (known !== undefined) return known;
  return text.match(/\w+/g)?.find((word) => word.includes('_') && fields.includes(word)) ?? '';
};

/** The message of the service by field. Texts that name none of the fields are under the empty key. */
export const saidOf = (
  message: string,
  fields: readonly string[],
  own?: (text: string) => string | undefined,
): Errors => {
  const errors = new Map<string, string>();
  for (const part of message.replace(PREFIX, '').split('; ')) {
    const text = part.replace(PREFIX, '');
    const [, named = ''] = NAMED.exec(text) ?? BEGINS_WITH.exec(text) ?? [];
    const usual = /already (exists|registered)/.test(text) ? 'id' : fieldIn(text, named, fields);
    const field = own?.(text) ?? usual;
    errors.set(field, errors.has(field) ? `${errors.get(field)}; ${text}` : text);
  }
  return errors;
};

export const isWebAddress = (text: string): boolean =>
  /^https?:\/\/[^\s/]/i.test(text.trim()) && URL.canParse(text);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** The id itself, or the first of `id-2`, `id-3`, … that no entry has. */
export const freeId = (id: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(id)) return id;
  let count = 2;
  while (taken.has(`${id}-${count}`)) count += 1;
  return `${id}-${count}`;
};
