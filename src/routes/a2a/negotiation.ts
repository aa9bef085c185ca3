import { parseJson } from '../../http/body.ts';
import { parseQuery } from '../../http/query.ts';
import { JSON_TYPE } from '../../http/reply.ts';
import {
  type A2aError,
  contentTypeNotSupported,
  invalidRequest,
  versionNotSupported,
} from '../../protocols/a2a/errors.ts';
import { isObject } from '../../schema/endpoint.ts';

/** Versions and media types (a2a.md 3.1, 3.2, 3.4). */

export const A2A_JSON = 'application/a2a+json';

const VERSION = /^1\.0(?:\.\d+)?$/;

/** Checks both places: a supported version in one does not excuse an unsupported one in the other. */
export const versionProblem = (header: string | undefined, query: string): A2aError | undefined => {
  const named = [header, ...versionsIn(query)].map((text) => text?.trim() ?? '');
  const unsupported = named.find((version) => version !== '' && !VERSION.test(version));
  return unsupported === undefined ? undefined : versionNotSupported(unsupported);
};

const versionsIn = (query: string): string[] =>
  Object.entries(parseQuery(query)).flatMap(([key, value]) =>
    key.toLowerCase() === 'a2a-version' ? value : [],
  );

const mediaTypeOf = (value: string): string => (value.split(';')[0] ?? '').trim().toLowerCase();

/** Returns the media type of JSON responses: that of A2A only if the client accepts it by name. */
export const answerType = (accept: string | undefined): string =>
  accept?.split(',').some((range) => mediaTypeOf(range) === A2A_JSON) ? A2A_JSON : JSON_TYPE;

/** @throws A2aError */
export const parseBody = (contentType: string | undefined, text: string): Record<string, unknown> => {
  if (![JSON_TYPE, A2A_JSON].includes(mediaTypeOf(contentType ?? ''))) throw contentTypeNotSupported();
  const body = parsed(text);
  if (!isObject(body)) throw invalidBody('not an object');
  return body;
};

const parsed = (text: string): unknown => {
  try {
    return parseJson(text);
  } catch (error) {
    throw invalidBody(error instanceof Error ? error.message : String(error));
  }
};

export const invalidBody = (reason: string) =>
  invalidRequest([{ field: 'body', description: `invalid JSON body: ${reason}` }]);
