import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { LONG } from '../long.ts';
import { playAuthorization } from './mcp-auth-client.ts';
import { playScenario } from './mcp-client.ts';
import { allApplicablePass, conformanceSuite, type NotApplicable } from './mcp-conformance.ts';

/** The connections to MCP servers against the conformance suite of the MCP project: mcp.md C4. */

/** Scenarios of the client; those in which nothing can pass are tried in the long form only. */
const TRIED = [
  'initialize|tools_call|sse-retry|json-schema-*|request-metadata|http-standard-headers',
  'http-custom-headers|http-invalid-tool-headers',
  ...(LONG ? ['sep-2322-*'] : []),
].join('|');

/** The client that authorizes is tested with a separate suite. */
const NO_AUTHORIZATION: NotApplicable = {
  'this client has no user': ['auth/*'],
};

const SETS: Record<string, { args: readonly string[]; notApplicable: NotApplicable }> = {
  '2025-06-18': {
    args: ['--suite', 'all', '--spec-version', '2025-06-18'],
    notApplicable: NO_AUTHORIZATION,
  },
  '2025-11-25': {
    args: ['--requirements', '2025-11-25'],
    notApplicable: {
      ...NO_AUTHORIZATION,
      'no user can answer requests of a server': ['elicitation-sep1034-client-defaults'],
    },
  },
  '2026-07-28': {
    args: ['--requirements', '2026-07-28'],
    notApplicable: {
      ...NO_AUTHORIZATION,
      'no user can answer requests of a server': ['sep-2322-client-request-state'],
    },
  },
};

/** The suite starts many scenarios at once, which take long on a busy host. */
const CLIENT = ['client', '--timeout', '300000'];

/**
 * The command that the suite starts for a scenario, followed by the URL of its server. The client runs in this process.
 */
const clientHere = async (t: Test, tried: string, play: typeof playScenario): Promise<string> => {
  const client = createServer(async (request, response) => {
    const { name, context } = request.headers;
    await play({ name: String(name), url: await text(request), context: String(context ?? '') }).then(
      () => response.end(),
      (error) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(client, 'listening');
  t.teardown(() => client.close().closeAllConnections());
  const address = client.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return [
    `case $MCP_CONFORMANCE_SCENARIO in ${tried}) ;; *) exit 1 ;; esac;`,
    `exec curl -sS --fail-with-body http://127.0.0.1:${port}/ -H "name: $MCP_CONFORMANCE_SCENARIO"`,
    `-H "context: $MCP_CONFORMANCE_CONTEXT" --data-raw`,
  ].join(' ');
};

const suite = await conformanceSuite();

if (typeof suite === 'string') t.plan(0, suite);
else {
  const command = await clientHere(t, TRIED, playScenario);

  for (const [revision, { args, notApplicable }] of Object.entries(SETS)) {
    t.test(`connections conform to ${revision}`, async (t) => {
      allApplicablePass(t, await suite.run([...CLIENT, ...args, '--command', command]), notApplicable);
    });
  }

  t.test('authorization of users conforms to 2025-11-25 (identity.md, check 91)', async (t) => {
    const authorizing = await clientHere(t, 'auth/*', playAuthorization);
    const outcomes = await suite.run([...CLIENT, '--suite', 'auth', '--command', authorizing]);
    allApplicablePass(t, outcomes, {});
    t.ok(outcomes.size >= 14);
  });
}
