import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import { type House, NOTICES } from './visit.ts';

/** The shell: token, connection, palette, list and theme. */

const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
const row = (page: Page, id: string) => page.getByRole('row', { name: id }).first();
const stored = (page: Page, key: string) => page.evaluate(`localStorage.getItem('${key}')`);

/** Number of requests for each address. */
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

  t.test('requests a missing token once, and retries each request', async (t) => {
    const { page, go, asked } = await house.visit(t, { token: null, noisy: true });
    const refused = ['/v1/config/agents?', '/v1/config/agents/meta'].map((path) =>
      page.waitForResponse((answer) => answer.url().includes(path)),
    );
    await go('/agents');
    await Promise.all(refused);
    await dialog(page, 'Admin token required').waitFor();
    t.equal(await page.getByRole('dialog').count(), 1);
    t.equal(await page.locator('input[type="password"]').count(), 1);
    t.equal(await page.getByLabel('Operator name').count(), 0, 'no name is asked yet');
    t.equal(await page.getByRole('button', { name: 'Clear stored token' }).count(), 0);
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

  t.test('does not save a wrong token, and does not ask again after a cancelled dialog', async (t) => {
    const { page, go, asked } = await house.visit(t, { token: null, noisy: true });
    await go('/agents');
    await dialog(page, 'Admin token required').waitFor();
    await enterToken(page, 'wrong');
    await dialog(page, 'Admin token required').getByText('The service rejected this token').waitFor();
    t.equal(await stored(page, 'troupe.adminToken'), null);
    t.equal(await page.getByTestId('toast-success').count(), 0);
    await page.getByPlaceholder('Bearer token').fill('wrong again');
    await dialog(page, 'Admin token required')
      .getByText('The service rejected this token')
      .waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Set token' }).waitFor();
    await page.getByRole('button', { name: 'currently Token missing' }).waitFor();
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

  t.test('does not save a token that was edited during its check', async (t) => {
    const { page, go } = await house.visit(t, { token: null, noisy: true });
    await go('/agents');
    await dialog(page, 'Admin token required').waitFor();
    const checks: (() => Promise<void>)[] = [];
    await page.route('**/v1/capabilities', (route) => {
      if (route.request().headers().authorization === undefined) return route.fallback();
      checks.push(() => route.fulfill({ json: {} }).catch(() => {}));
      return undefined;
    });
    const checked = page.waitForRequest('**/v1/capabilities');
    await enterToken(page, 'half');
    await checked;
    await page.getByPlaceholder('Bearer token').fill('half of it');
    for (const answer of checks) await answer();
    await page.unroute('**/v1/capabilities');
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog(page, 'Admin token required').getByText('The service rejected this token').waitFor();
    t.equal(await stored(page, 'troupe.adminToken'), null, 'the first value is not saved');
    t.equal(await page.getByTestId('toast-success').count(), 0);
    await enterToken(page, ADMIN_TOKEN);
    await row(page, 'helper').waitFor();
  });

  t.test('signs in with a link that only changes the fragment of an open page', async (t) => {
    const { page, load, asked } = await house.visit(t, { token: null, noisy: true });
    await load('/agents?q=default');
    await page.getByRole('dialog', { name: 'Admin token required' }).waitFor();
    await page.evaluate(`location.hash = '#token=${ADMIN_TOKEN}'`);
    await page.getByRole('row', { name: 'default' }).first().waitFor();
    t.equal(await page.getByRole('dialog').count(), 0);
    t.equal(page.url(), `${troupe.url}/agents?q=default`);
    t.notOk(asked.some((line) => line.includes(ADMIN_TOKEN)));
  });

  t.test('asks for another token if the service rejects that of the link', async (t) => {
    const { page } = await house.visit(t, { token: null, noisy: true });
    await page.goto(`${troupe.url}/agents#token=old`);
    await page.getByRole('dialog', { name: 'Admin token required' }).waitFor();
    t.equal(page.url(), `${troupe.url}/agents`);
  });

  t.test('clears all data with the token, in all tabs', async (t) => {
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

  t.test('detects an unreachable service and its return', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/tools');
    await row(page, 'get_weather').waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'currently Backend unreachable' }).waitFor();
    await row(page, 'get_weather').waitFor();
    await page.getByRole('link', { name: 'Skills' }).click();
    await page.getByRole('alert').getByText(troupe.url).first().waitFor();
    await page.unroute('**/v1/**');
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByRole('button', { name: 'currently Connected' }).waitFor();
    await row(page, 'greeting').waitFor();
  });

  t.test('loads a screen again once the service that did not serve it has returned', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/tools');
    await row(page, 'get_weather').waitFor();
    const stop = (url: URL): boolean => url.origin === troupe.url;
    await page.route(stop, (route) => route.abort());
    await page.getByRole('link', { name: 'Skills' }).click();
    await page.getByText('A part of the console could not be loaded').waitFor();
    await page.getByRole('button', { name: 'currently Backend unreachable' }).waitFor();
    await page.unroute(stop);
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await row(page, 'greeting').waitFor();
    t.equal(
      await page.evaluate(
        `[...document.querySelectorAll('link[rel="stylesheet"]')].every(({ sheet }) => sheet)`,
      ),
      true,
      'style sheets are loaded too',
    );
  });

  t.test(
    'loads a screen when its link is pointed at, and the others while the browser is idle',
    async (t) => {
      const { page, go } = await house.visit(t, { preloads: true, noisy: true });
      const chunkOf = (name: string) => page.waitForResponse((answer) => answer.url().includes(`/${name}-`));
      const isLoaded = (name: string) =>
        page.evaluate(
          `performance.getEntriesByType('resource').some(({ name }) => name.includes('/${name}-'))`,
        );
      await go('/tools');
      t.equal(await isLoaded('Datasets'), false);
      const hovered = chunkOf('Datasets');
      await page.getByRole('link', { name: 'Datasets' }).hover();
      await hovered;
      await chunkOf('System');
      await page.route('**/assets/**', (route) => route.abort());
      await page.getByRole('link', { name: 'System' }).click();
      await page.getByRole('heading', { name: 'Features' }).waitFor();
    },
  );

  t.test('marks a live list as interrupted while the service is unreachable', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/runs');
    await page.getByLabel('Live', { exact: true }).waitFor();
    await page.route('**/v1/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByLabel('Live: interrupted').waitFor();
    await page.getByText(/^as of /).waitFor();
    await page.unroute('**/v1/**');
    await page.evaluate("dispatchEvent(new Event('focus'))");
    await page.getByLabel('Live', { exact: true }).waitFor();
  });

  t.test('reports disabled features and unreadable responses', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await page.route('**/v1/config/agents?*', (route) => route.fulfill({ json: {} }));
    await go('/agents');
    await page.getByRole('alert').getByText('GET /v1/config/agents').first().waitFor();
    await page.unroute('**/v1/config/agents?*');
    await page.route('**/v1/config/**', (route) =>
      route.fulfill({ status: 400, json: { error: 'config management API not enabled' } }),
    );
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByText('The service stores no configuration').waitFor();
    t.equal(await page.getByRole('alert').count(), 0);
    await page.getByRole('link', { name: 'System' }).click();
    await page.getByRole('heading', { name: 'Features' }).waitFor();
  });

  t.test('reports an unknown address within the shell', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/nowhere/at-all');
    await page.getByText('/nowhere/at-all is not a screen of this console').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Agents' }).click();
    await row(page, 'helper').waitFor();
  });

  t.test('opens screens with the palette and shortcuts', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents');
    await row(page, 'helper').waitFor();
    await page.getByRole('button', { name: 'Open command palette' }).focus();
    await page.keyboard.press('Control+k');
    const input = page.getByPlaceholder('Search screens, entries, threads, runs and actions…');
    await input.fill('audit');
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

  t.test('finds threads and runs by their words, and acts on entries from the palette', async (t) => {
    const { page, go, asked } = await house.visit(t);
    const question = 'Refund the order of Ms Okafor';
    await troupe.runToEnd({ agentId: 'default', messages: [{ role: 'user', content: question }] });
    await go('/agents');
    const option = (name: string | RegExp) => page.getByRole('option', { name }).first();
    const search = async (text: string) => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
    };
    await search('new');
    for (const name of ['New agent', 'New skill', 'New MCP server', 'New model pool'])
      await option(name).waitFor();
    t.equal(await page.getByRole('option', { name: 'New', exact: true }).count(), 0);
    await page.keyboard.press('Escape');
    await search('okafor refund');
    await page.getByRole('group', { name: 'Threads' }).getByRole('option', { name: question }).waitFor();
    await page.getByRole('group', { name: 'Runs' }).getByRole('option', { name: question }).click();
    await page.waitForURL('**/runs/*');
    const searches = asked.filter((line) => line.includes('/v1/runs?') && line.includes('q='));
    t.match(searches.at(-1), /q=okafor\+refund/);
    await search('chat with helper');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/playground?agent=helper');
    await page.keyboard.press('Escape');
    await page.locator('h1, h2').first().click();
    await search('test provider default');
    await page.keyboard.press('Enter');
    await page.getByTestId('toast-success').getByText('Provider default works').waitFor();
    await search('audit log');
    await option(/Audit Log/)
      .locator('[data-key="l"]')
      .waitFor();
  });

  t.test('lists shortcuts with those of the screen first, and shows a repeated message once', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/inbox');
    await page.locator('h1').click();
    await page.keyboard.press('?');
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Close');
    t.strictSame((await help.getByRole('heading', { level: 3 }).allTextContents()).slice(0, 3), [
      'Lists',
      'Inbox',
      'Everywhere',
    ]);
    await help.locator('[data-key="Ctrl"]').first().waitFor();
    await page.keyboard.press('Enter');
    t.equal(await help.count(), 0);
    await go('/tools/get_weather');
    await page.route('**/v1/config/tools/**', (route) =>
      route.fulfill({ status: 409, json: { error: 'no' } }),
    );
    await page.getByLabel('Description for models').fill('another');
    for (const _ of [1, 2]) {
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByTestId('toast-error').waitFor();
    }
    await page.getByText('×2').waitFor();
    t.equal(await page.getByTestId('toast-error').count(), 1);
    const place = await page.getByTestId('toast-error').boundingBox();
    t.ok(place && place.x > 1280 / 2, 'messages are at the right, away from the sidebar');
  });

  t.test('shows the link of the current screen in a sidebar that scrolls', async (t) => {
    const { page, load } = await house.visit(t, { viewport: { width: 1280, height: 500 } });
    const nav = page.getByRole('navigation', { name: 'Screens' });
    for (const [path, name] of [
      ['/system', 'System'],
      ['/', 'Dashboard'],
    ] as const) {
      await load(path);
      const link = await nav.getByRole('link', { name, exact: true }).boundingBox();
      const frame = await nav.boundingBox();
      const isInside = link && frame && link.y >= frame.y && link.y + link.height <= frame.y + frame.height;
      t.ok(isInside, `${name} at ${link?.y} of ${frame?.height}`);
    }
    t.equal(await page.evaluate('document.documentElement.scrollTop'), 0, 'the page does not scroll');
  });

  t.test('restores the list from its address', async (t) => {
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
    await page.locator('mark').waitFor();
    await page.waitForURL(({ searchParams }) => searchParams.get('q') === '249' && !searchParams.has('page'));
    t.equal(await page.locator('mark').count(), 1);
  });

  t.test('confirms a deletion and undoes it', async (t) => {
    const { page, go } = await house.visit(t);
    await troupe.call('POST', '/v1/config/agents', { ...agent, id: 'doomed' }, headers);
    await go('/agents?q=doomed');
    await page.getByRole('button', { name: 'Actions of doomed' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await dialog(page, 'Delete Agent "doomed"?').waitFor();
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel');
    await page.keyboard.press('Escape');
    t.equal((await troupe.call('GET', '/v1/config/agents/doomed', undefined, headers)).status, 200);
    await page.getByRole('button', { name: 'Actions of doomed' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('alert').getByText('Agent "doomed" deleted').waitFor();
    await page.getByText('Nothing matches').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await row(page, 'doomed').waitFor();
    t.equal((await troupe.call('GET', '/v1/config/agents/doomed', undefined, headers)).status, 200);
  });

  t.test('shows changes in the audit log and restores a version', async (t) => {
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
    await page.getByRole('alert').getByText('"helper" is active').waitFor();
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

  t.test('opens the license notices of the System screen as text', async (t) => {
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

  t.test('applies the stored theme before the first paint and keeps it', async (t) => {
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
    t.equal(
      await page.locator('html').getAttribute('data-theme'),
      'dark',
      'a theme that is set outside of the page is kept',
    );
  });
};
