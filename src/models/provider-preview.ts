import { z } from 'zod';
import { KnownFields, type ProviderSpec } from '../schema/model.ts';
import { BOUNDS } from './bounds.ts';
import { type Capabilities, mergeCapabilities } from './capabilities.ts';
import { knownModel, namesOfCatalog } from './catalog.ts';
import { toPriceFields } from './cost.ts';
import { namedModels } from './model-list.ts';
import { adapterName } from './provider.ts';
import { createProviderProbe, type ListResponse, ProviderTest } from './provider-test.ts';

/**
 * Tests a provider before it is stored, and lists the models that it offers (config.md 12).
 *
 * Guarantees: nothing is stored, and the response contains neither the key nor another secret of the provider.
 * Cost: that of a provider test; at most 8 MiB of a list are read.
 */
export const ProviderPreview = ProviderTest.extend({
  status: z.int().optional().meta({ description: 'HTTP status of the request for the list of models' }),
  models_from: z
    .enum(['provider', 'catalog'])
    .meta({ description: 'the list of the provider, or the catalog of public models' }),
  models: z.array(z.object({ upstream_model: z.string(), known: KnownFields })),
}).meta({
  id: 'ProviderPreview',
  description: 'Whether the provider can be used, and the models that it offers.',
});
export type ProviderPreview = z.infer<typeof ProviderPreview>;

export const createProviderPreview = (deps: Parameters<typeof createProviderProbe>[0]) => {
  const probe = createProviderProbe(deps);
  return async (spec: ProviderSpec): Promise<ProviderPreview> => {
    const { result, list } = await probe(spec, BOUNDS.listBytes);
    const adapter = adapterName(spec.adapter);
    const listed = result.ok && list ? modelsIn(list) : undefined;
    const names = listed ?? new Map(namesOfCatalog(adapter).map((name) => [name, {}]));
    return {
      ...result,
      ...(list && { status: list.status }),
      models_from: listed ? 'provider' : 'catalog',
      models: result.ok
        ? Array.from(names, ([name, found]) => ({
            upstream_model: name,
            known: knownFields(adapter, name, found),
          }))
        : [],
    };
  };
};

/** Undefined unless the response is a list of models with at least one entry. */
const modelsIn = ({ schema, status, body }: ListResponse): ReadonlyMap<string, Capabilities> | undefined => {
  if (status >= 300) return undefined;
  try {
    const list = namedModels(schema, JSON.parse(body));
    return list.size > 0 ? list : undefined;
  } catch {
    // A host without a list responds with another document.
    return undefined;
  }
};

const knownFields = (adapter: string, upstream: string, found: Capabilities): KnownFields => {
  const known = knownModel(adapter, upstream);
  return { ...mergeCapabilities({}, found, known), ...(known?.prices && toPriceFields(known.prices)) };
};
