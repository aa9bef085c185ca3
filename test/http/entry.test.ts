import t, { type Test } from 'tap';
import { z } from 'zod';
import { plainErrors, Refusal } from '../../src/http/errors.ts';
import type { Family } from '../../src/http/family.ts';
import type { Entry } from '../../src/http/origin.ts';
import { reply } from '../../src/http/reply.ts';
import { route } from '../../src/http/route.ts';
import { get, type ServeOptions, serve, wire } from './serve.ts';

/** Requests that a listener of another member has accepted. */

const routes = [
  route.get('/origin', {
    id: 'getOrigin',
    summary: 'test',
    needs: 'read',
    responses: { 200: z.json() },
    handle: ({ origin, ip }) => ({ origin: origin(), ip: ip() }),
  }),
];

const ENTRY: Entry = { scheme: 'http', isLocalListener: true, isHostAccepted: true };

const serveEntry = async (t: Test, entry: Partial<Entry>, options: ServeOptions = {}, own = routes) => {
  const served = await serve(t, own, options);
  served.server.answerWith((res, req) =>
    served.server.answer(res, req, { from: 'network', entry: { ...ENTRY, ...entry } }),
  );
  return served;
};

const requestText = async (t: Test, port: number, host = 'localhost'): Promise<string> => {
  const client = wire(t, port, get('/origin', 'Connection: close').replace('localhost', host));
  await client.until('}');
  return client.text();
};

t.test('derives the own origin and the security of the connection from the entry', async (t) => {
  const plain = await serveEntry(t, {});
  const secure = await serveEntry(t, { scheme: 'https' });

  const overHttp = await requestText(t, plain.port);
  const overHttps = await requestText(t, secure.port);

  t.match(overHttp, '"origin":"http://localhost"');
  t.notMatch(overHttp, 'strict-transport-security');
  t.match(overHttps, '"origin":"https://localhost"');
  t.match(overHttps, 'strict-transport-security');
});

t.test('accepts the hosts that the entry accepts', async (t) => {
  const refusesAll = { acceptsHost: () => false };
  const accepted = await serveEntry(t, {}, refusesAll);
  const refused = await serveEntry(t, { isHostAccepted: false });

  t.match(await requestText(t, accepted.port, 'elsewhere.test'), / 200 OK/);
  t.match(await requestText(t, refused.port), / 403 Forbidden[\s\S]*requests for the host 'localhost'/);
});

t.test('lets a family check the host by the entry', async (t) => {
  const family: Family = {
    path: '/origin',
    needs: 'read',
    routes,
    errors: () => plainErrors,
    refuse: () => reply(405),
    checkHost: (host, entry) =>
      entry?.isLocalListener ? new Refusal(403, `'${host}' is refused`) : undefined,
  };
  const serveFamily = (entry: Partial<Entry>) => serveEntry(t, entry, { families: [family] }, []);
  const local = await serveFamily({});
  const open = await serveFamily({ isLocalListener: false, isHostAccepted: false });

  t.match(await requestText(t, local.port), / 403 Forbidden[\s\S]*'localhost' is refused/);
  t.match(await requestText(t, open.port, 'elsewhere.test'), / 200 OK/);
});

t.test('admits requests without a credential as the listener of the entry does', async (t) => {
  const local = await serveEntry(t, {}, { anonymous: 'loopback', isLocalListener: false });
  const remote = await serveEntry(t, { isLocalListener: false }, { anonymous: 'loopback' });

  t.match(await requestText(t, local.port), / 200 OK/);
  t.match(await requestText(t, remote.port), / 401 Unauthorized/);
});

t.test('states the member, and that a refusal of a suspended service had no effect', async (t) => {
  const { server, port } = await serve(t, routes, { member: 'café' });

  const served = await requestText(t, port);
  server.suspend();
  const refused = await requestText(t, port);

  t.match(served, 'x-troupe-member: cafÃ©', 'UTF-8 bytes, read as Latin-1');
  t.notMatch(served, 'x-troupe-untouched');
  t.match(refused, / 503 Service Unavailable[\s\S]*x-troupe-untouched: 1/);
});
