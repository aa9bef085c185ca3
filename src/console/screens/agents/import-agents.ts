import { each, type Result } from '../../data/each.ts';
import { anyObject, isObject, type JsonObject } from '../../data/guard.ts';
import { MASK } from '../../data/redact-text.ts';
import { send } from '../../data/request.ts';

/** Agents from a file: each is checked by the service before any is created, and each has a result of its own. */

export type Found = { id: string; spec: JsonObject };

/** What the service keeps itself. */
const NOT_SENT = new Set(['created_at', 'updated_at']);

const listIn = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  const { items, agents } = value;
  return Array.isArray(items) ? items : Array.isArray(agents) ? agents : [value];
};

export type Problem = 'json' | 'none' | 'id' | 'twice';

/** One specification, a list of them, or the answer of a list route. @returns what is wrong where it is none of these */
export const agentsIn = (written: string): { found: Found[] } | { problem: Problem } => {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    return { problem: 'json' };
  }
  const specs = listIn(value).filter(isObject);
  if (specs.length === 0) return { problem: 'none' };
  const found = specs.map((spec): Found => {
    const kept = Object.fromEntries(Object.entries(spec).filter(([name]) => !NOT_SENT.has(name)));
    return { id: typeof spec.id === 'string' ? spec.id : '', spec: kept };
  });
  if (found.some(({ id }) => id === '')) return { problem: 'id' };
  return new Set(found.map(({ id }) => id)).size === found.length ? { found } : { problem: 'twice' };
};

/** A secret was masked when it was exported: it would be stored as the mask. */
export const isMasked = (spec: unknown): boolean => JSON.stringify(spec).includes(`"${MASK}"`);

const sendAll = (path: string, found: readonly Found[]): Promise<Result[]> => {
  const specs = new Map(found.map(({ id, spec }) => [id, spec]));
  return each([...specs.keys()], async (id) => {
    await send({ method: 'POST', path, body: specs.get(id) }, anyObject);
  });
};

export const checkAll = (found: readonly Found[]): Promise<Result[]> =>
  sendAll('/v1/config/agents/validate', found);

export const createAll = (found: readonly Found[]): Promise<Result[]> => sendAll('/v1/config/agents', found);
