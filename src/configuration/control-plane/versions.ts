import { addressText } from '../../schema/agent-address.ts';
import type { AgentVersion } from '../../schema/agent-version.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { NotFound } from '../../schema/outcome.ts';
import type { Store, VersionMark } from '../../store/index.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import type { ConfigService } from './api.ts';
import { missing } from './entries.ts';
import { refOf, SCOPE } from './publication.ts';
import type { Publisher } from './publisher.ts';

/** Reads the published versions of agents (config.md 8.1). A list is one range read. */
export const createVersions = ({
  store,
  publisher,
  namespaces,
}: {
  store: Pick<Store, 'publications'>;
  publisher: Pick<Publisher, 'marks'>;
  namespaces: Namespaces;
}): ConfigService['versions'] => {
  const agents = namespaces.of('agents');
  const get = (id: string, version: number): JsonObject =>
    agents.redact(publishedVersion(store, id, version));
  return {
    list(id, { before, limit = DEFAULT_LIMIT } = {}) {
      const page = { scope: SCOPE, before, limit: Math.min(Math.max(limit, 1), MAX_LIMIT) };
      const found = store.publications.versions('agent', id, page);
      if (found.length === 0 && before === undefined) throw missing('agents', id);
      const current = publisher.marks().get(refOf({ kind: 'agent', id }))?.version;
      return found.map((mark) => shown(mark, current));
    },
    get,
    async diff(id, { from, to }) {
      const [one, other] = [get(id, from), get(id, to)];
      const { diffAgents } = await import('./agent-diff.ts');
      return diffAgents(one, other);
    },
  };
};

/** Returns the spec with its secrets. @throws NotFound `agent not found: <id>@<version>` */
export const publishedVersion = (
  { publications }: Pick<Store, 'publications'>,
  id: string,
  version: number,
): JsonObject => {
  const found = publications.version(SCOPE, 'agent', id, version);
  if (!found || found.preview)
    throw new NotFound(`agent not found: ${addressText({ agent_id: id, version })}`);
  return found.value;
};

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

const shown = (
  { version, hash, published_at_ms, published_by }: VersionMark,
  current: number | undefined,
): AgentVersion => ({
  version,
  ...(published_at_ms !== undefined && { published_at: published_at_ms }),
  ...(published_by !== undefined && { actor: published_by }),
  hash,
  current: version === current,
});
