import t from 'tap';
import { CHROMIUM, hasChromium } from '../../bench/chromium.ts';
import { freePort } from '../ports.ts';
import { startOpenIdProvider } from '../service/openid-provider.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { startHouse } from './visit.ts';

/** The console with a real OpenID provider, and with a key, in a browser: identity.md 2.6, and checks 97 and 99. */

/** Everything that a page shows or stores, and its address. */
const CONTENT = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
  { ...localStorage },
  location.href,
  document.title,
])`;

const SCREENS = ['/threads', '/runs', '/inbox', '/keys', '/usage', '/connections', '/playground'];

if (!hasChromium()) t.plan(0, `there is no browser at ${CHROMIUM}: set CHROMIUM to the path of one`);
else {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const provider = await startOpenIdProvider(t, [`${own}/v1/session/callback/acme`]);
  const issuer = {
    id: 'acme',
    issuer: provider.issuer,
    audiences: ['https://agents.example'],
    claims: { roles: 'groups', name: 'name' },
    map: { users: ['member', 'keys'] },
    sign_in: { client_id: 'troupe', client_secret: 'secret', label: 'Acme SSO' },
  };
  const house = await startHouse(t, undefined, {
    http_addr: `127.0.0.1:${port}`,
    identity: { issuers: [issuer] },
  });
  const signIn = (name: string) => ({ name, exact: true });

  await t.test(
    'signs in with the provider, and shows no secret on any screen (checks 97 and 99)',
    async (t) => {
      const visit = await house.visit(t, { token: null, noisy: true, provider: provider.issuer });
      const { page, load, go, rest, asked } = visit;
      await load('/sign-in?return_to=/threads');
      await page.getByRole('button', signIn('Sign in with Acme SSO')).click();
      await page.waitForURL('**/threads');
      await page.getByRole('button', signIn('Account: Alice')).waitFor();
      const token = String(await page.evaluate('JSON.stringify({ ...sessionStorage })'));
      const [session = ''] = /tps_\w{49}/.exec(token) ?? [];
      t.not(session, '', 'the tab has the session');
      const codes = asked.flatMap((one) => /[?&](?:code|state)=([^& ]+)/.exec(one)?.[1] ?? []);
      t.ok(codes.length > 0, 'the callback had a code');
      for (const path of SCREENS) {
        await go(path);
        await rest();
        const content = String(await page.evaluate(CONTENT));
        for (const secret of [session, ADMIN_TOKEN, ...codes])
          t.notOk(content.includes(secret), `${path} shows no secret`);
      }
      t.strictSame(
        asked.filter((one) => one.includes(session)),
        [],
        'no address has the session',
      );
      await page.getByRole('button', signIn('Account: Alice')).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.waitForURL('**/sign-in');
      const { status } = await house.troupe.call('GET', '/v1/threads', undefined, {
        authorization: `Bearer ${session}`,
      });
      t.equal(status, 401, 'the session has ended');
    },
  );

  await t.test('reports a sign-in that the provider refuses, and can repeat it (check 99)', async (t) => {
    const visit = await house.visit(t, { token: null, noisy: true, provider: provider.issuer });
    const { page, load, context } = visit;
    // Ends the session at the provider.
    await context.clearCookies();
    provider.account.id = undefined;
    await load('/sign-in?return_to=/keys');
    await page.getByRole('button', signIn('Sign in with Acme SSO')).click();
    await page.waitForURL('**/sign-in?error=denied');
    await page.getByRole('alert').first().waitFor();
    provider.account.id = '00u1';
    await page.getByRole('button', signIn('Sign in with Acme SSO')).click();
    await page.getByRole('button', signIn('Account: Alice')).waitFor();
  });
}
