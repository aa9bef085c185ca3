import { each, type Result } from '../../data/each.ts';
import { anyObject, isObject, type JsonObject } from '../../data/guard.ts';
import { MASK } from '../../data/redact-text.ts';
import { send } from '../../data/request.ts';

/**
 * Import of agents from a file. The service validates each agent before any is created, and each has its own result.
 */

export type Found = { id: string; spec: JsonObject };

/** Fields that the service sets. */
const NOT_SENT = new Set(['created_at', 'updated_at']);

const listIn = (value: unknown): unknown[] => {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return [];
  const { items, agents } = value;
  return Array.isArray(items) ? items : Array.isArray(agents) ? agents : [value];
};

export type Problem = 'json' | 'none' | 'id' | 'twice';

/**
 * Accepts one specification, a list of them, or the response of a list route.
 * @returns the problem with any other input
 */
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

/** True if a secret was masked in the export; importing it would store the mask as the secret. */
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
