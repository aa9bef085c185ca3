import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { invalidPayload } from './namespace.ts';

/** The first step of a write (config.md 2.5), the same for all namespaces. Its error messages are complete. */

export type Envelope = { id: string; body: JsonObject };

/**
 * @param expectedId id in the path or in `?id=`
 * @returns the body without the timestamps, which only metadata contains
 * @throws Invalid
 */
export const openEnvelope = (given: unknown, expectedId?: string): Envelope => {
  if (!isObject(given)) throw invalidPayload('expected JSON object body');
  const { created_at: _, updated_at: _updated, id: written, ...rest } = given;
  const id = typeof written === 'string' ? written : '';
  if (id.trim() === '') throw new Invalid("missing 'id' field in body");
  if (expectedId !== undefined && expectedId !== id) {
    throw invalidPayload(`path id '${expectedId}' does not match body id '${id}'`);
  }
  // Values from requests and the store are JSON.
  return { id, body: { id, ...rest } as JsonObject };
};
