import { z } from 'zod';
import { checkHost } from '../outbound/guarded-request.ts';
import type { A2aServerSpec } from '../schema/a2a-server.ts';
import { AgentSpec } from '../schema/agent.ts';
import { phrases } from '../schema/phrases.ts';
import { firstProblem } from '../schema/problems.ts';

/**
 * Converts a card to the agent that it describes (a2a.md 13.2).
 *
 * Guarantees: a card cannot refer to a host to which connections are not allowed, all other rules for endpoints apply to
 * it, and it cannot direct the token of its server to an origin that the entry does not name. `timeout_ms` of a server limits the request for its card, not the duration of tasks.
 */

const text = z.string().trim().optional().catch(undefined);

const Interface = z
  .looseObject({
    url: z.string(),
    protocolBinding: text,
    protocolVersion: text,
    tenant: text,
    agentId: text,
    agent_id: text,
  })
  .transform(({ url, protocolBinding, protocolVersion, ...names }) => ({
    url,
    isHttp: protocolBinding?.toUpperCase() === 'HTTP+JSON',
    isCurrent: protocolVersion === '1.0',
    selector: names.tenant || names.agentId || names.agent_id || undefined,
  }));

const Card = z.looseObject({
  name: text,
  description: text,
  supportedInterfaces: z.array(z.unknown()).catch([]),
});

/** The part of a server that its agent depends on. */
type CardSource = Pick<A2aServerSpec, 'id' | 'base_url' | 'auth' | 'auth_origins' | 'target' | 'options'>;

/** @throws Error with the missing field */
export const agentOfCard = (
  { card, card_url }: { card: unknown; card_url: string },
  server: CardSource,
  mayConnect: (address: string) => boolean,
): AgentSpec => {
  const { name, description, supportedInterfaces } = Card.parse(card);
  const { url, selector } = interfaceIn(supportedInterfaces, card_url);
  if (!URL.canParse(url))
    throw new Error(`remote agent card from ${card_url} has an interface without a URL`);
  checkHost(new URL(url).hostname, { mayConnect });
  checkTokenTarget(server, url, card_url);
  const target = server.target?.trim() || selector;
  const agent = AgentSpec.safeParse(
    {
      id: selector ?? slug(name ?? ''),
      ...(description && { description }),
      registry: server.id,
      endpoint: {
        backend: 'a2a',
        base_url: url,
        ...(server.auth && { auth: server.auth }),
        ...(target && { target }),
        options: { ...server.options, a2a_server_id: server.id },
      },
    },
    phrases,
  );
  if (agent.success) return agent.data;
  throw new Error(`remote agent card from ${card_url}: ${firstProblem(agent.error, [])}`);
};

/** A card must not direct the token of its server elsewhere (identity.md 1.2, rule 5). @throws Error */
const checkTokenTarget = (
  { base_url, auth, auth_origins = [] }: CardSource,
  url: string,
  card_url: string,
): void => {
  const own = new URL(base_url).origin;
  const { origin } = new URL(url);
  if (!auth || origin === own || auth_origins.includes(origin)) return;
  throw new Error(
    `remote agent card from ${card_url} names an interface at ${origin}, but the token of the server is for ${own}: list ${origin} in auth_origins to send it there`,
  );
};

const interfaceIn = (given: readonly unknown[], card_url: string): z.infer<typeof Interface> => {
  const http = given.flatMap((each) => Interface.safeParse(each).data ?? []).filter(({ isHttp }) => isHttp);
  const found = http.find(({ isCurrent }) => isCurrent) ?? http[0];
  if (found) return found;
  throw new Error(
    `remote agent card from ${card_url} does not expose a supported HTTP+JSON v1.0 interface: it lists ${given.length}`,
  );
};

const slug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '') || 'agent';
