import type { JsonObject } from '../data/guard.ts';
import type { Outgoing } from '../data/request.ts';
import { say } from '../i18n/locale.ts';
import { type Problem, problemsIn } from '../schema-form/check.ts';
import type { Schema } from '../schema-form/schema.ts';
import {
  type Editing,
  type EntryKind,
  type Errors,
  ID,
  isWebAddress,
  type Opened,
  objectOf,
  type Spec,
  writtenOf,
} from './entry.ts';
import type { ReadField } from './merge.ts';
import texts from './texts.json' with { type: 'json' };

/** The rules of a namespace, and the problems that they find in a draft. */

export type Found = readonly [field: string, text: string];

export type EntryRules = EntryKind & {
  /** The schema of the entry; its fields are those to which messages of the service are assigned. */
  schema: Schema;
  /** Rules that the schema does not express. */
  check?: ((draft: Spec, opened: Opened) => readonly Found[]) | undefined;
  /** The request body for a draft. */
  bodyOf?: ((draft: JsonObject) => JsonObject) | undefined;
  /** The write that stores a draft, by default of the whole entry; undefined if it would change nothing. */
  writeOf?: ((opened: Opened, draft: Spec) => Outgoing | undefined) | undefined;
  /** The field that a message of the service concerns, for messages that do not name it in the usual way. */
  fieldIn?: ((message: string) => string | undefined) | undefined;
  /** Reads a field for comparisons. */
  read?: ReadField | undefined;
  /** Updates the fields that depend on others. */
  derived?: ((draft: Spec) => Spec) | undefined;
};

const idProblem = ({ isNew }: Opened, { id }: Spec): Found[] => {
  if (!isNew) return [];
  if (id === '') return [['id', say(texts, 'problem.required')]];
  return ID.test(id) ? [] : [['id', say(texts, 'problem.id')]];
};

/** Addresses of services are addresses of the web, which the format `uri` does not express. */
const addressProblems = ({ properties }: Schema, draft: Spec): Found[] =>
  Object.entries(objectOf(properties)).flatMap(([field, property]): Found[] => {
    const value = draft[field];
    const isAddress = objectOf(property).format === 'uri' && typeof value === 'string' && value !== '';
    return isAddress && !isWebAddress(value) ? [[field, say(texts, 'problem.url')]] : [];
  });

/**
 * The first problem of each field. Null removes a value, and the service judges fields that the schema lacks. The id
 * has its own rules.
 */
export const problemsOf = (
  { schema, check, bodyOf = writtenOf }: EntryRules,
  { opened, draft, unread }: Editing,
  textOf: (problem: Problem) => string,
): Errors => {
  const given = Object.fromEntries(Object.entries(bodyOf(draft)).filter(([, value]) => value !== null));
  const shape = problemsIn(schema, given).filter(({ path }) => path !== '' && path !== 'id');
  const found: Found[] = [
    ...idProblem(opened, draft),
    ...Object.keys(unread).map((path): Found => [path, textOf({ path, key: 'problem.json' })]),
    ...(check?.(draft, opened) ?? []),
    ...addressProblems(schema, draft),
    ...shape.map((problem): Found => [problem.path, textOf(problem)]),
  ];
  // The first text of a field wins, and the fields keep their order.
  const first = new Map<string, string>();
  for (const [field, text] of found) if (!first.has(field)) first.set(field, text);
  return first;
};
