import { createHash } from 'node:crypto';
import { plainText, type Reply, reply } from '../../http/reply.ts';
import { createTokenCheck } from '../../http/token.ts';
import { agentCard, type CardAgent, type CardFacts } from '../../protocols/a2a/card.ts';
import type { CardAgents } from '../../protocols/a2a/card-agents.ts';
import { cardOrigin } from '../../protocols/a2a/card-origin.ts';
import { noAgents, noExtendedCard, unauthenticated } from '../../protocols/a2a/errors.ts';
import type { A2aRequest } from './handlers.ts';
import { answerType } from './negotiation.ts';

/**
 * Agent cards as answers (a2a.md 4, 5).
 *
 * Guarantees: a card is that of the publication that is live. Costs one card for each publication, origin, tenant and
 * media type; they are made once, and at most `MOST_KEPT` are kept, since anybody can make up a host.
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

export const createCards = (deps: { agents: CardAgents; settings: CardSettings; version: string }): Cards => {
  const { agents, settings, version } = deps;
  const token = settings.a2a_extended_card_bearer_token?.trim();
  const isToken = token ? createTokenCheck(token) : undefined;
  let kept = new Map<string, Kept>();
  let of: object | undefined;

  const factsFor = ({ header }: Pick<A2aRequest, 'header'>): CardFacts => ({
    version,
    origin: cardOrigin(header, {
      publicUrl: settings.a2a_public_base_url,
      trustForwarded: settings.trust_forwarded_headers,
    }),
    organization: settings.a2a_provider_organization,
    providerUrl: settings.a2a_provider_url,
    push: settings.a2a_push_enabled,
    extended: isToken !== undefined,
    strict: settings.a2a_strict_card,
  });

  const once = (name: readonly unknown[], type: string, make: () => object): Kept => {
    const published = agents.published();
    if (of !== published || kept.size >= MOST_KEPT) kept = new Map();
    of = published;
    const key = JSON.stringify([...name, type]);
    const known = kept.get(key);
    if (known) return known;
    const text = JSON.stringify(make());
    const hash = createHash('sha256').update(type).update(text).digest('base64url').slice(0, 27);
    const card = { text, etag: `"${hash}"` };
    kept.set(key, card);
    return card;
  };

  const agent = (id: string): CardAgent => ({ id, description: agents.describe(id) });

  const publicAgent = (): string => {
    const id = agents.publicAgent();
    if (id === undefined) throw noAgents();
    return id;
  };

  const headersOf = ({ etag }: Kept): Record<string, string> => ({
    'cache-control': 'public, max-age=60',
    etag,
    'last-modified': new Date(agents.published().published_at).toUTCString(),
    // A card names the origin that it was asked under.
    vary: settings.trust_forwarded_headers
      ? 'Accept, Host, X-Forwarded-Host, X-Forwarded-Proto'
      : 'Accept, Host',
  });

  return {
    discover(request) {
      const facts = factsFor(request);
      const id = publicAgent();
      const type = answerType(request.header('accept'));
      const card = once(['public', facts.origin], type, () => agentCard(agent(id), facts));
      const headers = headersOf(card);
      return isKnown(request.header('if-none-match'), card.etag)
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
      const { text } = once(['extended', facts.origin, tenant], type, () =>
        tenant === undefined
          ? agentCard(agent(id), facts, { tenants: agents.tenants().map(agent) })
          : agentCard(agent(id), facts, { own: true }),
      );
      return { ...plainText(text, type), headers: { 'cache-control': 'no-store' } };
    },
  };
};

/** Whether one of the tags is that of the card, weak or not. */
const isKnown = (ifNoneMatch: string | undefined, etag: string): boolean =>
  (ifNoneMatch ?? '')
    .split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''))
    .some((tag) => tag === '*' || tag === etag);

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
