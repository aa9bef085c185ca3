import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { type House, NOTICES } from './visit.ts';

/** What is around all screens: the token, the states, the palette, the list, the theme. */

const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
const row = (page: Page, id: string) => page.getByRole('row', { name: id }).first();
const stored = (page: Page, key: string) => page.evaluate(`localStorage.getItem('${key}')`);

/** Of each address, how often it was asked for. */
const timesAsked = (asked: readonly string[], part: string): number[] => {
  const times = new Map<string, number>();
  for (const line of asked.filter((line) => line.includes(part))) times.set(line, (times.get(line) ?? 0) + 1);
  return [...times.values()];
};

const enterToken = async (page: Page, token: string): Promise<void> => {
  await page.getByPlaceholder('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Save' }).click();
};

export const onShell = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-service-actor': 'alice' };
  const agent = { id: 'helper', model_id: 'default', system_prompt: 'Be brief', max_rounds: 4 };
  await troupe.call('POST', '/v1/config/agents', agent, headers);
  await troupe.call('PUT', '/v1/config/agents/helper', { ...agent, system_prompt: 'Be very brief' }, headers);
  await troupe.runToEnd({ agentId: 'default', messages: [{ role: 'user', content: 'RUN_WEATHER_TOOL' }] });

  t.test('a token that is missing is asked for once, and each request is sent once more', async (t) => {
    const { page, go, asked } = await house.visit(t, { token: null, noisy: true });
    const refused = ['/v1/config/agents?', '/v1/config/agents/meta'].map((path) =>
      page.waitForResponse((answer) => answer.url().includes(path)),
    );
    await go('/agents');
    await Promise.all(refused);
    await dialog(page, 'Admin token required').waitFor();
    t.equal(await page.getByRole('dialog').count(), 1);
    t.equal(await page.locator('input[type="password"]').count(), 1);
    await page
      .getByRole('button', { name: /currently Token missing/, includeHidden: true })
      .waitFor({ state: 'attached' });
    t.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);
    t.equal(await stored(page, 'troupe.adminToken'), null);
    await enterToken(page, ` ${ADMIN_TOKEN} `);
    await row(page, 'helper').waitFor();
    t.equal(await page.getByRole('dialog').count(), 0);
    t.equal(await stored(page, 'troupe.adminToken'), ADMIN_TOKEN);
    await page.getByTestId('toast-success').getByText('Admin token saved').waitFor();
    await page.getByRole('button', { name: 'currently Connected' }).waitFor();
    t.strictSame(timesAsked(asked, '/v1/config/agents'), [2, 2]);
  });

  t.test('a token that is wrong is no loop, and whoever cancels is left alone', async (t) => {
    const { page, go, asked } = await house.visit(t, { token: null, noisy: true });
    await go('/agents');
    await dialog(page, 'Admin token required').waitFor();
    await enterToken(page, 'wrong');
    await page.getByRole('button', { name: 'Set token' }).waitFor();
    await page.getByRole('button', { name: 'currently Token rejected' }).waitFor();
    t.equal(await page.getByRole('dialog').count(), 0);
    t.ok(timesAsked(asked, '/v1/config/').every((times) => times <= 2));
    await page.getByRole('button', { name: 'Set token' }).click();
    await dialog(page, 'Set admin token').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page, 'Set admin token').waitFor({ state: 'detached' });
    t.equal(await page.getByTestId('toast-error').count(), 0);
    t.equal(await page.getByRole('table').count(), 0);
    await page.getByRole('button', { name: 'Set token' }).click();
    await enterToken(page, ADMIN_TOKEN);
    await row(page, 'helper').waitFor();
  });

  t.test('what a token has shown is gone with it, in all tabs', async (t) => {
    const { page, go, context } = await house.visit(t, { noisy: true });
    await go('/agents');
    await row(page, 'helper').waitFor();
    const other = await context.newPage();
    await other.goto(`${troupe.url}/agents`);
    await row(other, 'helper').waitFor();
    await page.getByRole('button', { name: /^Set admin token/ }).click();
    await dialog(page, 'Set admin token').waitFor();
    await page.getByRole('button', { name: 'Clear stored token' }).click();
    await page.getByRole('button', { name: 'currently Token missing' }).waitFor();
    t.equal(await stored(page, 'troupe.adminToken'), null);
    await page.getByText('helper').waitFor({ state: 'detached' });
    await other
      .getByRole('button', { name: /currently Token missing/, includeHidden: true })
      .waitFor({ state: 'attached' });
    await page.getByRole('button', { name: /^Set admin token/ }).click();
    await enterToken(page, ADMIN_TOKEN);
    await row(page, 'helper').waitFor();
    await row(other, 'helper').waitFor();
  });

  t.test('a service that goes away is missed, and welcome back', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/tools');
    await row(page, 'get_weather').waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'currently Backend unreachable' }).waitFor();
    await row(page, 'get_weather').waitFor();
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByRole('alert').getByText(troupe.url).first().waitFor();
    await page.unroute('**/v1/**');
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole('button', { name: 'currently Connected' }).waitFor();
    await page.getByText('service_build_info').waitFor();
  });

  t.test('what is off, and what cannot be read, is said and not left blank', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await page.route('**/v1/config/agents?*', (route) => route.fulfill({ json: {} }));
    await go('/agents');
    await page.getByRole('alert').getByText('GET /v1/config/agents').first().waitFor();
    await page.unroute('**/v1/config/agents?*');
    await page.route('**/v1/config/**', (route) =>
      route.fulfill({ status: 400, json: { error: 'config management API not enabled' } }),
    );
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('The service keeps no configuration').waitFor();
    t.equal(await page.getByRole('alert').count(), 0);
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByRole('heading', { name: 'Features' }).waitFor();
  });

  t.test('an unknown address is said to be one, inside the shell', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/nowhere/at-all');
    await page.getByText('/nowhere/at-all is no screen').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Agents' }).click();
    await row(page, 'helper').waitFor();
  });

  t.test('the palette and keys lead to screens', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents');
    await row(page, 'helper').waitFor();
    await page.getByRole('button', { name: 'Open command palette' }).focus();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Go to a screen, a resource or an id…').fill('audit');
    await page.getByRole('option', { name: /Audit Log/, selected: true }).waitFor();
    await page.keyboard.press('Escape');
    t.equal(await page.getByRole('dialog').count(), 0);
    t.match(page.url(), /\/agents$/);
    await page.locator('[aria-label="Open command palette"]:focus').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/audit-log');
    await page.keyboard.type('ga');
    await page.waitForURL('**/agents');
    await row(page, 'helper').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('gd');
    t.equal(await page.getByPlaceholder('Search by id, model, or plugin…').inputValue(), 'gd');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.locator('h1').click();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('1 selected').waitFor();
  });

  t.test('an address shows the same list again', async (t) => {
    const { page, go } = await house.visit(t);
    const items = Array.from({ length: 250 }, (_, index) => ({ id: `agent-${index}`, model_id: 'default' }));
    await page.route('**/v1/config/agents?*', (route) => {
      const { searchParams } = new URL(route.request().url());
      const offset = Number(searchParams.get('offset'));
      return route.fulfill({
        json: { items: items.slice(offset, offset + Number(searchParams.get('limit'))) },
      });
    });
    await go('/agents?q=agent-2&sort=id&dir=desc&page=2&size=10');
    await page.getByText('11–20 of 61').waitFor();
    t.match(await page.locator('tr[data-row]').first().textContent(), /agent-239/);
    t.equal(
      await page.getByRole('columnheader', { name: 'Agent', exact: true }).getAttribute('aria-sort'),
      'descending',
    );
    await page.reload();
    await page.getByText('11–20 of 61').waitFor();
    await go('/agents?page=99&size=13');
    await page.getByText('241–250 of 250').waitFor();
    await page.getByRole('searchbox').fill('249');
    await page.getByText('1–1 of 1').waitFor();
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === '249' && !searchParams.has('page'));
    t.equal(await page.locator('mark').count(), 1);
  });

  t.test('a deletion says what it does, and comes back', async (t) => {
    const { page, go } = await house.visit(t);
    await troupe.call('POST', '/v1/config/agents', { ...agent, id: 'doomed' }, headers);
    await go('/agents?q=doomed');
    await page.getByRole('button', { name: 'Delete doomed' }).click();
    await dialog(page, 'Delete Agent "doomed"?').waitFor();
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel');
    await page.keyboard.press('Escape');
    t.equal((await troupe.call('GET', '/v1/config/agents/doomed', undefined, headers)).status, 200);
    await page.getByRole('button', { name: 'Delete doomed' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alert').getByText('Agent "doomed" deleted').waitFor();
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'doomed').waitFor();
    t.equal((await troupe.call('GET', '/v1/config/agents/doomed', undefined, headers)).status, 200);
  });

  t.test('the audit log shows what changed, and brings it back', async (t) => {
    const { page, go, asked } = await house.visit(t);
    await go('/audit-log?resource=agents/helper');
    await page.locator('tr[data-row]').filter({ hasText: 'update' }).getByRole('button').click();
    const diff = page.getByTestId('audit-diff');
    t.equal(await diff.locator('tbody tr').count(), 1);
    t.match(await diff.locator('ins').allTextContents(), ['very ']);
    const event = new URL(page.url()).searchParams.get('event');
    await page.keyboard.press('ArrowRight');
    await page.waitForURL((url) => url.searchParams.get('event') !== event);
    const sent = page.waitForRequest((request) => request.url().endsWith('/restore'));
    await page.getByRole('button', { name: 'Restore this version' }).click();
    await page.getByRole('button', { name: 'Restore', exact: true }).click();
    t.strictSame((await sent).postDataJSON(), { version: new URL(page.url()).searchParams.get('event') });
    await page.getByText('Restored in store, not yet active').waitFor();
    await page.getByRole('button', { name: 'Publish now' }).click();
    await page.getByRole('alert').getByText('agents/helper is active').waitFor();
    t.match((await troupe.call('GET', '/v1/config/agents/helper', undefined, headers)).body, {
      system_prompt: 'Be brief',
    });
    await go('/audit-log?since=1h');
    await page.locator('tr[data-row]').first().waitFor();
    t.ok(asked.some((line) => /audit-log\?since=\d{4}-.*Z/.test(decodeURIComponent(line))));
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export CSV' }).click();
    t.match(readFileSync(await (await file).path(), 'utf8'), /^time,actor,action,resource,summary\r\n/);
  });

  t.test('the notices of the System screen open as text', async (t) => {
    const { page, context, go } = await house.visit(t);
    await go('/system');
    const link = page.getByRole('link', { name: 'licenses.txt' });
    await link.waitFor();
    const answered = page.waitForResponse((response) => response.url().endsWith('/licenses.txt'));
    await link.click();
    const response = await answered;
    t.equal(response.status(), 200);
    t.match(response.headers()['content-type'], /^text\/plain/);
    t.equal(await response.text(), NOTICES);
    t.equal(context.pages().length, 1);
  });

  t.test('the theme is there before anything is painted, and follows nobody but its user', async (t) => {
    const { page, context } = await house.visit(t, { stored: { 'troupe.admin.theme': 'dark' }, noisy: true });
    await context.route('**/assets/*.js', (route) => route.abort());
    await page.goto(troupe.url).catch(() => {});
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark');
    t.equal(await page.evaluate('document.documentElement.style.background'), 'rgb(14, 17, 22)');
    t.equal(await page.locator('#root > *').count(), 0, 'the console has not started');
    await context.unroute('**/assets/*.js');
    await page.goto(troupe.url);
    await page.getByRole('button', { name: 'Theme: dark (click to change)' }).click();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html[data-theme="light"]').waitFor();
    await page.evaluate("document.documentElement.dataset.theme = 'dark'");
    await page.getByRole('link', { name: 'Tools', exact: true }).first().click();
    await row(page, 'get_weather').waitFor();
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark', 'set from outside, it stays');
  });
};
