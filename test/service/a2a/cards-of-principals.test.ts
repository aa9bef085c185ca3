import { SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import t, { type Test } from 'tap';
import { ADMIN_TOKEN, startTroupe, type TroupeOptions } from '../troupe.ts';

/** Credentials on A2A: identity.md 3.3, and check 54. */

const CARD = '/.well-known/agent-card.json';
const EXTENDED = '/v1/a2a/extendedAgentCard';
const TOKEN = 'token of the card';
const ISSUERS = [
  { id: 'acme', issuer: 'https://login.acme.example/', audiences: ['https://agents.example'] },
];
const BEARER = { httpAuthSecurityScheme: { scheme: 'Bearer' } };
const OPEN_ID = {
  openIdConnectSecurityScheme: {
    openIdConnectUrl: 'https://login.acme.example/.well-known/openid-configuration',
  },
};

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const started = async (t: Test, settings: TroupeOptions['settings'] = {}) => {
  const troupe = await startTroupe(t, {
    settings: { identity: { anonymous: 'never' }, a2a_extended_card_bearer_token: TOKEN, ...settings },
  });
  const keyWith = async (user: string, ...grants: string[]): Promise<string> => {
    const body = { name: user, user, new_user: { kind: 'person', grants } };
    return String((await troupe.call('POST', '/v1/keys', body, bearer(ADMIN_TOKEN))).body.key);
  };
  const extended = (token: string, path = EXTENDED) => troupe.call('GET', path, undefined, bearer(token));
  return { ...troupe, troupe, keyWith, extended };
};

type Card = { name: string; supportedInterfaces: { tenant?: string }[]; skills: { id: string }[] };

/** The agents that a card shows. */
const shown = (body: unknown) => {
  const { name, supportedInterfaces, skills } = body as Card;
  return [name, supportedInterfaces.map(({ tenant }) => tenant), skills.map(({ id }) => id)];
};

t.test('the card of a closed service offers a bearer and each identity provider (check 54)', async (t) => {
  const closed = await started(t, {
    identity: { anonymous: 'never', issuers: ISSUERS },
    a2a_extended_card_bearer_token: undefined,
  });
  const { body } = await closed.call('GET', CARD);
  t.strictSame(body.securitySchemes, { bearer: BEARER, oidc_acme: OPEN_ID });
  t.strictSame(body.securityRequirements, [
    { schemes: { bearer: { list: [] } } },
    { schemes: { oidc_acme: { list: [] } } },
  ]);
});

t.test('the card has no schemes where anonymous access holds (check 54)', async (t) => {
  const open = await started(t, {
    identity: { anonymous: 'always', issuers: ISSUERS },
    a2a_extended_card_bearer_token: undefined,
  });
  const { body } = await open.call('GET', CARD);
  t.notOk('securitySchemes' in body);
  t.notOk('securityRequirements' in body);
});

t.test('the extended card shows a principal the agents that it may invoke (check 54)', async (t) => {
  const { keyWith, extended } = await started(t);
  const one = await keyWith('one', 'invoke:echo');
  t.strictSame(shown((await extended(one)).body), ['echo', ['echo'], ['echo']]);
  const two = await keyWith('two', 'invoke:echo', 'invoke:default');
  t.strictSame(shown((await extended(two)).body), [
    'default',
    [undefined, 'default', 'echo'],
    ['default', 'echo'],
  ]);
  const all = ['default', 'echo', 'flaky', 'slow', 'steps'];
  for (const token of [TOKEN, ADMIN_TOKEN, await keyWith('member', 'member')]) {
    t.strictSame(shown((await extended(token)).body), ['default', [undefined, ...all], all]);
  }
  const another = await keyWith('another', 'invoke:slow');
  t.strictSame(shown((await extended(another)).body), ['slow', ['slow'], ['slow']], 'cards are not mixed up');
});

t.test('the extended card of an agent is unknown to a principal that may not invoke it', async (t) => {
  const { keyWith, extended } = await started(t);
  const key = await keyWith('one', 'invoke:echo');
  t.equal((await extended(key, '/v1/a2a/echo/extendedAgentCard')).status, 200);
  const [refused, unknown] = await Promise.all(
    ['slow', 'none'].map((id) => extended(key, `/v1/a2a/${id}/extendedAgentCard`)),
  );
  t.equal(refused?.status, 404);
  const text = (answer: typeof refused): string => JSON.stringify(answer?.body).replaceAll(/slow|none/g, '…');
  t.equal(text(refused), text(unknown));
});

t.test('the extended card requires a credential and the grant invoke', async (t) => {
  const { call, keyWith, extended } = await started(t);
  t.match(await call('GET', EXTENDED), { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } });
  t.match(await extended('wrong'), { status: 401, body: { error: { status: 'UNAUTHENTICATED' } } });
  t.match(await extended(await keyWith('reader', 'read:all')), {
    status: 403,
    body: { error: { status: 'PERMISSION_DENIED' } },
  });
});

t.test('a principal gets 501 for an extended card that is not configured', async (t) => {
  const { extended, keyWith } = await started(t, { a2a_extended_card_bearer_token: undefined });
  t.equal((await extended(await keyWith('member', 'member'))).status, 501);
});

t.test('refusals of credentials and rights have the envelope of A2A (check 54)', async (t) => {
  const { call, keyWith } = await started(t);
  const missing = await call('GET', '/v1/a2a/tasks');
  t.equal(missing.headers.get('www-authenticate'), 'Bearer');
  t.match(missing, {
    status: 401,
    body: { error: { code: 401, status: 'UNAUTHENTICATED', details: [{ reason: 'UNAUTHENTICATED' }] } },
  });
  const denied = await call('GET', '/v1/a2a/tasks', undefined, bearer(await keyWith('nothing', 'keys')));
  t.match(denied, {
    status: 403,
    body: {
      error: {
        code: 403,
        status: 'PERMISSION_DENIED',
        details: [{ reason: 'PERMISSION_DENIED', metadata: { needs: 'read' } }],
      },
    },
  });
  for (let attempt = 0; attempt < 20; attempt += 1)
    await call('GET', '/v1/a2a/tasks', undefined, bearer('x'));
  const limited = await call('GET', '/v1/a2a/tasks', undefined, bearer('x'));
  t.match(limited, {
    status: 429,
    body: { error: { code: 429, status: 'RESOURCE_EXHAUSTED', details: [{ reason: 'RATE_LIMITED' }] } },
  });
});

t.test('the official client works with an API key (check 54)', async (t) => {
  const { url, keyWith } = await started(t);
  const key = await keyWith('alice', 'member');
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
  const options = ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
    transports: [new RestTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  const client = await new ClientFactory(options).createFromUrl(url);
  const card = await client.getAgentCard();
  t.ok(card.capabilities?.extendedAgentCard);
  const answer = await client.sendMessage(
    SendMessageRequest.fromJSON({
      message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] },
    }),
  );
  t.ok('status' in answer);
});
