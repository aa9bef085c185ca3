import type { Family } from '../../http/family.ts';
import type { Route } from '../../http/route.ts';
import { type AgentToolsDeps, createAgentTools } from '../../protocols/mcp/agents.ts';
import { challengeTo } from '../../protocols/mcp/challenge.ts';
import { createMcpEndpoint } from '../../protocols/mcp/endpoint.ts';
import { createCallerCheck, createHostChecks } from '../../protocols/mcp/origin.ts';
import type { SessionsDeps } from '../../protocols/mcp/sessions.ts';
import { type StdioServing, serveStdio } from '../../protocols/mcp/stdio.ts';
import { adminIn } from '../../schema/principal.ts';
import { mcpRoutes } from './index.ts';
import { metadataRoutes } from './metadata.ts';

/** Exposes the service as an MCP server, with its route and the sessions of its clients. */
export type McpAdapter = {
  families: readonly Family[];
  /** The metadata of the endpoint. */
  routes: readonly Route[];
  /** Called after a publication. */
  published(): void;
  /** Serves a client over pipes. Resolves when the input has ended and all its requests have responses. */
  serve(pipes: Pipes): Promise<void>;
  /** Returns the number of open sessions. */
  sessions(): number;
  /** Ends every session. */
  stop(): void;
};

type Pipes = Parameters<typeof serveStdio>[1];

type AdapterDeps = Omit<AgentToolsDeps, 'published'> &
  Omit<SessionsDeps, 'provider' | 'settings'> & {
    /** The published agents; a new object after each publication. */
    agents(): { readonly ids: readonly string[] };
    /** The address that the service listens on. */
    host: string;
    settings: SessionsDeps['settings'] & {
      /** The scope of clients that connect over pipes. */
      scope_id: string;
      allowed_hosts: readonly string[] | undefined;
      a2a_public_base_url: string | undefined;
      mcp_allowed_hosts: readonly string[];
      mcp_allowed_origins: readonly string[];
      public_url: string | undefined;
      identity: { issuers: readonly { issuer: string }[] };
    };
  };

export const createMcpAdapter = (deps: AdapterDeps): McpAdapter => {
  const { agents, settings } = deps;
  const provider = createAgentTools({ ...deps, published: agents });
  const endpoint = createMcpEndpoint({ ...deps, provider });
  const check = createCallerCheck({
    acceptsHost: createHostChecks({
      listening: deps.host,
      names: [...(settings.allowed_hosts ?? []), ...settings.mcp_allowed_hosts],
      publicUrls: [settings.a2a_public_base_url, settings.public_url],
    }),
    origins: settings.mcp_allowed_origins,
  });
  const issuers = settings.identity.issuers.map(({ issuer }) => issuer);
  const challengeFor = issuers.length > 0 ? challengeTo : undefined;
  let known = namesOf(agents());
  const piped = new Set<StdioServing>();
  return {
    families: [mcpRoutes(endpoint, check, challengeFor)],
    routes: metadataRoutes(issuers),
    published() {
      const names = namesOf(agents());
      if (names === known) return;
      known = names;
      endpoint.toolsChanged();
      for (const serving of piped) serving.toolsChanged();
    },
    async serve(pipes) {
      const serving = await serveStdio(
        { ...deps, provider, principal: adminIn(settings.scope_id, 'program') },
        pipes,
      );
      piped.add(serving);
      await serving.ended.finally(() => piped.delete(serving));
    },
    sessions: () => endpoint.sessions() + piped.size,
    stop() {
      endpoint.close();
      for (const serving of piped) serving.stop();
    },
  };
};

const namesOf = ({ ids }: { ids: readonly string[] }): string => JSON.stringify([...ids].sort());
