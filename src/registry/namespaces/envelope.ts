import { isObject, type JsonObject } from '../../schema/endpoint.ts';
import { Invalid } from '../../schema/outcome.ts';
import { invalidPayload } from './namespace.ts';

/** The first step of a write (config.md 2.5), the same for all namespaces. Its messages are whole. */

export type Envelope = { id: string; body: JsonObject };

/**
 * @param expectedId of the path or of `?id=`
 * @returns the body without the times that only metadata has
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
  // What a request or the store brings was JSON.
  return { id, body: { id, ...rest } as JsonObject };
};
