import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** Settings of plugins and backends in schema forms, and skills. */

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const tab = (page: Page, name: string) => page.getByRole('tab', { name });
const plugins = (page: Page) =>
  page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Plugins' }) })
    .first();
const raw = (page: Page) =>
  page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'Raw JSON' }) })
    .getByRole('textbox');
const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();
const switchOf = (page: Page, id: string) =>
  plugins(page).locator('label').filter({ hasText: id }).getByRole('checkbox').first();

/** A plugin unknown to this console. */
const STUDIO = {
  id: 'studio',
  config_schemas: [
    {
      key: 'studio',
      display_name: 'Studio',
      schema: {
        type: 'object',
        required: ['level'],
        properties: {
          level: { enum: ['low', 'high'] },
          share: { type: 'number', minimum: 0, maximum: 1 },
          note: { type: ['string', 'null'] },
          api_key: { type: 'string' },
          shots: {
            type: 'array',
            items: { type: 'object', required: ['at'], properties: { at: { type: 'integer' } } },
          },
          weights: { type: 'object', additionalProperties: { $ref: '#/$defs/weight' } },
          anything: {},
        },
        $defs: { weight: { type: 'number', exclusiveMinimum: 0 } },
      },
    },
  ],
};

export const onPlugins = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-service-actor': 'bob' };
  const nextWrite = async (page: Page) => {
    const request = await page.waitForRequest(
      (one) => one.method() !== 'GET' && one.url().includes('/config/'),
    );
    return { method: request.method(), path: new URL(request.url()).pathname, body: request.postDataJSON() };
  };

  t.test('adds default settings of plugins and enforces denied tools', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/new?from=default&tab=plugins');
    await switchOf(page, 'permission').check();
    await switchOf(page, 'permission').uncheck();
    await tab(page, 'Advanced').click();
    t.notMatch(JSON.parse(await raw(page).inputValue()), { sections: { permission: {} } });
    await tab(page, 'Plugins').click();
    await switchOf(page, 'permission').check();
    const rows = plugins(page).locator('li:has(> div > label)').filter({ hasNotText: 'hands-over' });
    for (const row of await rows.all())
      t.match(await row.textContent(), /[A-Z][^.]+\./, 'each plugin has a sentence');
    await page.getByRole('button', { name: /Permissions/ }).click();
    const own = rows.filter({ has: page.getByRole('checkbox', { name: 'permission' }) });
    await own.getByRole('button', { name: /^Deny/ }).waitFor();
    await plugins(page).getByRole('button', { name: /^Deny/ }).first().click();
    await button(page, 'Add rule').click();
    await page.getByLabel('Tool pattern').fill('get_*');
    await page.getByLabel('A call is').selectOption({ label: 'denied' });
    await plugins(page).getByText('get_stock_price, get_weather').waitFor();
    await button(page, 'Add rule').click();
    await page.getByLabel('Tool pattern').last().fill('get_weather');
    await page.getByText('overruled by rule 1').waitFor();
    await button(page, 'Remove rule 2').click();
    await tab(page, 'Advanced').click();
    t.match(await raw(page).inputValue(), /"default_behavior": "deny"/);
    t.notMatch(await raw(page).inputValue(), /deferred_tools/);

    await tab(page, 'Plugins').click();
    await switchOf(page, 'ext-deferred-tools').check();
    await page
      .getByRole('button', { name: /Deferred Tools/ })
      .first()
      .click();
    await page.getByLabel('Beta overhead tokens').fill('-1');
    await page.getByText('At least 0').waitFor();
    await page.getByLabel('Beta overhead tokens').fill('0');
    await tab(page, 'Basics').click();
    await page.getByLabel('Agent ID').fill('guarded');
    await button(page, 'Save').click();
    await toast(page, 'Agent "guarded" created');
    const { body } = await troupe.call('GET', '/v1/config/agents/guarded', undefined, headers);
    t.match(body, {
      sections: {
        permission: { default_behavior: 'deny', rules: [{ tool: 'get_*', behavior: 'deny' }] },
        deferred_tools: { beta_overhead: 0 },
      },
    });
    const messages = [{ role: 'user', content: 'RUN_WEATHER_TOOL' }];
    const run = await troupe.runToEnd({ agentId: 'guarded', messages });
    t.match(JSON.stringify(run), /denied by permission rules/);
  });

  t.test('removes settings of a built-in agent and selects its active hooks', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/permission?tab=plugins');
    await button(page, 'Only these').click();
    await plugins(page).getByRole('checkbox', { name: 'permission' }).uncheck();
    await page.getByText('not enabled', { exact: true }).waitFor();
    t.ok(await page.getByRole('checkbox', { name: 'frontend_tools' }).last().isDisabled());
    await button(page, 'Remove').click();
    await button(page, 'Remove them').click();
    const sent = nextWrite(page);
    await button(page, 'Save').click();
    t.strictSame(await sent, {
      method: 'PATCH',
      path: '/v1/config/agents/permission/overrides',
      body: {
        plugin_ids: ['frontend_tools'],
        active_hook_filter: ['frontend_tools'],
        sections: { permission: null },
      },
    });
    await page.getByText('Customized', { exact: true }).waitFor();
    await troupe.call('DELETE', '/v1/config/agents/permission/overrides', undefined, headers);
  });

  t.test('edits an unknown plugin in a form and sends no invalid settings', async (t) => {
    const { page, asked, go } = await house.visit(t);
    await page.route('**/v1/capabilities', async (route) => {
      const known = await (await route.fetch()).json();
      await route.fulfill({ json: { ...known, plugins: [...known.plugins, STUDIO] } });
    });
    await go('/agents/default?tab=plugins');
    await switchOf(page, 'studio').check();
    await page.getByRole('button', { name: /Studio/ }).click();
    await page.getByLabel('Level').selectOption({ label: 'high' });
    await page.getByLabel('Share').fill('2');
    await page.getByText('At most 1').waitFor();
    await page.getByLabel('Anything').fill('{');
    await button(page, 'Add to Shots').click();
    await page.getByLabel('At', { exact: true }).fill('1.5');
    await page.getByLabel('New key of weights').fill('hero');
    await page.keyboard.press('Enter');
    await page.getByText('More than 0').waitFor();
    await button(page, 'Save').click();
    await toast(page, '4 fields are invalid');
    t.equal(
      asked.some((one) => one.startsWith('PATCH')),
      false,
    );
    t.equal(await page.evaluate('document.activeElement.getAttribute("aria-invalid")'), 'true');

    await page.getByLabel('Share').fill('0.5');
    await page.getByLabel('Note').fill('Quiet');
    await page.getByLabel('Api key').fill('hush-hush');
    await page.getByLabel('At', { exact: true }).fill('3');
    await page.getByLabel('hero', { exact: true }).fill('2');
    t.equal(await page.getByLabel('Anything').inputValue(), '{');
    await page.getByLabel('Anything').fill('[1]');
    const all = {
      level: 'high',
      share: 0.5,
      note: 'Quiet',
      anything: [1],
      shots: [{ at: 3 }],
      weights: { hero: 2 },
    };
    await tab(page, 'Advanced').click();
    const { api_key: key, ...others } = JSON.parse(await raw(page).inputValue()).sections.studio;
    t.strictSame(others, all);
    t.match(key, /REDACTED/);
    await tab(page, 'Plugins').click();
    await page.getByText('A secret is stored').waitFor();
    t.notMatch(await page.content(), 'hush-hush');
    await page.getByLabel('Note').fill('');
    await button(page, 'JSON').first().click();
    t.match(JSON.parse(await page.getByLabel('Studio as JSON').inputValue()), { ...all, note: null });
    await button(page, 'Discard').click();
  });

  t.test('creates, validates and merges a skill', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/skills');
    await page.getByRole('link', { name: '+ New Skill' }).waitFor();
    await page.keyboard.press('n');
    await button(page, 'Save').click();
    await page.getByText('Required').first().waitFor();
    await page.getByLabel('Skill ID').fill('Brief');
    await page.getByLabel('Name').first().fill('Brief');
    await page.getByLabel('Description').first().fill('Keeps it short');
    await page.getByLabel('Markdown').fill('## Be *brief*');
    const rendered = page.getByRole('heading', { name: 'Be brief' });
    await rendered.waitFor();
    const source = await page.getByLabel('Markdown').boundingBox();
    const result = await rendered.boundingBox();
    t.ok(
      source && result && result.x > source.x + source.width,
      'the source and its result are side by side',
    );
    await page.getByText('Text that a model receives').click();
    t.match(await page.getByTestId('skill-injected').textContent(), /skill="Brief">\n## Be \*brief\*\n/);
    await button(page, 'Save').click();
    await page.getByText("field 'id' must be lowercase").first().waitFor();
    await page.getByLabel('Skill ID').fill('brief');
    await button(page, 'Save').click();
    await toast(page, 'Skill "brief" created');
    await page.waitForURL('**/skills/brief');
    await page.getByText('Up to date', { exact: true }).waitFor();

    const { body } = await troupe.call('GET', '/v1/config/skills/brief', undefined, headers);
    t.match(body, { instructions_md: '## Be *brief*', context: 'inline' });
    await page.getByLabel('When to use').fill('Always');
    await page.waitForFunction(
      () => 'troupe.admin.draft.skill.brief' in Reflect.get(globalThis, 'sessionStorage'),
    );
    page.on('dialog', (asked) => void asked.accept());
    await page.reload();
    await button(page, 'Continue with it').click();
    t.equal(await page.getByLabel('When to use').inputValue(), 'Always');
    await troupe.call('PUT', '/v1/config/skills/brief', { ...body, description: 'Theirs' }, headers);
    await button(page, 'Save').click();
    const dialog = page.getByRole('dialog', { name: '"brief" was changed by another user' });
    await dialog.getByRole('button', { name: 'Save merged' }).click();
    await toast(page, 'Skill "brief" saved');
    t.match((await troupe.call('GET', '/v1/config/skills/brief', undefined, headers)).body, {
      description: 'Theirs',
      when_to_use: 'Always',
    });
    await button(page, 'More actions for brief').click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await toast(page, 'Skill "brief" deleted');
    await page.waitForURL('**/skills');
    await page.getByRole('row', { name: 'greeting' }).waitFor();
    t.equal(await page.getByRole('row', { name: 'brief' }).count(), 0);
  });
};
