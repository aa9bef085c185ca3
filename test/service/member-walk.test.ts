import t from 'tap';
import { parseGrants } from '../../src/schema/grants.ts';
import { contractOf } from '../contract/document.ts';
import { ask } from './http.ts';
import { readBlocks } from './stream.ts';
import { ADMIN_TOKEN, startDemo } from './troupe.ts';

/** Walks every operation of the OpenAPI document with the key of a member: identity.md 3.4, check 98. */

type Operation = {
  'x-grants'?: string[];
  security?: object[];
  requestBody?: {
    content?: Record<string, { example?: unknown; examples?: Record<string, { value: unknown }> }>;
  };
};

type Asking = { method: string; path: string; operation: Operation };

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Open on purpose: they show nothing of any user (identity.md 3.3). */
const OPEN = [
  '/health',
  '/health/live',
  '/health/ready',
  '/openapi.json',
  '/.well-known/',
  '/v1/session/',
  '/oauth/',
];

const ID = '0193f0ae-1111-7a00-8000-000000000005';

/** Values for every parameter of a path, encoded; each operation is asked with all of them. */
const VALUES = [ID, 'no%20such%20thing', '%00', '%FF', '1', 'x'.repeat(600)];

const operationsIn = (document: { paths: Record<string, Record<string, Operation>> }): Asking[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    METHODS.flatMap((method) => {
      const operation = methods[method];
      return operation ? [{ method, path, operation }] : [];
    }),
  );

/** The examples of the document, and bodies of wrong types. */
const bodiesOf = ({ requestBody }: Operation): (string | undefined)[] => {
  const content = requestBody?.content?.['application/json'] ?? Object.values(requestBody?.content ?? {})[0];
  if (!content) return [undefined];
  const examples = Object.values(content.examples ?? {}).map(({ value }) => value);
  const given = [content.example, ...examples].filter((value) => value !== undefined);
  return [...given.map((value) => JSON.stringify(value)), '{}', '[]', 'null', '{"id":1}', '{', ''];
};

t.test(
  'a member receives documented statuses, never 5xx, and nothing beyond its grants (check 98)',
  async (t) => {
    const troupe = await startDemo(t, {
      settings: { identity: { anonymous: 'never' }, AdminApiConfig: { bearer_token: ADMIN_TOKEN } },
    });
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const made = await troupe.call(
      'POST',
      '/v1/keys',
      { name: 'k', user: 'alice', new_user: { kind: 'person', grants: ['member'] } },
      admin,
    );
    const alice = { authorization: `Bearer ${made.body.key}` };
    const { body: document } = await troupe.call('GET', '/openapi.json');
    const contract = contractOf(document);
    const operations = operationsIn(document as Parameters<typeof operationsIn>[0]);
    t.ok(operations.length > 150, `${operations.length} operations`);
    const held = new Set<string>(['invoke', 'read', 'decide']);
    const isHeld = ({ 'x-grants': grants }: Operation): boolean =>
      grants === undefined ||
      grants.length === 0 ||
      grants.some((grant) => held.has(grant.split(':')[0] ?? ''));

    const faults = new Set<string>();
    const note = (operation: string, fault: string): void => void faults.add(`${operation}: ${fault}`);
    const send = async ({ method, path, operation }: Asking, filled: string, body: string | undefined) => {
      const name = `${method.toUpperCase()} ${path}`;
      const response = await ask(troupe.url + filled, {
        method: method.toUpperCase(),
        headers: {
          ...alice,
          'a2a-version': '1.0',
          accept: 'application/json, text/event-stream',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body }),
      });
      const { status, headers } = response;
      const type = headers.get('content-type');
      // Some streams follow a thread without an end.
      const isStream = type?.startsWith('text/event-stream') === true;
      if (isStream) await readBlocks(response).close();
      const text = isStream ? '' : await response.text();
      if (status >= 500 && status !== 501) note(name, `${status} ${text.slice(0, 200)}`);
      if (!isHeld(operation) && status < 400) note(name, `${status} without ${operation['x-grants']}`);
      if (!isHeld(operation) && body !== undefined && [400, 415, 422].includes(status))
        note(name, `${status} before the grant is checked`);
      const said = { method, path: filled.split('?')[0] ?? '', status, type };
      const fault =
        isStream || type?.includes('json') !== true ? undefined : contract.fault(said, JSON.parse(text));
      if (fault !== undefined) note(name, fault);
    };

    for (const each of operations) {
      const isParameter = each.path.includes('{');
      for (const value of isParameter ? VALUES : ['']) {
        const filled = each.path.replaceAll(/\{\w+\}/g, value);
        const bodies =
          value === ID || !isParameter ? bodiesOf(each.operation) : [bodiesOf(each.operation)[0]];
        for (const body of bodies) await send(each, filled, body);
      }
    }
    t.strictSame([...faults], []);
    t.equal(
      (await troupe.call('GET', '/v1/identity', undefined, alice)).status,
      200,
      'the key is still valid',
    );
    t.equal((await troupe.call('GET', '/health')).status, 200);
  },
);

t.test('every operation but the open ones declares its credentials and grants (check 98)', async (t) => {
  const troupe = await startDemo(t, { settings: { identity: { anonymous: 'never' } } });
  const { body: document } = await troupe.call('GET', '/openapi.json');
  for (const { method, path, operation } of operationsIn(document as Parameters<typeof operationsIn>[0])) {
    const name = `${method} ${path}`;
    const isOpen = (operation.security ?? []).length === 0;
    if (isOpen)
      t.ok(
        OPEN.some((open) => path.startsWith(open)),
        `${name} is open`,
      );
    else {
      t.type(operation['x-grants'], Array, `${name} names its grants`);
      t.doesNotThrow(() => parseGrants(operation['x-grants'] ?? []), name);
    }
  }
});
