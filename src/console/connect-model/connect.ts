import { anything } from '../data/guard.ts';
import { changed } from '../data/records.ts';
import { pathOf, send } from '../data/request.ts';
import { freeId } from '../entry/entry.ts';
import type { Candidate } from './use-preview.ts';

/** Creates a provider, some of its models and an agent in one pass. */

export const PARTS = ['providers', 'models', 'agents'] as const;
export type Part = (typeof PARTS)[number];

/** An entry to create. `name` is that of the provider, or of a model at the provider. */
export type Item = { part: Part; name: string; id: string };

export type Plan = {
  candidate: Candidate;
  /** The provider, its models, and the agent if one is wanted. */
  items: readonly Item[];
  /** System prompt of the agent. */
  prompt: string;
};

export type Outcome = { created: readonly Item[]; failed: readonly (Item & { reason: string })[] };

export const isSame = (one: Omit<Item, 'id'>, other: Item): boolean =>
  one.part === other.part && one.name === other.name;

/** An id in the form that entries accept, made from a name such as `openai/gpt-4o`. */
export const idFrom = (name: string): string =>
  name
    .slice(name.lastIndexOf('/') + 1)
    .toLowerCase()
    .slice(0, 60)
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+/, '')
    .replace(/(?<=[a-z0-9])[^a-z0-9]+$/, '') || 'model';

/** Gives each entry its id: the one that it has already, or otherwise a free one. */
export const withIds = (
  entries: readonly Omit<Item, 'id'>[],
  taken: Readonly<Record<Part, readonly string[]>>,
  idOf: (entry: Omit<Item, 'id'>) => string | undefined,
): Item[] => {
  const used = { ...taken };
  return entries.map((entry) => {
    const { part, name } = entry;
    const id = idOf(entry) ?? freeId(idFrom(name), new Set(used[part]));
    used[part] = [...used[part], id];
    return { ...entry, id };
  });
};

/** The body for an entry; undefined if an entry that it refers to does not exist. */
const bodyOf = ({ part, name, id }: Item, plan: Plan, created: readonly Item[]): object | undefined => {
  if (part === 'providers') return { id, ...plan.candidate };
  const provider = created.find((other) => other.part === 'providers');
  if (part === 'models') return provider && { id, provider_id: provider.id, upstream_model: name };
  const model = created.find((other) => isSame({ part: 'models', name }, other));
  return model && { id, model_id: model.id, system_prompt: plan.prompt };
};

/**
 * Creates the entries that do not exist yet. A failure concerns only the entries that refer to the failed one.
 *
 * @param existing entries that an earlier attempt created
 */
export const connect = async (plan: Plan, existing: readonly Item[]): Promise<Outcome> => {
  const created = [...existing];
  const failed: Outcome['failed'][number][] = [];
  for (const item of plan.items) {
    const body = created.some((other) => isSame(item, other)) ? undefined : bodyOf(item, plan, created);
    if (!body) continue;
    try {
      await send({ method: 'POST', path: pathOf`/v1/config/${item.part}`, body }, anything);
      created.push(item);
    } catch (error) {
      failed.push({ ...item, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  for (const part of PARTS) if (created.length > existing.length) changed(part);
  return { created, failed };
};
