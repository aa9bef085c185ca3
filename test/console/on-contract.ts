import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { ROOT } from '../run/places.ts';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import type { House } from './visit.ts';

/**
 * The labels and roles by which external tests find the console. Names match as in those tests: case-insensitively and
 * as a part of the text. Each element that is used or awaited must exist exactly once.
 */

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');

const button = (page: Page | Locator, name: string | RegExp) => page.getByRole('button', { name });
const tab = (page: Page, name: string) =>
  page.getByRole('tablist', { name: 'Editor sections' }).getByRole('tab', { name });
const sectionOf = (page: Page, heading: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: heading }) });
const rowOf = (page: Page, id: string) =>
  page.locator('tr').filter({ has: page.getByText(id, { exact: true }) });
const alert = (page: Page, text: string) => page.getByRole('alert').filter({ hasText: text });
const raw = (page: Page) => sectionOf(page, 'Raw JSON').getByRole('textbox');

/** Holds writes until `release` is called, so that the test can inspect the page. */
const holdWrites = async (page: Page, path: string): Promise<() => void> => {
  let release = (): void => {};
  const looked = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(path, async (route) => {
    if (route.request().method() !== 'GET') await looked;
    await route.continue();
  });
  return release;
};

export const onContract = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const remove = (...paths: string[]) =>
    Promise.all(paths.map((path) => troupe.call('DELETE', `/v1/config/${path}`, undefined, headers)));

  t.test('finds providers and models by label and shows each id once', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/providers');
    await button(page, 'New Provider').click();
    await page.getByLabel('Provider ID').fill('ui-provider');
    await page.getByLabel('Adapter').selectOption('openai');
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1/v1');
    await page.getByLabel('Timeout (seconds)').fill('30');
    await page.locator('input[type="password"]').fill('sk-of-nobody');
    const release = await holdWrites(page, '**/v1/config/providers');
    await button(page, 'Save').click();
    t.equal(await page.getByText('ui-provider').count(), 1);
    release();
    const row = rowOf(page, 'ui-provider');
    await row.getByText('Stored', { exact: true }).waitFor();
    await button(row, 'Edit').click();
    await page.getByText('Existing credential is preserved.').waitFor();
    await page.getByLabel('Timeout (seconds)').fill('31');
    await button(page, 'Save').click();
    await alert(page, 'Provider "ui-provider" saved').waitFor();

    await go('/models');
    await button(page, 'New Model').click();
    await page.getByLabel('Model ID').fill('ui-m');
    await page.getByLabel('Provider ID').selectOption('ui-provider');
    await page.getByLabel('Upstream Model').fill('upstream');
    const releaseModel = await holdWrites(page, '**/v1/config/models');
    await button(page, 'Save').click();
    t.equal(await page.getByText('ui-m').count(), 1);
    releaseModel();
    await rowOf(page, 'ui-m').waitFor();
    await remove('models/ui-m', 'providers/ui-provider');
  });

  t.test('finds all parts of the agent editor by label', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/new');
    await page.getByLabel('Agent ID').fill('ui-agent');
    await page.getByText('Unsaved changes', { exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Back to agents' }).click();
    const guard = page.getByRole('dialog', { name: /Discard unsaved changes/ });
    await button(guard, 'Keep editing').click();
    t.equal(new URL(page.url()).pathname, '/agents/new');
    t.equal(await page.getByLabel('Agent ID').inputValue(), 'ui-agent');
    await page.getByRole('link', { name: 'Back to agents' }).click();
    await button(page, 'Discard changes').click();
    await page.waitForURL('**/agents');

    await go('/agents/new');
    await page.getByLabel('Agent ID').fill('ui-agent');
    await page.getByLabel('Model').selectOption('default');
    await page.getByLabel('Max rounds').fill('3');
    await page.getByLabel('System prompt').fill('Be brief');
    t.equal(await button(page, 'Save').count(), 1);
    await button(page, 'Save').click();
    await alert(page, 'Agent "ui-agent" created').waitFor();

    for (const name of ['Basics', 'Tools', 'Delegates', 'History', 'Advanced', 'Plugins']) {
      await tab(page, name).click();
      t.equal(await tab(page, name).getAttribute('aria-selected'), 'true', name);
      const id = name.toLowerCase();
      t.equal(await tab(page, name).getAttribute('id'), `tab-${id}`);
      await page.locator(`#panel-${id}`).waitFor();
    }
    const plugins = sectionOf(page, 'Plugins').first();
    const enable = (id: string) =>
      plugins.locator('label').filter({ hasText: id }).getByRole('checkbox').first().check();
    for (const id of ['observability', 'generative-ui', 'reminder']) await enable(id);
    await enable('permission');
    await button(page, /Permissions/).click();
    await button(plugins, /^Deny/).click();
    await tab(page, 'Advanced').click();
    t.match(await raw(page).inputValue(), /"default_behavior": "deny"/);
    t.notMatch(await raw(page).inputValue(), /deferred_tools/);
    await tab(page, 'Plugins').click();
    await enable('ext-deferred-tools');
    await button(page, /Deferred Tools/)
      .first()
      .click();
    await page.getByLabel('Beta overhead tokens').fill('0');
    await page.getByRole('group', { name: 'Active hook filter mode' }).waitFor();
    await tab(page, 'Advanced').click();
    t.match(await raw(page).inputValue(), /"deferred_tools"/);
    t.match(await raw(page).inputValue(), /"beta_overhead": 0/);

    const policy = sectionOf(page, 'Context window policy');
    await policy.getByLabel('Apply custom policy').check();
    await policy.getByLabel('Max context tokens').fill('120000');
    await tab(page, 'Tools').click();
    const allowed = page.getByTestId('tool-selector-allowed');
    await allowed.getByLabel('New pattern').fill('mcp:*');
    await button(allowed, 'Add pattern').click();
    await page.getByTestId('tool-selector-excluded').waitFor();
    await tab(page, 'Skills').click();
    await page.getByRole('group', { name: 'Skill catalog mode' }).waitFor();
    await page
      .getByRole('button', { name: /^Save$/ })
      .first()
      .click();
    await alert(page, 'Agent "ui-agent" saved').waitFor();

    await go('/agents/ui-agent?tab=tools');
    await allowed.locator('code').getByText('mcp:*', { exact: true }).waitFor();
    await tab(page, 'Advanced').click();
    t.ok(await policy.getByLabel('Apply custom policy').isChecked());
    t.equal(await policy.getByLabel('Max context tokens').inputValue(), '120000');
    await remove('agents/ui-agent');
  });

  t.test('keeps labels after a token prompt, in the dark theme and on a small screen', async (t) => {
    const { page, go } = await house.visit(t, {
      token: null,
      noisy: true,
      stored: { 'troupe.admin.theme': 'dark' },
      viewport: { width: 375, height: 812 },
    });
    await go('/agents/new');
    const dialog = page.getByRole('dialog', { name: /Admin token required/ });
    await page.locator('input[type="password"]').fill(ADMIN_TOKEN);
    const again = page.waitForResponse(
      (answer) => answer.request().method() === 'GET' && answer.url().includes('/v1/') && answer.ok(),
    );
    await button(dialog, 'Save').click();
    await dialog.waitFor({ state: 'hidden' });
    await again;
    await page.reload();
    await page.locator('html[data-theme="dark"]').waitFor();
    await page.getByLabel('Agent ID').waitFor();
    await page.getByLabel('Model').waitFor();
    await page.getByRole('tablist', { name: 'Editor sections' }).waitFor();
    for (const name of ['Plugins', 'Basics']) await tab(page, name).click();
    t.equal(await tab(page, 'Basics').getAttribute('aria-selected'), 'true');
  });

  t.test('names a called tool once in the sandbox and shows messages as JSON', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/default');
    const sandbox = page.locator('aside').filter({ has: page.getByRole('heading', { name: 'Sandbox' }) });
    await sandbox.getByPlaceholder('Type a message…').fill('RUN_WEATHER_TOOL');
    await button(sandbox, /Send/).click();
    await sandbox.getByText('get_weather').waitFor();
    await sandbox.getByText('Done', { exact: true }).first().waitFor();
    t.equal(await sandbox.getByText('get_weather').count(), 1);
    await button(sandbox, /Send/).waitFor();
    await sandbox.getByPlaceholder('Type a message…').fill('Hello');
    await page.keyboard.press('Enter');
    await sandbox.getByText('Scripted response to: Hello').first().waitFor();
    await button(page.getByRole('group', { name: 'Sandbox response display' }), 'JSON').click();
    await sandbox.getByTestId('preview-message-json').first().waitFor();
    await button(page, 'Recent runs').click();
    await page.getByTestId('recent-traces-drawer').waitFor();
    await page.locator('[data-testid="recent-traces-list"] li').first().waitFor();
    await page.locator('[data-testid="recent-traces-list"] button').first().click();
    await page.getByTestId('recent-traces-event-row').first().waitFor();
    await page.getByTestId('save-trace-as-fixture-button').click();
    await page.getByTestId('save-trace-as-fixture-submit').waitFor();
    await page.keyboard.press('Escape');
    await page.getByTestId('recent-traces-scrim').click({ position: { x: 5, y: 5 } });
    await page.getByTestId('recent-traces-drawer').waitFor({ state: 'detached' });
  });

  t.test('finds every element of the recorded tour', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1600, height: 1000 } });
    page.on('response', (answer) => {
      if (answer.status() >= 400) t.fail(`${answer.status()} of ${answer.url()}`);
    });
    const follow = (name: string) => page.locator('nav').getByRole('link', { name, exact: true }).click();
    const labelled = (text: string) => page.locator('label').getByText(new RegExp(`^${text}$`));
    await go('/');
    await follow('Providers');
    await button(rowOf(page, 'default').first(), 'Edit').click();
    await button(page, /Test connection/).click();
    await page
      .getByText(/Connection OK|Config OK|\dms/)
      .first()
      .waitFor();
    await labelled('Base URL').waitFor();
    await button(page, 'Cancel').click();

    await follow('Models');
    await page.getByTestId('test-model-default').click();
    await page.getByPlaceholder('Say hello').fill('Hi');
    await page.getByTestId('model-test-send').click();
    await page.getByTestId('model-test-response').first().waitFor();
    await page.keyboard.press('Escape');

    await follow('MCP Servers');
    await button(page, 'New MCP Server').first().click();
    await labelled('Server ID').waitFor();
    for (const text of ['Server ID', 'Transport', 'Command', 'Arguments \\(one per line\\)'])
      t.equal(await labelled(text).count(), 1, text);
    await page.getByLabel('Transport', { exact: true }).selectOption('stdio');
    await page.getByLabel('Server ID', { exact: true }).fill('recorded');
    await page.getByLabel('Command', { exact: true }).fill(process.execPath);
    await page.getByLabel('Arguments (one per line)', { exact: true }).fill(MEMORY);
    await button(page, 'Save').click();
    await page.getByRole('link', { name: 'recorded', exact: true }).click();
    await button(page, /Verify tools/).click();
    await page.getByText('read_graph').first().waitFor();
    await follow('A2A Servers');
    await button(page, 'New A2A server').first().click();
    await page.keyboard.press('Escape');

    await follow('Agents');
    await page.getByRole('link', { name: '+ New Agent' }).or(button(page, '+ New Agent')).click();
    await labelled('System prompt').waitFor();
    await page.locator('select:has(option[value="default"])').first().waitFor();
    const tabs = page.getByRole('tab');
    t.match(await tabs.allTextContents(), [/Basics/, /Tools/, /Plugins/, /Delegates/, /Advanced/, /History/]);
    await tabs.nth(1).click();
    await page.locator('label').filter({ hasText: 'recorded' }).getByRole('checkbox').first().check();
    await page.locator('code').getByText('mcp__recorded__*', { exact: true }).first().waitFor();
    await tabs.nth(2).click();
    for (const id of ['generative-ui', 'observability'])
      await page.locator('label').filter({ hasText: id }).first().waitFor();
    await page.getByRole('link', { name: 'Back to agents' }).click();
    await button(page, 'Discard changes').click();
    await page.getByPlaceholder('Search by id, model, or plugin…').fill('limited');
    // Rows move when the search applies, possibly between the two halves of a click.
    await page.waitForURL('**/agents?q=limited');
    await page.getByRole('row', { name: 'limited' }).click();
    await page.waitForURL('**/agents/limited');

    await follow('Datasets');
    await button(page, '+ New Dataset').first().click();
    const texts = page.getByRole('dialog').locator('input[type="text"]');
    await texts.nth(0).fill('recorded-set');
    await texts.nth(1).fill('Of a tour');
    await button(page, 'Create').click();
    await button(page, 'Create').waitFor({ state: 'detached' });
    const { body } = await troupe.call('GET', '/v1/traces?agent_id=default&limit=1', undefined, headers);
    const item = { from_run_id: Object(body).runs[0].run_id, expected: { final_answer_contains: ['e'] } };
    await troupe.call('POST', '/v1/eval/datasets/recorded-set/items', item, headers);
    await go('/datasets/recorded-set');
    await button(page, /Run/).first().click();
    await page.waitForURL(/\/eval-runs\/.+/);
    await follow('Eval Reports');
    await go('/eval-runs');
    await page.locator('table tbody tr a').first().waitFor();
    await follow('Audit Log');
    await button(page, 'Export CSV').waitFor();
    for (const name of ['Skills', 'Tools', 'Dashboard']) await follow(name);
    await button(page, /Theme:/).click();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog', { name: 'Command palette' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await go('/assistant');
    await page.getByPlaceholder(/Describe your agent/).waitFor();
    await remove('mcp-servers/recorded');
    await troupe.call('DELETE', '/v1/eval/datasets/recorded-set', undefined, headers);
  });
};
