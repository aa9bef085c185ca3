import { isObject, type JsonObject } from '../data/guard.ts';
import type { Say } from '../i18n/locale.ts';
import { isKey, type Texts } from '../i18n/texts.ts';
import { type SeenProps, useWordAt, type Words } from './context.ts';

/** Hints of a `ui_schema`, and the texts of a field. */

export const textIn = (source: JsonObject, key: string): string | undefined => {
  const value = source[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const uiOf = (ui: JsonObject, name: string): JsonObject => {
  const inner = ui[name];
  return isObject(inner) ? inner : {};
};

export const listIn = (source: JsonObject, key: string): readonly unknown[] => {
  const value = source[key];
  return Array.isArray(value) ? value : [];
};

/** The help of a field. A field that the texts name has no other help than theirs. */
export const useHelp = ({ ui, seen, path }: Pick<SeenProps, 'ui' | 'seen' | 'path'>): string | undefined => {
  const wordAt = useWordAt();
  if (wordAt(path) !== undefined) return wordAt(path, 'help');
  return textIn(ui, 'ui:description') ?? textIn(seen.schema, 'description');
};

export const isReadOnly = ({ ui, seen }: SeenProps): boolean =>
  ui['ui:readonly'] === true || seen.schema.readOnly === true;

/** The value that stands for an empty input. */
export const nothing = (
  { seen, isRequired }: Pick<SeenProps, 'seen' | 'isRequired'>,
  empty?: unknown,
): unknown => {
  if (seen.isNullable) return null;
  return isRequired ? empty : undefined;
};

/** Sets a member, or removes it if it is undefined. */
export const withMember = (value: JsonObject, name: string, member: unknown): JsonObject => {
  if (member !== undefined) return { ...value, [name]: member };
  const { [name]: _, ...others } = value;
  return others;
};

/** The texts of a dictionary by place. */
export const wordsFrom =
  <K extends string>(t: Say<K>, texts: Texts<K>, keyOf: (place: string) => string): Words =>
  (place) => {
    const key = keyOf(place);
    return isKey(texts, key) ? t(key) : undefined;
  };

/** The members that differ; removed ones are undefined. */
export const changesIn = (before: JsonObject, after: JsonObject): JsonObject =>
  Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])]
      .filter((name) => before[name] !== after[name])
      .map((name) => [name, after[name]]),
  );
