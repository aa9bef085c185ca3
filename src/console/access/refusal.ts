import { statusOf } from '../data/error.ts';
import { redactText } from '../data/redact-text.ts';

/** Where messages of the service belong. */

/** Beginnings of messages, and the field that each concerns. The first one that matches counts. */
export type Places = readonly (readonly [begin: RegExp, field: string])[];

/**
 * The problems of a form whose request was refused, by field; the empty field is the form itself.
 * @throws the error, if it is not about the content of the request
 */
export const refusedFields = (error: unknown, places: Places): ReadonlyMap<string, string> => {
  const status = statusOf(error);
  if (!(error instanceof Error) || status === undefined || status === 401 || status >= 500) throw error;
  const [, field] = places.find(([begin]) => begin.test(error.message)) ?? ['', ''];
  return new Map([[field, redactText(error.message)]]);
};
