import { z } from 'zod';
import { AgentSpec } from '../schema/agent.ts';
import { ModelSpec, PoolSpec, ProviderSpec } from '../schema/model.ts';
import { phrasesOnce, toProblem } from '../schema/phrases.ts';

/** Configuration entries that can be declared alongside the settings. */
const entryLists = {
  providers: z.array(ProviderSpec),
  models: z.array(ModelSpec),
  model_pools: z.array(PoolSpec),
  agents: z.array(AgentSpec),
};

type ListName = keyof typeof entryLists;

export type Entries = { [L in ListName]: z.output<(typeof entryLists)[L]> };
export type EntriesInput = { [L in ListName]?: z.input<(typeof entryLists)[L]> };

export const entryListNames: readonly string[] = Object.keys(entryLists);

/** A provider may contain its key, so problems state the position in the list and never the value. */
export const parseEntries = (
  find: (list: string) => unknown,
  nameOf: (place: string) => string,
  problems: string[],
): Entries => {
  const listOf = <T extends { id: string }>(list: ListName, schema: z.ZodType<T[]>): T[] => {
    const parsed = schema.safeParse(find(list) ?? [], phrasesOnce);
    if (!parsed.success) {
      const { issues } = parsed.error;
      for (const issue of issues) {
        const { path, text } = toProblem(issue);
        problems.push(`${nameOf(placeIn(list, path))}: ${text}`);
      }
      return [];
    }
    for (const id of repeatedIds(parsed.data)) {
      problems.push(`${nameOf(list)}: more than one entry has the id ${id}; allowed: one`);
    }
    return parsed.data;
  };
  return {
    providers: listOf('providers', entryLists.providers),
    models: listOf('models', entryLists.models),
    model_pools: listOf('model_pools', entryLists.model_pools),
    agents: listOf('agents', entryLists.agents),
  };
};

const placeIn = (list: string, path: readonly PropertyKey[]): string =>
  list + path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');

const repeatedIds = (entries: readonly { id: string }[]): Set<string> => {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { id } of entries) (seen.has(id) ? repeated : seen).add(id);
  return repeated;
};
