import { isObject, type JsonObject } from '../data/guard.ts';
import { say } from '../i18n/locale.ts';
import type { Errors } from './entry.ts';
import { texts } from './texts.ts';

/** What a form sees to be wrong before anything is sent. Each check says it of one field, or nothing. */

type Found = [field: string, text: string][];

export type Check = (draft: JsonObject) => Found;

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== '';

export const required =
  (field: string): Check =>
  (draft) =>
    (typeof draft[field] === 'string' && draft[field].trim() === '') || !isSet(draft[field])
      ? [[field, say(texts, 'problem.required')]]
      : [];

export const count =
  (field: string, least: number): Check =>
  ({ [field]: value }) =>
    !isSet(value) || (typeof value === 'number' && Number.isInteger(value) && value >= least)
      ? []
      : [[field, say(texts, 'problem.count', { least })]];

export const price =
  (field: string): Check =>
  ({ [field]: value }) =>
    !isSet(value) || (typeof value === 'number' && value >= 0) ? [] : [[field, say(texts, 'problem.price')]];

export const webAddress =
  (field: string): Check =>
  ({ [field]: value }) =>
    !isSet(value) ||
    (typeof value === 'string' && /^https?:\/\/[^\s/]/i.test(value.trim()) && URL.canParse(value))
      ? []
      : [[field, say(texts, 'problem.url')]];

export const jsonObject =
  (field: string): Check =>
  ({ [field]: value }) =>
    !isSet(value) || isObject(value) ? [] : [[field, say(texts, 'problem.json', { why: '' })]];

export const allOf =
  (...checks: readonly Check[]) =>
  (draft: JsonObject): Errors =>
    // The first thing that is wrong with a field is what is said of it.
    new Map(checks.flatMap((check) => check(draft)).reverse());
