import { etagOf, isCached } from '../../http/etag.ts';
import type { Scheme } from '../../http/listen-address.ts';
import { publicOrigin } from '../../http/public-origin.ts';
import { plainText, type Reply, reply } from '../../http/reply.ts';
import { createTokenCheck } from '../../identity/token.ts';
import { agentCard, type CardAgent, type CardFacts } from '../../protocols/a2a/card.ts';
import type { CardAgents } from '../../protocols/a2a/card-agents.ts';
import { noAgents, noExtendedCard, unauthenticated } from '../../protocols/a2a/errors.ts';
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
  a2a_provider_organization: string;
  a2a_provider_url?: string | undefined;
  a2a_strict_card: boolean;
  a2a_push_enabled: boolean;
  trust_forwarded_headers: boolean;
};

type CardRequest = Pick<A2aRequest, 'header' | 'tenant'>;

export type Cards = {
  /** @throws A2aError 404 */
  discover(request: Pick<A2aRequest, 'header'>): Reply;
  /** @throws A2aError 501, 404, 401 */
  extended(request: CardRequest): Reply;
};

type Kept = { text: string; etag: string };

const MOST_KEPT = 200;

export const createCards = (deps: CardDeps): Cards => {
  const { agents, settings } = deps;
  const token = settings.a2a_extended_card_bearer_token?.trim();
  const isToken = token ? createTokenCheck(token) : undefined;
  const cache = createCardCache(agents);
  const factsFor = (request: Pick<A2aRequest, 'header'>): CardFacts =>
    readFacts(deps, request, isToken !== undefined);
  const agent = (id: string): CardAgent => ({ id, description: agents.describe(id) });

  const publicAgent = (): string => {
    const id = agents.publicAgent();
    if (id === undefined) throw noAgents();
    return id;
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
      const { tenant } = request;
      agents.checkTenant(tenant);
      checkBearer(request.header('authorization'), isToken);
      const id = tenant ?? publicAgent();
      const facts = factsFor(request);
      const type = answerType(request.header('accept'));
      const { text } = cache(['extended', facts.origin, tenant], type, () =>
        tenant === undefined
          ? agentCard(agent(id), facts, { tenants: agents.tenants().map(agent) })
          : agentCard(agent(id), facts, { own: true }),
      );
      return { ...plainText(text, type), headers: { 'cache-control': 'no-store' } };
    },
  };
};

type CardDeps = {
  agents: CardAgents;
  settings: CardSettings;
  scheme: Scheme;
  version: string;
  /** Whether requests without a credential are accepted. */
  isOpen: boolean;
};

const readFacts = (
  { settings, scheme, version, isOpen }: CardDeps,
  { header }: Pick<A2aRequest, 'header'>,
  extended: boolean,
): CardFacts => ({
  version,
  origin: publicOrigin(header, {
    publicUrl: settings.a2a_public_base_url,
    trustForwarded: settings.trust_forwarded_headers,
    scheme,
  }),
  organization: settings.a2a_provider_organization,
  providerUrl: settings.a2a_provider_url,
  push: settings.a2a_push_enabled,
  extended,
  isOpen,
  strict: settings.a2a_strict_card,
});

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

/** @throws A2aError 401 */
const checkBearer = (authorization: string | undefined, isToken: (given: string) => boolean): void => {
  if (authorization === undefined) {
    throw unauthenticated('missing Authorization header for extendedAgentCard');
  }
  const space = authorization.indexOf(' ');
  if (space < 0 || authorization.slice(0, space).toLowerCase() !== 'bearer') {
    throw unauthenticated('Authorization header must use Bearer authentication');
  }
  if (!isToken(authorization.slice(space + 1).trim())) {
    throw unauthenticated('invalid bearer token for extendedAgentCard');
  }
};
