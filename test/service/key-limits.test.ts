import t, { type Test } from 'tap';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';

/** Rights of the holder of a real key over keys and users, as tables: identity.md 1.2, 2.1, checks 18 and 19. */

const bearer = (key: unknown) => ({ authorization: `Bearer ${key}` });
const ADMIN = bearer(ADMIN_TOKEN);
const DAY_SECS = 86_400;

/** The users of the service, with the grants of each. */
const USERS = {
  plain: ['person', ['member']],
  alice: ['person', ['member', 'keys']],
  narrow: ['person', ['invoke:support-*', 'keys']],
  bob: ['person', ['member']],
  op: ['person', ['operator']],
  root: ['person', ['admin']],
  bot: ['service', ['member']],
  app: ['service', ['member', 'act']],
} as const;

type User = keyof typeof USERS;

const started = async (t: Test) => {
  const troupe = await startTroupe(t, { settings: { identity: { anonymous: 'never' } } });
  const keys = new Map<string, { key: string; id: string }>();
  for (const [user, [kind, grants]] of Object.entries(USERS)) {
    const body = { name: user, user, new_user: { kind, grants } };
    const made = await troupe.call('POST', '/v1/keys', body, ADMIN);
    keys.set(user, { key: String(made.body.key), id: String(made.body.id) });
  }
  const idOf = (user: string): string => keys.get(user)?.id ?? '';
  return {
    idOf,
    as: (user: User, method: string, path: string, body?: object) =>
      // Ids of keys are written as `{user}`.
      troupe.call(
        method,
        path.replace(/\{(\w+)\}/, (_, named) => idOf(named)),
        body,
        bearer(keys.get(user)?.key),
      ),
  };
};

type Row = readonly [
  what: string,
  caller: User,
  method: string,
  path: string,
  body: object | undefined,
  status: number,
  expected?: object,
];

const needs = (...grants: string[]) => ({ code: 'forbidden', needs: grants });

const makes = (what: string, caller: User, body: object, status: number, expected?: object): Row => [
  what,
  caller,
  'POST',
  '/v1/keys',
  { name: 'x', ...body },
  status,
  expected,
];

const ROWS: readonly Row[] = [
  // Check 18: keys for oneself, and never more than the caller has.
  makes('a key without keys', 'plain', {}, 403, needs('keys')),
  makes('its own key', 'alice', {}, 201, { user: 'alice' }),
  makes('the key of another user', 'alice', { user: 'bob' }, 403, needs('manage')),
  makes('the key of an unknown user', 'alice', { user: 'nobody' }, 403, needs('manage')),
  makes('a grant that it lacks', 'alice', { grants: ['operate'] }, 403, needs('operate')),
  makes('a service grant that it lacks', 'alice', { grants: ['observe'] }, 403, needs('observe')),
  makes('a wider pattern', 'narrow', { grants: ['invoke:*'] }, 403, needs('invoke:*')),
  makes('a pattern that overlaps', 'narrow', { grants: ['invoke:*-eu'] }, 403, needs('invoke:*-eu')),
  makes('a narrower pattern', 'narrow', { grants: ['invoke:support-eu'] }, 201, {
    grants: ['invoke:support-eu'],
  }),
  makes('an unknown grant', 'alice', { grants: ['nonsense'] }, 400),

  // Check 18: a change only narrows.
  ['more life', 'alice', 'PATCH', '/v1/keys/{alice}', { expires_in_secs: 91 * DAY_SECS }, 400],
  ['less life', 'alice', 'PATCH', '/v1/keys/{alice}', { expires_in_secs: 80 * DAY_SECS }, 200],
  ['the life from before', 'alice', 'PATCH', '/v1/keys/{alice}', { expires_in_secs: 81 * DAY_SECS }, 400],
  ['fewer grants', 'alice', 'PATCH', '/v1/keys/{alice}', { grants: ['invoke', 'keys'] }, 200],
  ['a grant again', 'alice', 'PATCH', '/v1/keys/{alice}', { grants: ['invoke', 'keys', 'decide'] }, 400],
  ['a set again', 'alice', 'PATCH', '/v1/keys/{alice}', { grants: ['member', 'keys'] }, 400],
  ['the key of another user', 'alice', 'PATCH', '/v1/keys/{bob}', { name: 'y' }, 404],

  // Check 19: `manage` stays in its scope, below `admin`, and does not impersonate.
  makes('a key in another scope', 'op', { user: 'bot', of_scope: 'globex' }, 403),
  ['keys of another scope', 'op', 'GET', '/v1/keys?of_scope=globex', undefined, 403],
  ['users of another scope', 'op', 'GET', '/v1/users?of_scope=globex', undefined, 403],
  ['a user of another scope', 'op', 'PATCH', '/v1/users/bot?of_scope=globex', { name: 'x' }, 403],
  makes('the key of an admin', 'op', { user: 'root' }, 403),
  ['an admin', 'op', 'PATCH', '/v1/users/root', { disabled: true }, 403],
  ['the sessions of an admin', 'op', 'POST', '/v1/users/root/sign-out', undefined, 403],
  ['an admin', 'op', 'DELETE', '/v1/users/root', undefined, 403],
  ['the key of an admin', 'op', 'DELETE', '/v1/keys/{root}', undefined, 403],
  ['the key of an admin', 'op', 'POST', '/v1/keys/{root}/rotate', {}, 403],
  ['a grant that it lacks', 'op', 'PATCH', '/v1/users/bob', { grants: ['observe'] }, 403, needs('observe')],
  ['an identity', 'op', 'PATCH', '/v1/users/bob', { identity: 'pending' }, 403],
  makes('a key of a person', 'op', { user: 'bob' }, 403),
  ['a key of a person', 'op', 'POST', '/v1/keys/{bob}/rotate', {}, 403],
  makes('a key of a service', 'op', { user: 'bot' }, 201, { grants: ['operator'] }),
  ['a key of a service', 'op', 'POST', '/v1/keys/{bot}/rotate', {}, 201],
  makes(
    'the first key of a person',
    'op',
    { user: 'c', new_user: { kind: 'person', grants: ['viewer'] } },
    201,
  ),
  makes('the second key of a person', 'op', { user: 'c' }, 403),
  ['a key of a person, to end it', 'op', 'DELETE', '/v1/keys/{bob}', undefined, 204],

  // Check 19: `act` makes short keys of persons.
  makes('15 minutes', 'app', { user: 'bob', expires_in_secs: 900 }, 201, { user: 'bob' }),
  makes('2 days', 'app', { user: 'bob', expires_in_secs: 2 * DAY_SECS }, 403),
];

t.test('decides what a key may do with keys and users (checks 18 and 19)', async (t) => {
  const { as } = await started(t);
  for (const [what, caller, method, path, body, status, expected] of ROWS) {
    const answer = await as(caller, method, path, body);
    const label = `${caller}: ${method} ${path}, ${what}`;
    t.equal(answer.status, status, `${label}: ${JSON.stringify(answer.body)}`);
    if (expected) t.match(answer.body, expected, label);
  }
});

t.test('changes nothing when it refuses', async (t) => {
  const { as } = await started(t);
  const state = async () => [
    (await as('root', 'GET', '/v1/users')).body.items,
    (await as('root', 'GET', '/v1/keys?limit=200')).body.items,
  ];
  const withoutTimes = (value: unknown) =>
    JSON.stringify(value, (name, each) => (/^last_/.test(name) ? undefined : each));
  const before = withoutTimes(await state());
  for (const [, caller, method, path, body, status] of ROWS) {
    if (status >= 400 && !path.includes('{alice}')) await as(caller, method, path, body);
  }
  t.equal(withoutTimes(await state()), before);
});
