import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { ASKS_FIRST, ask, askWith, headers } from './ask.ts';
import type { House } from './visit.ts';

/** The dashboard: what is wrong, what happens, what it costs; and the same parts for an agent and the service. */

/** A provider that rejects every key. */
const startRejecting = async (t: Test): Promise<string> => {
  const server = createServer((_, response) => response.writeHead(401).end('{}')).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  // A TCP server has an address with a port.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/`;
};

const RANGE = /range=(\d+)-(\d+)/;

export const onDashboard = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const send = (method: string, path: string, body?: object) =>
    troupe.call(method, `/v1/config/${path}`, body, headers);
  const provider = {
    id: 'acme-backup',
    adapter: 'openai',
    base_url: await startRejecting(t),
    api_key: 'sk-old',
  };
  await send('POST', 'providers', provider);
  await send('POST', 'models', { id: 'backup', provider_id: 'acme-backup', upstream_model: 'large' });
  await send('POST', 'agents', { id: 'on-call', model_id: 'backup', system_prompt: 'Help' });
  await send('POST', 'models', { id: 'short-lived', provider_id: 'default', upstream_model: 'x' });
  await send('POST', 'agents', { id: 'broken', model_id: 'short-lived', system_prompt: 'Help' });
  await send('DELETE', 'models/short-lived?force=true');
  await send('POST', 'agents', { ...ASKS_FIRST, id: 'asks-dashboard' });
  await ask(troupe, 'on-call', 'Page the team');
  const failed = await ask(troupe, 'on-call', 'Page the other team');
  await askWith(troupe, 'asks-dashboard', asks(['dash', 'get_weather', { location: 'Oslo' }]));
  t.teardown(async () => {
    for (const entry of ['agents/broken', 'agents/on-call', 'models/backup', 'providers/acme-backup'])
      await send('DELETE', `${entry}?force=true`);
  });

  t.test('shows what is wrong with its repair, and a failed run in two clicks', async (t) => {
    const { page, go, load } = await house.visit(t);
    await go('/');
    const needs = page.getByRole('region', { name: 'Needs attention' });
    const row = needs.getByRole('listitem').filter({ hasText: 'on-call' });
    await row.getByText('on-call: 2 of 2 runs failed: key rejected by acme-backup').waitFor();
    t.equal(
      await row.getByRole('link', { name: 'Open provider' }).getAttribute('href'),
      '/providers?edit=acme-backup',
    );
    await needs.getByText("agent 'broken' references missing model 'short-lived'").waitFor();
    await needs.getByText(/runs? (is|are) waiting for a decision/).waitFor();
    const now = page.getByRole('region', { name: 'Now' });
    await now.getByText('No active runs.').waitFor();
    await page.getByRole('region', { name: 'Recent failures' }).getByText('Page the other team').waitFor();
    await row.getByRole('link', { name: 'Open failed run' }).click();
    await page.waitForURL(`**/runs/${failed.run_id}`);
    await send('PUT', 'providers/acme-backup', { ...provider, api_key: 'sk-new' });
    await go('/diagnostics');
    await page.getByRole('link', { name: 'Open broken' }).waitFor();
    await load('/');
    await page.getByText('on-call: 2 of 2 runs failed', { exact: true }).waitFor();
  });

  t.test('selects a part of a chart as the range of the page, by mouse and by keys', async (t) => {
    const { page, asked, go } = await house.visit(t);
    await go('/?range=7d');
    const chart = page.getByRole('slider', { name: 'Runs', exact: true });
    await chart.press('End');
    t.match(await chart.getAttribute('aria-valuetext'), /\d\d:\d\d – .*\d\d:\d\d, .*Failed/);
    await chart.press('Shift+ArrowLeft');
    await chart.press('Enter');
    await page.waitForURL(RANGE);
    const [, from, to] = RANGE.exec(page.url()) ?? [];
    t.equal(Number(to) - Number(from), 7200, 'two points of an hour');
    t.ok(asked.some((line) => /runtime-stats\?window=7200s&until=/.test(line)));
    await page.getByText('on-call: 2 of 2 runs failed').waitFor();
    t.ok(asked.some((line) => /audit-log\?.*until=/.test(line)));
    await page.getByTitle('Back to the last 24 hours').click();
    await page.waitForURL(/range=24h/);
    const box = await chart.boundingBox();
    t.ok(box);
    if (!box) return;
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width - 2, box.y + 20, { steps: 3 });
    await page.mouse.up();
    await page.waitForURL(RANGE);
    await page.getByRole('button', { name: 'Runs as a table' }).click();
    await page.getByRole('region', { name: 'Runs' }).getByRole('columnheader', { name: 'Failed' }).waitFor();
  });

  t.test('shows an agent with the same parts, compared with the previous period', async (t) => {
    const { page, asked, go } = await house.visit(t);
    await go('/agents/on-call/dashboard?range=1h');
    await page.getByText('on-call: 2 of 2 runs failed').first().waitFor();
    await page.getByRole('slider', { name: 'Latency of inferences' }).waitFor();
    await page.getByRole('region', { name: 'Recent failures' }).getByText('Page the team').waitFor();
    await page.getByLabel('Compare with the previous period').check();
    await page.waitForURL(/compare=previous/);
    await page.getByText('none in the previous period').first().waitFor();
    t.ok(asked.some((line) => /on-call\/runtime-stats\?window=3600s&until=/.test(line)));
    await go('/agents/never-used/dashboard');
    await page.getByText('No activity yet').waitFor();
  });

  t.test('keeps the words of a run next to a long id of its agent, in a small window', async (t) => {
    const id = 'the-agent-of-the-finance-department-that-writes-all-of-its-reports';
    await send('POST', 'agents', { id, model_id: 'backup', system_prompt: 'Help' });
    t.teardown(() => send('DELETE', `agents/${id}?force=true`));
    await ask(troupe, id, 'Write the report of this quarter and of the one before');
    const { page, go } = await house.visit(t, { viewport: { width: 390, height: 844 } });
    await go('/');
    const failures = page.getByRole('region', { name: 'Recent failures' });
    const run = failures.getByRole('listitem').filter({ hasText: id });
    await run.waitFor();
    const [words, agent, age] = await Promise.all(
      [run.getByRole('link'), run.getByText(id), run.getByRole('time')].map((one) => one.boundingBox()),
    );
    t.ok(words && agent && age);
    if (!words || !agent || !age) return;
    t.ok(words.width > 100, `the words have ${words.width} px`);
    for (const one of [words, agent]) t.ok(one.x + one.width <= age.x, 'nothing is behind the age');
    await go(`/agents/${id}/dashboard`);
    await page.getByText('None of the called models has a price.').waitFor();
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('listitem');
    t.equal(await crumbs.filter({ visible: true }).count(), 2);
  });

  t.test('shows the load of the service in tiles, and the raw series behind a link', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/system');
    const load = page.getByRole('region', { name: 'Load' });
    await load.getByRole('region').nth(7).waitFor();
    t.equal(await load.getByRole('region').count(), 8);
    t.match(await load.getByRole('region', { name: 'Heap' }).textContent(), /\d MB/);
    t.equal(
      await load.getByRole('link', { name: 'Raw series' }).getAttribute('href'),
      `${troupe.url}/metrics`,
    );
  });

  t.test('asks once for a missing token', async (t) => {
    const { page, go } = await house.visit(t, { token: null, noisy: true });
    await go('/');
    await page
      .getByRole('dialog', { name: /Admin token required/ })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await page.getByRole('button', { name: 'Set token' }).first().waitFor();
    t.equal(await page.getByText('An admin token is required here').count(), 1);
    t.equal(await page.getByRole('slider').count(), 0);
  });
};
