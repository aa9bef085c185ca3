import t from 'tap';
import { LONG } from '../long.ts';
import { ADMIN_TOKEN, startDemo } from '../service/troupe.ts';
import { openPython } from './python.ts';

/**
 * Every operation of the OpenAPI document with requests that schemathesis generates, and the key of a member: the
 * responses are as documented, none is a 5xx, and none is beyond the grants of the key (identity.md, check 98).
 * `TROUPE_TEST_LONG` generates requests for half an hour.
 */

const [PHASES, EXAMPLES, ...SECONDS] = LONG
  ? (['examples,coverage,fuzzing', '20', '1800'] as const)
  : (['examples,fuzzing', '1'] as const);

/** Streams that end only with their client are not called. */
const EVENT_STREAM = '"text/event-stream"';

const python = await openPython('schemathesis');

if (typeof python === 'string') t.plan(0, python);
else {
  t.setTimeout(LONG ? 7_200_000 : 900_000);
  t.test('schemathesis finds no undocumented response to the key of a member (check 98)', async (t) => {
    const troupe = await startDemo(t, {
      settings: {
        identity: { anonymous: 'never' },
        AdminApiConfig: { bearer_token: ADMIN_TOKEN },
        // Without the setting, the extended card is answered with 501.
        a2a_extended_card_bearer_token: 'token-of-the-extended-card',
      },
    });
    const body = { name: 'k', user: 'alice', new_user: { kind: 'person', grants: ['member'] } };
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { key } = (await troupe.call('POST', '/v1/keys', body, admin)).body;
    const program = python.start(t, 'walk.py', [troupe.url, String(key), PHASES, EXAMPLES, ...SECONDS]);
    const lines: object[] = [];
    for await (const line of program.lines()) lines.push(line);
    const sums = lines.pop();
    t.strictSame(lines, []);
    const { body: document } = await troupe.call('GET', '/openapi.json');
    const paths: Record<string, object> = Object(document).paths;
    const operations = Object.values(paths)
      .flatMap((methods) => Object.entries(methods))
      .filter(([method, operation]) => method !== 'get' || !JSON.stringify(operation).includes(EVENT_STREAM));
    // The tool does not call the operation of the document itself.
    t.match(sums, { operations: operations.length - 1, requests: Number });
    t.equal((await troupe.call('GET', '/health')).status, 200);
  });
}
