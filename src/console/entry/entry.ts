import { isObject, type JsonObject } from '../data/guard.ts';
import type { Meta } from '../data/meta.ts';
import type { Namespace } from '../data/records.ts';
import { same } from '../data/spec.ts';
import type { Entity } from '../data/use-write.ts';

/** One entry of the configuration while it is open in a form. */

export type Spec = JsonObject & { id: string };

export type EntryKind = { namespace: Namespace; entity: Entity };

export type Opened = {
  isNew: boolean;
  /** As the service has it; of a new one, what it starts with. */
  start: Spec;
  /** Undefined: nothing is known of it beside itself. */
  meta: Meta | undefined;
};

/** What is wrong with a field: its path, and what is said of it. In the order in which fields stand. */
export type Errors = ReadonlyMap<string, string>;

export const NO_ERRORS: Errors = new Map();

export const asSpec = (record: JsonObject): Spec => ({
  ...record,
  id: typeof record.id === 'string' ? record.id : '',
});

/** What says nothing is taken out of it. */
export const withFields = (spec: Spec, fields: JsonObject): Spec => {
  const next: JsonObject = { ...spec, ...fields };
  const kept = Object.entries(next).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(kept), id: asSpec(next).id };
};

export const isDirty = (opened: Opened, draft: Spec): boolean => !same(opened.start, draft);

export const revisionOf = (meta: Meta | undefined): number | undefined => meta?.revision ?? meta?.version;

/** Without what was said of fields that have changed since. */
export const withoutFields = (errors: Errors, fields: readonly string[]): Errors =>
  new Map(
    [...errors].filter(([field]) => !fields.some((one) => field === one || field.startsWith(`${one}.`))),
  );

export const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

const PREFIX =
  /^(invalid payload: |invalid managed config: |registry validation failed: |conflict: |invalid [\w ]+ spec: )+/;

const NAMED = /field '([^']+)'/;
const BEGINS_WITH = /^([a-z_]+(?:[.[][\w.\]]+)?)(?=[: ])/;

/** The one that it names as such, or the first that it speaks of by a name that is no word of prose. */
const fieldIn = (text: string, named: string, fields: readonly string[]): string => {
  const [root = ''] = named.split(/[.[]/);
  const known = [named, root].find((each) => fields.includes(each));
  if (known !== undefined) return known;
  return text.match(/\w+/g)?.find((word) => word.includes('_') && fields.includes(word)) ?? '';
};

/** What the service says, by field; what names none of these is under the empty one. */
export const saidOf = (message: string, fields: readonly string[]): Errors => {
  const errors = new Map<string, string>();
  for (const part of message.replace(PREFIX, '').split('; ')) {
    const text = part.replace(PREFIX, '');
    const [, named = ''] = NAMED.exec(text) ?? BEGINS_WITH.exec(text) ?? [];
    const field = /already (exists|registered)/.test(text) ? 'id' : fieldIn(text, named, fields);
    errors.set(field, errors.has(field) ? `${errors.get(field)}; ${text}` : text);
  }
  return errors;
};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
