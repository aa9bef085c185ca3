import { etagOf, isCached } from '../../http/etag.ts';
import { plainText, type Reply, reply } from '../../http/reply.ts';
import { createTokenCheck } from '../../identity/token.ts';
import { agentCard, type CardAgent, type CardFacts } from '../../protocols/a2a/card.ts';
import type { CardAgents } from '../../protocols/a2a/card-agents.ts';
import { agentNotFound, noAgents, noExtendedCard, unauthenticated } from '../../protocols/a2a/errors.ts';
import { may } from '../../schema/principal.ts';
import { withoutTrailingSlashes } from '../../schema/trailing-slashes.ts';
import type { A2aRequest } from './handlers.ts';
import { answerType } from './negotiation.ts';

/**
 * Serves agent cards (a2a.md 4, 5).
 *
 * Guarantees: a card belongs to the live publication.
 * Cost: one cached card per publication, origin, tenant and media type. At most `MOST_KEPT` are cached, because any
 * client can invent hosts.
 */
export type CardSettings = {
  a2a_extended_card_bearer_token?: string | undefined;
  a2a_public_base_url?: string | undefined;
  identity: { issuers: readonly { id: string; issuer: string }[] };
  a2a_provider_organization: string;
  a2a_provider_url?: string | undefined;
  a2a_strict_card: boolean;
  a2a_push_enabled: boolean;
  trust_forwarded_headers: boolean;
};

type CardRequest = Pick<A2aRequest, 'header' | 'origin' | 'tenant' | 'principal'>;

export type Cards = {
  /** @throws A2aError 404 */
  discover(request: Pick<A2aRequest, 'header' | 'origin'>): Reply;
  /**
   * Shows all agents to a holder of the token of the card, and to other principals those that they may invoke.
   *
   * @throws A2aError 501, 404, 401
   */
  extended(request: CardRequest): Reply;
  /** Returns whether a request has the token of the extended card. */
  hasToken(header: A2aRequest['header']): boolean;
};

type Kept = { text: string; etag: string };

const MOST_KEPT = 200;

export const createCards = (deps: CardDeps): Cards => {
  const { agents, settings } = deps;
  const token = settings.a2a_extended_card_bearer_token?.trim();
  const isToken = token ? createTokenCheck(token) : undefined;
  const cache = createCardCache(agents);
  const factsFor = (request: Pick<A2aRequest, 'origin'>): CardFacts =>
    readFacts(deps, request, isToken !== undefined);
  const agent = (id: string): CardAgent => ({ id, description: agents.describe(id) });

  const publicAgent = (): string => {
    const id = agents.publicAgent();
    if (id === undefined) throw noAgents();
    return id;
  };

  const hasToken: Cards['hasToken'] = (header) => {
    const given = bearerIn(header('authorization'));
    return isToken !== undefined && given.kind === 'bearer' && isToken(given.token);
  };

  const extendedOf = (facts: CardFacts, shown: readonly string[]): object => {
    const main = publicAgent();
    const [first] = shown;
    if (first === undefined) throw noAgents();
    // The interface without a tenant leads to the public agent.
    if (shown.includes(main)) return agentCard(agent(main), facts, { tenants: shown.map(agent) });
    const others = shown.filter((id) => id !== first);
    return agentCard(agent(first), facts, { own: true, tenants: others.map(agent) });
  };

  return {
    discover(request) {
      const facts = factsFor(request);
      const id = publicAgent();
      const type = answerType(request.header('accept'));
      const card = cache(['public', facts.origin], type, () => agentCard(agent(id), facts));
      const headers = headersOf(card, deps);
      return isCached(request.header('if-none-match'), card.etag)
        ? reply(304, undefined, headers)
        : { ...plainText(card.text, type), headers };
    },
    extended(request) {
      if (!isToken) throw noExtendedCard();
      const { tenant, header } = request;
      agents.checkTenant(tenant);
      const mayUse = hasToken(header) ? () => true : invocableBy(request);
      if (tenant !== undefined && !mayUse(tenant)) throw agentNotFound(tenant);
      const shown = tenant === undefined ? agents.tenants().filter(mayUse) : [];
      const facts = factsFor(request);
      const type = answerType(header('accept'));
      const { text } = cache(['extended', facts.origin, tenant, ...shown], type, () =>
        tenant === undefined ? extendedOf(facts, shown) : agentCard(agent(tenant), facts, { own: true }),
      );
      return { ...plainText(text, type), headers: { 'cache-control': 'no-store' } };
    },
    hasToken,
  };
};

type CardDeps = {
  agents: CardAgents;
  settings: CardSettings;
  version: string;
  /** Whether requests without a credential are accepted. */
  isOpen: boolean;
};

const readFacts = (
  { settings, version, isOpen }: CardDeps,
  { origin }: Pick<A2aRequest, 'origin'>,
  extended: boolean,
): CardFacts => ({
  version,
  origin: baseOf(settings) ?? origin(),
  organization: settings.a2a_provider_organization,
  providerUrl: settings.a2a_provider_url,
  push: settings.a2a_push_enabled,
  extended,
  isOpen,
  issuers: settings.identity.issuers,
  strict: settings.a2a_strict_card,
});

/** A separate address for A2A may have a path. */
const baseOf = ({ a2a_public_base_url: url }: CardSettings): string | undefined =>
  url === undefined ? undefined : withoutTrailingSlashes(url);

/** Clears the cache with each publication, and when it is full. */
const createCardCache = (agents: CardAgents) => {
  let kept = new Map<string, Kept>();
  let of: object | undefined;
  return (name: readonly unknown[], type: string, make: () => object): Kept => {
    const published = agents.published();
    if (of !== published || kept.size >= MOST_KEPT) kept = new Map();
    of = published;
    const key = JSON.stringify([...name, type]);
    const known = kept.get(key);
    if (known) return known;
    const text = JSON.stringify(make());
    const card = { text, etag: etagOf(type, text) };
    kept.set(key, card);
    return card;
  };
};

const headersOf = ({ etag }: Kept, { agents, settings }: CardDeps): Record<string, string> => ({
  'cache-control': 'public, max-age=60',
  etag,
  'last-modified': new Date(agents.published().published_at).toUTCString(),
  // A card contains the origin of its request.
  vary: settings.trust_forwarded_headers
    ? 'Accept, Host, X-Forwarded-Host, X-Forwarded-Proto'
    : 'Accept, Host',
});

/**
 * Returns which agents a request without the token of the card may see. A request without a credential sees none.
 *
 * @throws A2aError 401
 */
const invocableBy = ({ header, principal }: CardRequest): ((id: string) => boolean) => {
  if (principal.credential.kind === 'anonymous') {
    const { kind } = bearerIn(header('authorization'));
    throw unauthenticated(UNAUTHENTICATED[kind]);
  }
  return (id) => may(principal, ['invoke', id]);
};

const UNAUTHENTICATED = {
  none: 'missing Authorization header for extendedAgentCard',
  other: 'Authorization header must use Bearer authentication',
  bearer: 'invalid bearer token for extendedAgentCard',
};

type Given = { kind: 'none' | 'other' } | { kind: 'bearer'; token: string };

const bearerIn = (authorization: string | undefined): Given => {
  if (authorization === undefined) return { kind: 'none' };
  const space = authorization.indexOf(' ');
  const isBearer = space >= 0 && authorization.slice(0, space).toLowerCase() === 'bearer';
  return isBearer ? { kind: 'bearer', token: authorization.slice(space + 1).trim() } : { kind: 'other' };
};
