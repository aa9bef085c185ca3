import { fileURLToPath } from 'node:url';
import t from 'tap';
import { bundled } from '../child.ts';
import { LONG } from '../long.ts';
import { allApplicablePass, conformanceSuite, type NotApplicable } from './mcp-conformance.ts';

/** The connections to MCP servers and the conformance suite of the MCP project: mcp.md C4. */

const PROGRAM = fileURLToPath(new URL('./mcp-client.ts', import.meta.url));

/** What the program is started for; where nothing of a scenario can pass, only the long form tries. */
const TRIED = [
  'initialize|tools_call|sse-retry|json-schema-*|request-metadata|http-standard-headers',
  ...(LONG ? ['http-custom-headers|http-invalid-tool-headers|sep-2322-*'] : []),
].join('|');

const NO_AUTHORIZATION: NotApplicable = {
  'credentials are in the entry of a server, and nobody is asked for them': ['auth/*'],
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
      'nobody is there whom a server could ask': ['elicitation-sep1034-client-defaults'],
    },
  },
  '2026-07-28': {
    args: ['--requirements', '2026-07-28'],
    notApplicable: {
      ...NO_AUTHORIZATION,
      'servers are asked for a session first, in a request that has nothing of this revision': [
        'request-metadata:sep-2575-http-client-sends-version-header',
        'request-metadata:sep-2575-client-populates-meta',
        'request-metadata:sep-2575-client-sends-client-info',
        'http-standard-headers:sep-2243-client-includes-standard-headers',
      ],
      'its server agrees to a session of a revision that has none': [
        'http-custom-headers',
        'http-invalid-tool-headers:sep-2243-invalid-tool-tools-list-gate',
        'http-invalid-tool-headers:sep-2243-client-reject-invalid-tool',
      ],
      'nobody is there whom a server could ask': ['sep-2322-client-request-state'],
    },
  },
};

const suite = await conformanceSuite();

if (typeof suite === 'string') t.plan(0, suite);
else {
  const command = [
    `case $MCP_CONFORMANCE_SCENARIO in ${TRIED}) ;; *) exit 1 ;; esac;`,
    `exec ${process.execPath} ${bundled(PROGRAM)}`,
  ].join(' ');

  for (const [revision, { args, notApplicable }] of Object.entries(SETS)) {
    t.test(`connections are as ${revision} says`, async (t) => {
      allApplicablePass(t, await suite.run(['client', ...args, '--command', command]), notApplicable);
    });
  }
}
