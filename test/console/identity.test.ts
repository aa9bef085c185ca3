import { createHash } from 'node:crypto';
import t from 'tap';
import { Identity, mayDo, mayUse } from '../../src/console/data/principal.ts';
import { accessEvents, withOthers } from '../../src/console/screens/access-log/access-event.ts';
import { gaugesOf, nameOf } from '../../src/console/screens/budgets/budget.ts';
import { challengeOf, errorOf, ownPath, waysOf } from '../../src/console/screens/sign-in/sign-in.ts';
import { csvOf, firstDay, propertiesIn, sumOf, usageOf } from '../../src/console/screens/usage/usage.ts';
import { browserOf } from '../../src/console/screens/users/user.ts';

/** Logic of the screens of identity and access. */

const who = (...grants: string[]): Identity =>
  Identity({ authenticated: true, anonymous: false, scope: 'acme', user: 'alice', grants }, '');

t.test('judges the grants of screens like the service', async (t) => {
  t.equal(mayUse(who('member'), ['read']), true, 'a set contains its words');
  t.equal(mayUse(who('member'), ['observe']), false);
  t.equal(mayUse(who('configure:agents'), ['observe']), true, 'configure implies observe');
  t.equal(mayUse(who('invoke:support-*'), ['invoke']), true, 'any pattern is enough for a word');
  t.equal(mayUse(who('configure'), ['configure:mcp-servers']), false, 'which no pattern covers');
  t.equal(mayUse(who('manage'), ['observe', 'manage']), true, 'one of several is enough');
  t.equal(mayUse(who(), undefined), true);
  t.equal(mayUse(who('of the future', 'keys'), ['keys']), true, 'unknown words are ignored');
  t.equal(mayUse(undefined, ['admin']), true, 'the console asks for a credential when one is needed');
  t.equal(mayDo(who('decide:support/get_*'), 'decide', 'support', 'get_weather'), true);
  t.equal(mayDo(who('decide:support/get_*'), 'decide', 'support', 'send_mail'), false);
  t.equal(mayDo(who('decide:support/*'), 'decide', 'support', 'mcp/a:b'), true);
});

t.test('leads to addresses of the own origin only', async (t) => {
  const origin = 'https://agents.example';
  const same = ['/runs/1?tab=a#b', '/', '/users/a%2Fb', '/v1/authorizations/a/start'];
  for (const path of same) t.equal(ownPath(path, origin), path);
  const foreign = ['//evil', 'https://evil', '/\\evil', '/\t/evil', '/\n/evil', '\\evil', '', 'runs', '/ /x'];
  for (const path of [...foreign, undefined]) t.equal(ownPath(path, origin), '/', JSON.stringify(path));
});

t.test('keeps sessions in cookies over https only, and in the tab on loopback', async (t) => {
  const at = (url: string) => new URL(url);
  const ways = (page: string, service: string) => waysOf(at(page), service);
  t.equal(ways('https://agents.example/', 'https://agents.example'), 'cookie');
  t.equal(ways('http://127.0.0.1:38080/', 'http://127.0.0.1:38080'), 'tab');
  t.equal(ways('http://localhost:38080/', 'http://localhost:38080'), 'tab');
  t.equal(ways('http://[::1]:38080/', 'http://[::1]:38080'), 'tab');
  t.equal(ways('http://agents.example/', 'http://agents.example'), 'none');
  t.equal(ways('https://console.example/', 'https://agents.example'), 'none', 'of another origin');
});

t.test('proves with the challenge that a tab began the sign-in', async (t) => {
  const verifier = 'a-b_c'.repeat(9);
  t.equal(challengeOf(verifier), createHash('sha256').update(verifier).digest('base64url'));
  t.equal(errorOf('mismatch'), 'mismatch');
  t.equal(errorOf('<script>'), undefined);
});

const NOW = Date.parse('2026-11-28T12:00:30Z');

t.test('filters the access log by one index, and the loaded events by the others', async (t) => {
  t.strictSame(accessEvents({ user: 'alice', ip: '192.0.2.1', kind: 'denied', since: '1h' }, NOW).query, {
    kind: 'denied',
    since: '2026-11-28T11:00:00.000Z',
    until: undefined,
    ip: '192.0.2.1',
  });
  const page = accessEvents({}, NOW).guard(
    {
      items: [
        { id: '1', ts: '2026-11-28T12:00:00Z', kind: 'denied', user: 'alice', ip: '192.0.2.1' },
        { id: '2', ts: '2026-11-28T12:00:00Z', kind: 'denied', user: 'bob', ip: '192.0.2.1' },
        { id: '3', ts: '2026-11-28T12:00:00Z', kind: 'sign_in_failed', ip: '192.0.2.1' },
      ],
    },
    '',
  );
  const found = (query: object) =>
    withOthers(page.items, query as Record<string, string>).map(({ id }) => id);
  t.strictSame(found({ ip: '192.0.2.1' }), ['1', '2', '3']);
  t.strictSame(found({ ip: '192.0.2.1', user: 'alice' }), ['1']);
  t.strictSame(page.next_cursor, undefined);
});

t.test('divides usage by the chosen properties', async (t) => {
  t.strictSame(propertiesIn(undefined), ['agent']);
  t.strictSame(propertiesIn('day,user,nonsense'), ['user', 'day'], 'in the order of the columns');
  t.strictSame(propertiesIn('none'), []);
  t.equal(firstDay('7d', NOW), '2026-11-22', 'today is one of the days');
  t.equal(firstDay('all', NOW), undefined);
  const figures = { runs: 2, inferences: 3, input_tokens: 10, output_tokens: 5, usd: 0.25 };
  const items = usageOf({ by: ['user'], since: undefined, of_scope: undefined }).guard(
    {
      items: [
        { user: '=cmd()', ...figures },
        { user: 'b', ...figures },
      ],
      next_cursor: null,
    },
    '',
  ).items;
  t.equal(sumOf(items, 'usd'), 0.5);
  t.equal(
    csvOf(items, ['user']),
    'user,runs,inferences,input_tokens,output_tokens,usd\r\n' +
      "'=cmd(),2,3,10,5,0.25\r\nb,2,3,10,5,0.25\r\n",
  );
});

t.test('shows the fullest limit of a counter first', async (t) => {
  const counter = {
    key: { user: 'alice' },
    spent: { usd: 8, tokens: 100 },
    reserved: { usd: 1 },
    limit: { usd: 10, tokens: 1000, concurrent_runs: 0 },
    extra: { usd: 5 },
    resets_at: 1,
  };
  t.match(gaugesOf(counter), [
    { unit: 'concurrent_runs', share: 1 },
    { unit: 'usd', spent: 8, reserved: 1, limit: 15, share: 0.6 },
    { unit: 'tokens', share: 0.1 },
  ]);
  t.equal(nameOf(counter), 'user alice');
  t.equal(nameOf({ ...counter, key: {} }), '');
});

t.test('names browsers', async (t) => {
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
  t.equal(browserOf(firefox), 'Firefox · Linux');
  t.equal(browserOf('curl/8.0'), 'curl/8.0');
  t.equal(browserOf(null), '—');
});
