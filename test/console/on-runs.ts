import type { Page, Route } from 'playwright-core';
import type { Test } from 'tap';
import { ModelError } from '../../src/models/errors.ts';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ASKS_FIRST, ask, askWith, begin, headers, read } from './ask.ts';
import type { House } from './visit.ts';

const MANY = 10_000;

/** The rows of a page that the console requests. */
const PAGE = 200;

/** The list of runs: filters, facts that are visible within two clicks, and operations on several runs. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const rowOf = (page: Page, id: string) =>
  page.locator('tr').filter({ has: page.getByTestId(`run-row-${id}`) });
const rows = (page: Page) => page.locator('tbody tr[data-row]');

export const onRuns = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const agent = { ...ASKS_FIRST, id: 'of-the-list' };
  const priced = {
    ...ASKS_FIRST,
    id: 'of-a-price',
    model_id: 'default-priced',
    plugin_ids: [],
    sections: {},
  };
  const model = { id: 'default-priced', provider_id: 'default', upstream_model: 'of-a-price' };
  const prices = { input_token_price_per_million_usd: 1000, output_token_price_per_million_usd: 2000 };
  await troupe.call('POST', '/v1/config/models', { ...model, ...prices }, headers);
  for (const each of [agent, priced]) await troupe.call('POST', '/v1/config/agents', each, headers);

  t.test('finds runs by outcome, agent and words in the service, and stores the view', async (t) => {
    const waits = await askWith(troupe, agent.id, asks(['listed', 'get_weather', { location: 'Oslo' }]));
    const ends = await ask(troupe, agent.id, 'The refund of Ms Okafor');
    const fails = await askWith(troupe, agent.id, () =>
      Promise.reject(new ModelError('unauthorized', 'no such model')),
    );
    const { page, go, asked } = await house.visit(t);
    await go('/runs');
    await button(page, 'Filter').click();
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(agent.id);
    await page.waitForURL((url) => url.searchParams.get('agent') === agent.id);
    await page.keyboard.press('Escape');
    await rowOf(page, ends.run_id).getByText('Completed').waitFor();
    await rowOf(page, fails.run_id).getByText('Failed', { exact: true }).waitFor();
    // The rows of other agents leave with the response.
    await rows(page).nth(3).waitFor({ state: 'detached' });
    t.equal(await rows(page).count(), 3);
    t.ok(asked.some((each) => /\/v1\/runs\?agent_id=of-the-list&sort=-changed/.test(each)));
    await page.getByRole('group', { name: 'Status' }).getByText('Failed').click();
    await rowOf(page, ends.run_id).waitFor({ state: 'detached' });
    t.match(await rowOf(page, fails.run_id).textContent(), /no such model/);
    t.equal(await rows(page).count(), 1, 'failures are apart from other ended runs');
    await page.getByRole('group', { name: 'Status' }).getByText('Done').click();
    await page.getByRole('searchbox').fill('okafor refund');
    await page.waitForURL((url) => url.searchParams.get('q') === 'okafor refund');
    await rowOf(page, fails.run_id).waitFor({ state: 'detached' });
    await rowOf(page, ends.run_id).waitFor();
    await page.getByText(/^1 found · all \d+ searched$/).waitFor();
    await button(page, 'Save view').click();
    await page.getByLabel('Name').fill('Mine');
    await button(page, 'Save').click();
    await go('/runs');
    await rowOf(page, waits.run_id).waitFor();
    await page.getByLabel('Views').selectOption('Mine');
    await page.waitForURL((url) => url.search.includes('status=done') && url.search.includes('q=okafor'));
    await rowOf(page, waits.run_id).waitFor({ state: 'detached' });
    await button(page, 'Agent: of-the-list').click();
    await page.waitForURL((url) => !url.searchParams.has('agent'));
    await rowOf(page, ends.run_id).waitFor();
    await button(page, 'Delete view').waitFor({ state: 'detached' });
    await page.getByLabel('Views').selectOption('Mine');
    await button(page, 'Delete view').click();
    await page.getByLabel('Views').waitFor({ state: 'detached' });

    await go(`/runs?agent=${agent.id}`);
    await rowOf(page, waits.run_id).getByText('Waiting', { exact: true }).waitFor();
    await page.getByRole('button', { name: `Actions of ${waits.run_id}` }).click();
    await page.getByTestId('run-cancel').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel runs' }).click();
    await rowOf(page, waits.run_id).getByText('Cancelled', { exact: true }).waitFor();
  });

  t.test('opens the menu of a row by keyboard, copies the id, and returns the focus', async (t) => {
    const { run_id } = await ask(troupe, agent.id, 'By keyboard');
    const { page, go, context } = await house.visit(t);
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await go('/runs');
    const opener = page.getByRole('button', { name: `Actions of ${run_id}` });
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Copy ID' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('menu').waitFor({ state: 'detached' });
    await page.getByText(`${run_id} is copied`).waitFor();
    t.equal(await page.evaluate('navigator.clipboard.readText()'), run_id);
    t.equal(await page.evaluate("document.activeElement.getAttribute('aria-label')"), `Actions of ${run_id}`);
  });

  t.test('sorts in the service, continues a search that has found little, and loads more', async (t) => {
    const { run_id } = await ask(troupe, agent.id, 'Look for me');
    const { body } = await troupe.call('GET', `/v1/runs/${run_id}`, undefined, headers);
    const { page, go } = await house.visit(t);
    await page.route('**/v1/runs?*', (route) => {
      const query = new URL(route.request().url()).searchParams;
      const at = Number(query.get('cursor') ?? 0);
      if (!query.has('q')) return route.fallback();
      const found = { items: at === 22 ? [Object(body)] : [], total: 30_000, searched: (at + 1) * 1000 };
      return route.fulfill({ json: { ...found, next_cursor: at < 29 ? String(at + 1) : null } });
    });
    await go('/runs?q=rare');
    await page.getByText('0 found · 20,000 of 30,000 searched').waitFor();
    await button(page, 'Continue searching').click();
    await page.getByText('1 found · all 30,000 searched').waitFor();
    t.equal(await rows(page).count(), 1);

    await go('/runs');
    const sorted = page.waitForRequest(/\/v1\/runs\?sort=-tokens/);
    await button(page, 'Tokens in / out').click();
    await page.waitForURL((url) => url.searchParams.get('sort') === 'tokens');
    await sorted;
    t.equal(await page.locator('th[aria-sort="descending"]').textContent(), 'Tokens in / out');
    await button(page, 'Started').click();
    await page.waitForURL((url) => !url.searchParams.has('sort'));
  });

  t.test('renders only the visible ones of ten thousand runs', async (t) => {
    const { run_id } = await ask(troupe, agent.id, 'One of many');
    const { body } = await troupe.call('GET', `/v1/runs/${run_id}`, undefined, headers);
    const { page, go } = await house.visit(t);
    const items = Array.from({ length: MANY }, (_, at) => ({ ...Object(body), run_id: `run-${at}` }));
    await page.route('**/v1/runs?*', (route) =>
      route.fulfill({ json: { items, total: MANY, next_cursor: null } }),
    );
    await go('/runs');
    await page.getByTestId('run-row-run-0').waitFor();
    t.ok((await rows(page).count()) < 60);
    t.equal(await page.locator('table').getAttribute('aria-rowcount'), String(MANY + 1));
    await page.evaluate(`{
      const frame = document.querySelector('section:has(> table)');
      frame.scrollTo({ top: frame.scrollHeight });
    }`);
    await page.getByTestId(`run-row-run-${MANY - 1}`).waitFor();
    t.ok((await rows(page).count()) < 60);
    t.equal(
      await page.evaluate(`{
        const main = document.querySelector('main');
        main.scrollHeight - main.clientHeight;
      }`),
      0,
      'only the list scrolls',
    );
    // A live list is rendered again every two seconds, so already its first page has to be cheap.
    items.length = PAGE;
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.locator(`table[aria-rowcount="${PAGE + 1}"]`).waitFor();
    t.ok((await rows(page).count()) < 60);
  });

  t.test('shows waits, costs and failed calls within two clicks', async (t) => {
    const waits = await askWith(troupe, agent.id, asks(['asked', 'get_weather', { location: 'Rome' }]));
    const costs = await ask(troupe, priced.id, 'Hello');
    const fails = await askWith(troupe, 'steps', asks(['broken', 'failingTool', { reason: 'of the test' }]));
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/runs');
    t.match(
      await rowOf(page, waits.run_id).textContent(),
      /Waiting.*Approval needed.*get_weather/,
      'zero clicks',
    );
    // 10 tokens in and 20 out: (10 × 1000 + 20 × 2000) / 1,000,000 USD.
    t.match(await rowOf(page, costs.run_id).textContent(), /10 \/ 20.*\$0\.05/, 'zero clicks');
    await page.getByTestId(`run-row-${fails.run_id}`).click();
    await page
      .getByTestId('run-timeline')
      .getByRole('button', { name: /^Tool failingTool/ })
      .click();
    const detail = page.getByTestId('span-panel');
    await detail.getByText('of the test').first().waitFor();
    t.match(await detail.textContent(), /error/i, 'two clicks show the arguments and the result');
    await troupe.call('POST', `/v1/runs/${waits.run_id}/cancel`, undefined, headers);
  });

  t.test('cancels twenty runs five at a time and reports each result', async (t) => {
    const started = await Promise.all(
      Array.from({ length: 20 }, () => begin(troupe, 'slow', 'Take your time')),
    );
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/runs?agent=slow&status=running');
    await page.locator(`tbody tr[data-row]:nth-child(20)`).waitFor();
    await page.locator('thead [data-check]').hover();
    await page.getByLabel('Select all').check();
    await page.getByText('20 selected').waitFor();
    const [refused, over] = started;
    if (!refused || !over) return;
    await page.evaluate(`{
      const own = window.fetch;
      window.counted = { now: 0, most: 0 };
      window.fetch = async (url, options) => {
        if (!String(url).endsWith('/cancel')) return own(url, options);
        counted.now += 1;
        counted.most = Math.max(counted.most, counted.now);
        return own(url, options).finally(() => (counted.now -= 1));
      };
    }`);
    const goOn = (route: Route): Promise<void> => {
      const { pathname } = new URL(route.request().url());
      if (pathname.includes(refused.run_id))
        return route.fulfill({ status: 500, json: { error: 'no disk' } });
      if (pathname.includes(over.run_id)) return route.fulfill({ status: 409, json: { error: 'over' } });
      return route.fallback();
    };
    const held: Route[] = [];
    await page.route('**/v1/runs/*/cancel', async (route) => {
      held.push(route);
      if (held.length < 5) return;
      if (held.length > 5) return goOn(route);
      // Waits for an animation frame, so that all concurrent requests are counted.
      await page.evaluate('new Promise(requestAnimationFrame)');
      for (const each of held.slice(0, 5)) await goOn(each);
    });
    await button(page, 'Cancel runs').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel runs' }).click();
    const results = page.getByRole('dialog', { name: 'Result for each run' });
    await results.getByText('no disk').waitFor();
    t.equal(await page.evaluate('counted.most'), 5);
    t.equal(await results.getByText('cancelled', { exact: true }).count(), 18);
    t.equal(await results.getByText('had already ended').count(), 1);
    const left = await eventually(
      () => read(troupe, '/v1/runs?status=running&limit=200'),
      (body) => Object(body).items.length === 2,
    );
    t.strictSame(
      Object(left)
        .items.map(({ run_id }: { run_id: string }) => run_id)
        .sort(),
      [refused.run_id, over.run_id].sort(),
    );
    troupe.models.releaseAll();
  });
};
