import type { Caller, ConfigService } from '../../src/configuration/control-plane/api.ts';
import type { LiveModels } from '../../src/configuration/control-plane/live.ts';
import { createModels } from '../../src/configuration/models.ts';
import { openEnvelope } from '../../src/configuration/namespaces/envelope.ts';
import { asPayload } from '../../src/configuration/namespaces/namespace.ts';
import { createNamespaces } from '../../src/configuration/namespaces/namespaces.ts';
import { NO_RECORDS, type Records } from '../../src/configuration/records.ts';
import type { Provider } from '../../src/models/model.ts';
import type { JsonObject } from '../../src/schema/endpoint.ts';
import { Conflict } from '../../src/schema/outcome.ts';
import { plainRoutes } from '../configuration/routes.ts';
import { NO_TRANSPORT } from '../models/create-provider.ts';

/** The part of a configuration that the assistant uses, in memory, with the real rules for agents. */

export const CALLER: Caller = { actor: 'tester', request_id: 'req-1' };

type Audited = Parameters<ConfigService['audit']['record']>[0] & Caller;

export const memoryConfig = ({ providers = [] }: { providers?: JsonObject[] } = {}) => {
  const namespace = createNamespaces().of('agents');
  const agents = new Map<string, JsonObject>();
  const audited: Audited[] = [];
  const checked = (body: unknown, replaced?: string): JsonObject => {
    const envelope = openEnvelope(body, replaced);
    if (replaced === undefined && agents.has(envelope.id))
      throw new Conflict(`conflict: agents/${envelope.id} already exists`);
    return asPayload(() => namespace.check(namespace.prepare(envelope.body)));
  };
  const config = {
    capabilities: (): JsonObject => ({ agents: [...agents.keys()] }),
    list: () => ({ namespace: 'providers' as const, items: providers, offset: 0, limit: 100 }),
    providerSpec: (id: string) => providers.find((provider) => provider.id === id) ?? {},
    validate: async (_: string, body: unknown, id?: string) => namespace.redact(checked(body, id)),
    async create(_: string, body: unknown, caller: Caller) {
      const spec = checked(body);
      agents.set(String(spec.id), spec);
      audited.push({ ...caller, action: 'create', resource: `agents/${String(spec.id)}` });
      return namespace.redact(spec);
    },
    audit: {
      page: () => ({ items: [] }),
      async record(event: Parameters<ConfigService['audit']['record']>[0], caller: Caller) {
        audited.push({ ...caller, ...event });
      },
    },
  };
  return { config, agents, audited };
};

/** The models of a registry with these records. */
export const liveModels = (records: Partial<Records>, providers: readonly Provider[] = []): LiveModels => {
  const all = { ...NO_RECORDS, ...records };
  const { target } = createModels({
    records: all,
    providers,
    routes: plainRoutes,
    env: {},
    transport: NO_TRANSPORT,
  });
  return {
    ...all,
    providers: [...all.providers, ...providers.map(({ id }) => ({ id }))],
    target,
    resolution_id: '1',
  };
};
