import { createHash } from 'node:crypto';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { digestOfCall } from '../../src/schema/call-digest.ts';
import { asks } from '../service/models.ts';
import { ADMIN_TOKEN, eventually } from '../service/troupe.ts';
import { ASKS_FIRST } from './ask.ts';
import type { House } from './visit.ts';

/** Whom the console acts for: sign-in, screens by grant, and decisions of users. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const card = (page: Page, call: string) => page.getByTestId(`inbox-card-${call}`);
const links = (page: Page): Promise<string[]> =>
  page.getByRole('navigation', { name: 'Screens' }).getByRole('link').allTextContents();

/** The route that each screen reads first. */
const READS: Readonly<Record<string, string>> = {
  '/inbox': '/v1/runs',
  '/runs': '/v1/runs',
  '/threads': '/v1/threads',
  '/files': '/v1/files',
  '/traces': '/v1/traces',
  '/statecharts': '/v1/system/machines',
  '/agents': '/v1/config/{ns}',
  '/tools': '/v1/capabilities',
  '/datasets': '/v1/eval/datasets',
  '/eval-runs': '/v1/eval/runs',
  '/users': '/v1/users',
  '/budgets': '/v1/budgets/{id}/usage',
  '/audit-log': '/v1/audit-log',
  '/access-log': '/v1/access-log',
  '/diagnostics': '/v1/config/diagnostics',
  '/system': '/v1/system/info',
};

export const onIdentity = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const call = (method: string, path: string, body?: object, token = ADMIN_TOKEN) =>
    troupe.call(method, path, body, { authorization: `Bearer ${token}` });
  const keyOf = async (user: string, ...grants: string[]): Promise<string> => {
    const made = await call('POST', '/v1/keys', {
      name: `key of ${user}`,
      user,
      new_user: { kind: 'person', name: user.toUpperCase(), grants },
    });
    return String(Object(made.body).key);
  };
  const ada = await keyOf('ada', 'member');
  const ben = await keyOf('ben', 'read:all', 'invoke', 'decide:*/send_*');
  await call('POST', '/v1/config/agents', { ...ASKS_FIRST, id: 'asks-its-user' });

  t.test('names for each screen the grants of the route that it reads', async (t) => {
    const { body } = await call('GET', '/openapi.json');
    const { page, go } = await house.visit(t, { moves: true, token: await keyOf('nobody') });
    for (const [path, route] of Object.entries(READS)) {
      const grants: unknown = Object(body).paths[route]?.get?.['x-grants'];
      t.ok(Array.isArray(grants), `${route} declares its grants`);
      await go(path);
      const heading = page.getByRole('heading', { name: / needs the grant / });
      await heading.waitFor();
      t.match(await heading.textContent(), `needs the grant ${[grants].flat().join(' / ')}`, path);
    }
  });

  t.test(
    'hides screens without grant, names the missing one, and sends no request for them (check 99)',
    async (t) => {
      const { page, go, rest, asked } = await house.visit(t, { moves: true, token: ada });
      await go('/');
      await page.waitForURL('**/playground');
      const shown = await links(page);
      for (const name of ['Playground', 'Inbox', 'Runs', 'Threads', 'API Keys', 'Usage', 'Connections'])
        t.ok(
          shown.some((link) => link.startsWith(name)),
          name,
        );
      for (const name of ['Dashboard', 'Agents', 'Providers', 'Datasets', 'Users', 'Budgets', 'System'])
        t.notOk(shown.includes(name), name);
      await go('/providers');
      await page.getByRole('heading', { name: 'Providers needs the grant observe' }).waitFor();
      await page.getByText('read the configuration, traces, statistics and logs of all scopes').waitFor();
      await go('/users');
      await page.getByRole('heading', { name: 'Users needs the grant manage' }).waitFor();
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox').fill('providers');
      await page.getByText('Nothing matches').waitFor();
      await page.keyboard.press('Escape');
      for (const path of ['/inbox', '/runs', '/threads', '/keys', '/usage']) {
        await go(path);
        await rest();
      }
      t.strictSame(
        asked.filter((one) => /\/v1\/(capabilities|config|audit-log|agents)/.test(one)),
        [],
        'no read that the service would refuse',
      );
    },
  );

  t.test('offers a member the agents that it may invoke, and a reader no changes', async (t) => {
    const { page, go } = await house.visit(t, { token: await keyOf('eve', 'read', 'invoke:echo') });
    await go('/playground');
    const agents = page.getByRole('main').getByRole('combobox', { name: 'Agent' });
    await agents.locator('option', { hasText: 'echo' }).waitFor({ state: 'attached' });
    t.strictSame(await agents.locator('option').allTextContents(), ['echo']);
    await page.getByPlaceholder('Type a message…').fill('Anyone here?');
    await page.keyboard.press('Enter');
    await page.getByText('echo: Anyone here?').waitFor();
    const { body } = await call('GET', '/v1/runs?agent_id=echo&order=desc&limit=1');
    const [{ run_id, thread_id }] = Object(body).items;

    const reader = await house.visit(t, { token: await keyOf('rob', 'viewer') });
    await reader.go(`/runs/${run_id}`);
    await reader.page.getByText('You may not see this').waitFor();
    for (const path of [`/runs/${run_id}?tab=conversation`, `/threads/${thread_id}`, '/runs', '/files']) {
      await reader.go(path);
      await reader.rest();
      for (const name of ['Run again', 'Fork here', 'Rename', 'New run', 'Upload file'])
        t.equal(await button(reader.page, name).count(), 0, `${name} on ${path}`);
    }
    t.equal(await reader.page.getByPlaceholder('Send a message to this thread').count(), 0);
  });

  t.test('shows the user, its scope and credential, and signs out', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, token: ada, noisy: true });
    await go('/users/ada');
    await page.getByRole('heading', { name: 'ada' }).waitFor();
    t.equal(await button(page, 'Edit').count(), 0, 'a user without manage reads itself');
    await go('/keys');
    await page.getByText('key of ada').waitFor();
    t.equal(await button(page, 'New API key').count(), 0, 'which needs a grant');
    await button(page, 'Account: ADA').click();
    await page.getByText('Scope default').first().waitFor();
    await page.getByText('Signed in with an API key').waitFor();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/sign-in');
    t.equal(await page.evaluate(`localStorage.getItem('troupe.adminToken')`), null);
    await go('/keys');
    await page.getByText('key of ada').waitFor({ state: 'detached' });
    t.equal(await button(page, 'Account: ADA').count(), 0);
  });

  t.test('shows an accessible sign-in that fits a small window', async (t) => {
    const { page, load } = await house.visit(t, { moves: true, token: null, noisy: true });
    await load('/sign-in?error=provider');
    await page.evaluate(axe.source);
    for (const theme of ['light', 'dark']) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}';
        for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();`);
      const found = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))`;
      t.strictSame(await page.evaluate(found), [], theme);
    }
    await page.setViewportSize({ width: 375, height: 812 });
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), 375);
  });

  t.test('signs in with a key, and leads to the address that was asked for (check 99)', async (t) => {
    const { page, load } = await house.visit(t, { moves: true, token: null, noisy: true });
    await load('/sign-in?error=mismatch&return_to=/keys');
    await page.getByText('The response belongs to a sign-in that this browser has not started').waitFor();
    const field = page.getByLabel('API key or token');
    await field.fill('tpk_nonsense');
    await button(page, 'Sign in').click();
    await page.getByText(/^The service does not (know|accept) this/).waitFor();
    await field.fill(ada);
    await button(page, 'Sign in').click();
    await page.waitForURL('**/keys');
    await page.getByText('key of ada').waitFor();
    t.notMatch(await page.content(), ada, 'no element contains the key');
    await load('/sign-in?return_to=//evil.example');
    await page.getByText('You are signed in as ADA.').waitFor();
    await button(page, 'Continue').click();
    await page.waitForURL(`${troupe.url}/playground`);
  });

  t.test('signs a tab in with the code and the verifier of the sign-in that it began', async (t) => {
    const { page, load } = await house.visit(t, { moves: true, token: null, noisy: true });
    await load('/sign-in');
    const way = { kind: 'oidc', id: 'acme', label: 'Acme SSO', url: '/v1/session/sign-in/acme' };
    await page.route('**/v1/identity', async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...Object(await answer.json()), sign_in: [way] } });
    });
    let begun = new URL(troupe.url);
    await page.route('**/v1/session/sign-in/**', async (route) => {
      begun = new URL(route.request().url());
      await route.fulfill({ status: 302, headers: { location: '/sign-in#code=only-once' } });
    });
    const exchanged: unknown[] = [];
    await page.route('**/v1/session', async (route) => {
      exchanged.push(route.request().postDataJSON());
      await route.fulfill({ status: 201, json: { token: ada } });
    });
    await load('/sign-in?return_to=/keys');
    await button(page, 'Sign in with Acme SSO').click();
    await page.waitForURL('**/keys');
    await page.getByText('key of ada').waitFor();
    t.equal(begun.searchParams.get('return_to'), '/keys');
    const [sent] = exchanged;
    t.match(sent, { code: 'only-once', verifier: /^[\w-]{43}$/ });
    t.equal(exchanged.length, 1);
    t.equal(
      begun.searchParams.get('challenge'),
      createHash('sha256').update(Object(sent).verifier).digest('base64url'),
    );
    t.equal(
      await page.evaluate(`localStorage.getItem('troupe.adminToken')`),
      null,
      'only this tab is signed in',
    );
    t.notMatch(await page.evaluate('JSON.stringify([{ ...sessionStorage }, location.href])'), 'only-once');
    await load('/keys');
    await load('/sign-in#code=of-another-browser');
    await page.getByText('The response belongs to a sign-in that this browser has not started').waitFor();
    t.equal(exchanged.length, 1, 'a code without a verifier is not sent');
  });

  const secret = { note: 'token=x', secret_note: 'y\u200b' };
  const asksFor = async (...ids: string[]): Promise<string> => {
    const calls = ids.map((id): [string, string, object] => [id, 'append_note', secret]);
    troupe.models.steps.push(asks(...calls));
    // The stream ends when the run is suspended.
    const stream = await fetch(`${troupe.url}/v1/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        agentId: 'asks-its-user',
        messages: [{ role: 'user', content: 'What is the weather?' }],
      }),
    });
    const [, run = ''] = /"run_id":"([^"]+)"/.exec(await stream.text()) ?? [];
    return run;
  };

  t.test('names the user of the run and why another one may not decide', async (t) => {
    const run = await asksFor('of-ada');
    const { page, go } = await house.visit(t, { moves: true, token: ben, noisy: true });
    await go('/inbox');
    await card(page, 'of-ada').locator('button').first().click();
    await card(page, 'of-ada').getByText('Acts for ada').waitFor();
    await card(page, 'of-ada')
      .getByText('a decision on append_note needs the grant decide:asks-its-user/append_note')
      .waitFor();
    t.ok(await card(page, 'of-ada').getByTestId('inbox-approve').isDisabled());
    t.ok(await card(page, 'of-ada').getByTestId('inbox-deny').isDisabled());
    await call('POST', `/v1/runs/${run}/cancel`, undefined, ada);
  });

  t.test(
    'shows what waits unmasked, escapes invisible characters, and sends the digest of that (check 99)',
    async (t) => {
      const run = await asksFor('whole', 'whole-too');
      const { page, go } = await house.visit(t, { moves: true, token: ada });
      await go('/inbox');
      await card(page, 'whole').locator('button').first().click();
      const shown = card(page, 'whole');
      await shown.getByText('"token=x"', { exact: true }).waitFor();
      await shown.getByText('"y\\u200b"', { exact: true }).waitFor();
      await button(page, 'Approve all 2').click();
      const dialog = page.getByRole('dialog');
      t.match(await dialog.textContent(), '{"note":"token=x","secret_note":"y\\u200b"}');
      const decisions: unknown[] = [];
      page.on('request', (request) => {
        if (request.url().endsWith('/decision')) decisions.push(request.postDataJSON());
      });
      await dialog.getByRole('button', { name: 'Approve all', exact: true }).click();
      await toast(page, 'Approved: 2');
      t.match(decisions, [
        { digest: digestOfCall({ tool: 'append_note', arguments: secret }), action: 'resume' },
        { digest: digestOfCall({ tool: 'append_note', arguments: secret }), action: 'resume' },
      ]);
      await eventually(
        async () => (await call('GET', `/v1/runs/${run}`, undefined, ada)).body,
        (body) => Object(body).status === 'done',
      );
    },
  );

  t.test('names who decided a ticket that is no longer open', async (t) => {
    const run = await asksFor('decided-elsewhere');
    const { page, go } = await house.visit(t, { moves: true, token: ADMIN_TOKEN, noisy: true });
    await go('/inbox');
    await card(page, 'decided-elsewhere').waitFor();
    await page.route('**/v1/runs?*', () => {});
    const { body } = await call('GET', `/v1/runs/${run}`, undefined, ada);
    const [ticket] = Object(body).waiting.tickets;
    const decided = { tool_call_id: ticket.ticket_id, action: 'resume', payload: { approved: true } };
    t.equal((await call('POST', `/v1/runs/${run}/decision`, decided, ada)).status, 202);
    await card(page, 'decided-elsewhere').locator('button').first().click();
    await card(page, 'decided-elsewhere').getByTestId('inbox-approve').click();
    await toast(page, 'Already decided by ada');
  });

  t.test('shows usage by the chosen properties', async (t) => {
    const { page, go } = await house.visit(t, { moves: true, token: ADMIN_TOKEN });
    await go('/usage?by=user');
    await page.getByRole('row', { name: /ada/ }).waitFor();
    await page.getByLabel('Agent', { exact: true }).check();
    await page.getByRole('row', { name: /ada.*asks-its-user/ }).waitFor();
    t.match(page.url(), /by=user%2Cagent/);
    const saved = page.waitForEvent('download');
    await button(page, 'Export CSV').click();
    t.equal((await saved).suggestedFilename(), 'usage-30d.csv');
  });

  t.test('shows the fullest counters of a budget', async (t) => {
    await call('POST', '/v1/config/budgets', {
      id: 'of-users',
      window: { every: 'month' },
      limits: { tokens: 1_000_000 },
      per: ['user'],
      on_exceeded: 'observe',
    });
    const run = await asksFor('counted');
    const { page, go } = await house.visit(t, {});
    await go('/budgets?counters=of-users');
    const counters = page.getByRole('dialog', { name: 'Counters of of-users' });
    await counters.getByText('user ada').waitFor();
    await counters
      .getByText(/of 1M tokens/)
      .first()
      .waitFor();
    await call('POST', `/v1/runs/${run}/cancel`, undefined, ada);
    await call('DELETE', '/v1/config/budgets/of-users');
  });
};
