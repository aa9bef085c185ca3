import type { Page, Route } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { eventually } from '../service/troupe.ts';
import { ASKS_FIRST, ask, askWith, begin, headers, read } from './ask.ts';
import type { House } from './visit.ts';

/** The list of runs: what is found in it, how fast it answers the usual questions, and what is done with many. */

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

  t.test('runs are found by their status, agent and words, and the view is kept by a name', async (t) => {
    const waits = await askWith(troupe, agent.id, asks(['listed', 'get_weather', { location: 'Oslo' }]));
    const ends = await ask(troupe, agent.id, 'Hello');
    const { page, go } = await house.visit(t);
    await go('/runs');
    await page.getByRole('combobox', { name: 'Agent' }).selectOption(agent.id);
    await rowOf(page, ends.run_id).getByText('Completed').waitFor();
    t.equal(await rows(page).count(), 2);
    t.equal(await page.getByTestId('run-status').first().getAttribute('data-status'), 'done', 'newest first');
    await page.getByRole('button', { name: /^Waiting/ }).click();
    await rowOf(page, ends.run_id).waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('permission');
    await page.waitForURL((url) => url.searchParams.get('q') === 'permission');
    await rowOf(page, waits.run_id).waitFor();
    await button(page, 'Keep this view').click();
    await page.getByLabel('Name of the view').fill('Mine');
    await button(page, 'Keep').click();
    await go('/runs');
    await rowOf(page, ends.run_id).waitFor();
    await page.getByLabel('Views').selectOption('Mine');
    await page.waitForURL(
      (url) => url.search.includes('status=waiting') && url.search.includes('q=permission'),
    );
    await rowOf(page, waits.run_id).waitFor();
    t.equal(await rows(page).count(), 1);

    await troupe.call('POST', `/v1/runs/${waits.run_id}/cancel`, undefined, headers);
    await rowOf(page, waits.run_id).waitFor({ state: 'detached' });
    await button(page, 'Forget this view').click();
    await page.getByLabel('Views').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Done/ }).click();
    await rowOf(page, waits.run_id).waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('cancelled');
    await rowOf(page, waits.run_id).getByText('Cancelled', { exact: true }).waitFor();
  });

  t.test('why it waits, what it cost and which call failed take two clicks at most', async (t) => {
    const waits = await askWith(troupe, agent.id, asks(['asked', 'get_weather', { location: 'Rome' }]));
    const costs = await ask(troupe, priced.id, 'Hello');
    const fails = await askWith(troupe, 'steps', asks(['broken', 'failingTool', { reason: 'of the test' }]));
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/runs');
    t.match(await rowOf(page, waits.run_id).textContent(), /Waits for a permission.*get_weather/, 'no click');
    // 10 tokens in and 20 out: (10 × 1000 + 20 × 2000) / 1,000,000 USD.
    t.match(await rowOf(page, costs.run_id).textContent(), /10 \/ 20.*\$0\.05/, 'no click');
    await page.getByTestId(`run-row-${fails.run_id}`).click();
    await page
      .getByTestId('run-timeline')
      .getByRole('button', { name: /^Tool failingTool/ })
      .click();
    const detail = page.getByRole('tabpanel');
    await detail.getByText('of the test').first().waitFor();
    t.match(await detail.textContent(), /error/, 'what went in and what came of it, after two clicks');
    await troupe.call('POST', `/v1/runs/${waits.run_id}/cancel`, undefined, headers);
  });

  t.test('twenty runs are cancelled five at a time, and what became of each is told', async (t) => {
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
      // Whatever else is asked for in that moment is counted by then.
      await page.evaluate('new Promise(requestAnimationFrame)');
      for (const each of held.slice(0, 5)) await goOn(each);
    });
    await button(page, 'Cancel runs').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel runs' }).click();
    const results = page.getByRole('dialog', { name: 'What became of the runs' });
    await results.getByText('no disk').waitFor();
    t.equal(await page.evaluate('counted.most'), 5);
    t.equal(await results.getByText('ends', { exact: true }).count(), 18);
    t.equal(await results.getByText('had ended already').count(), 1);
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
