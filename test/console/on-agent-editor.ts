import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** The agent editor: requests, messages and unsaved changes. */

const tab = (page: Page, name: string) =>
  page.getByRole('tablist', { name: 'Editor sections' }).getByRole('tab', { name });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true });
const sectionOf = (page: Page, heading: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name: heading }) });
const raw = (page: Page) => sectionOf(page, 'Raw JSON').getByRole('textbox');
const guard = (page: Page) => page.getByRole('dialog', { name: /Discard unsaved changes/ });

/** Method, path and body of the next write. */
const nextWrite = async (page: Page) => {
  const request = await page.waitForRequest(
    (one) => one.method() !== 'GET' && one.url().includes('/v1/config/agents'),
  );
  const { pathname } = new URL(request.url());
  return { method: request.method(), path: pathname, body: request.postDataJSON() };
};

export const onAgentEditor = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  await troupe.runToEnd({ agentId: 'default', messages: [{ role: 'user', content: 'RUN_WEATHER_TOOL' }] });
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-service-actor': 'bob' };
  const stored = async (id: string) =>
    (await troupe.call('GET', `/v1/config/agents/${id}`, undefined, headers)).body;
  const toast = (page: Page, text: string) => page.getByRole('alert').getByText(text).first().waitFor();

  t.test(
    'creates an agent from the typed values and defaults only, and replaces the address when it is stored',
    async (t) => {
      const { page, go } = await house.visit(t);
      await go('/agents/new');
      await button(page, 'Save').click();
      await page.getByText('Required').first().waitFor();
      t.equal(await page.evaluate('document.activeElement.getAttribute("aria-invalid")'), 'true');
      await page.getByLabel('Agent ID').fill('studio');
      await page.getByLabel('Model').selectOption('default');
      await page.getByLabel('Max rounds').fill('3');
      await page.getByLabel('System prompt').fill('Be brief');
      t.ok(await page.getByText('Unsaved changes', { exact: true }).first().isVisible());
      t.equal(await page.getByRole('button', { name: 'Save' }).count(), 1);
      await button(page, 'Validate').click();
      await toast(page, 'would accept');
      const sent = nextWrite(page);
      await page.keyboard.press('Control+s');
      t.strictSame((await sent).body, {
        id: 'studio',
        backend: {
          kind: 'local',
          version: 1,
          config: { model_id: 'default', system_prompt: 'Be brief', max_rounds: 3 },
        },
        model_id: 'default',
        system_prompt: 'Be brief',
        max_rounds: 3,
        max_continuation_retries: 2,
        plugin_ids: [],
        sections: {},
        delegates: [],
      });
      await toast(page, 'Agent "studio" created');
      await page.waitForURL('**/agents/studio');
      t.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true);

      await tab(page, 'Basics').focus();
      await page.keyboard.press('ArrowRight');
      await page.locator('#panel-tools').waitFor();
      const allowed = page.getByTestId('tool-selector-allowed');
      const tools = page.getByTestId('permission-preview-list');
      await page.getByText(/All \d+ tools add about [\d,]+ tokens to each request/).waitFor();
      await tools.getByLabel('get_weather', { exact: true }).uncheck();
      await allowed.getByLabel('New pattern').fill('mcp:*');
      await allowed.getByRole('button', { name: 'Add pattern' }).click();
      await allowed.locator('code').getByText('mcp:*', { exact: true }).waitFor();
      await allowed.getByRole('button', { name: 'Remove pattern *', exact: true }).click();
      await page.getByText('0 of').waitFor();
      await tools.getByLabel('get_stock_price', { exact: true }).check();
      await page.getByText(/^1 of/).waitFor();
      t.equal(await page.getByText(/tokens to each request/).count(), 0);
      await button(page, 'Save').click();
      await toast(page, 'Agent "studio" saved');
      await page.reload();
      await allowed.locator('code').getByText('mcp:*', { exact: true }).waitFor();
      t.match(await stored('studio'), {
        allowed_tools: ['get_stock_price'],
        allowed_tool_patterns: ['mcp:*'],
        excluded_tools: ['get_weather'],
      });

      await tab(page, 'Skills').click();
      await page.getByLabel('Skill discovery').check();
      await button(page, 'Allow these tools').click();
      await button(page, 'Selected').click();
      await page.getByLabel('greeting').check();
      await tab(page, 'Delegates').click();
      await page.getByLabel('default', { exact: false }).first().check();
      await tab(page, 'Advanced').click();
      t.match(JSON.parse(await raw(page).inputValue()), {
        plugin_ids: ['skills-discovery'],
        sections: { skills: { allowlist: ['greeting'] } },
        delegates: ['default'],
      });
      await button(page, 'Save').click();
      await page.getByText('Up to date', { exact: true }).waitFor();
      t.match(await stored('studio'), {
        allowed_tools: ['get_stock_price', 'skill', 'load_skill_resource', 'skill_script'],
      });
    },
  );

  t.test('rejects invalid raw JSON and shows a context policy as form and JSON', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/agents/studio?tab=advanced');
    const policy = sectionOf(page, 'Context window policy');
    await policy.getByLabel('Apply custom policy').check();
    t.equal(await policy.getByLabel('Max context tokens').inputValue(), '200000');
    const text = await raw(page).inputValue();
    t.match(text, /"context_policy": \{\n/);
    t.notMatch(text, /deferred_tools/);
    const refusals: [string, RegExp][] = [
      ['{', /not JSON/],
      [text.replace('{', '{"colour": 1,'), /no such field: colour/],
      [text.replace('"studio"', '"other"'), /cannot be changed here: id/],
      [text.replace('"max_rounds": 3,', '"max_rounds": "many",'), /does not accept it: .*max_rounds/],
    ];
    for (const [typed, said] of refusals) {
      await raw(page).fill(typed);
      await button(page, 'Apply to draft').click();
      await page.locator('#panel-advanced').getByRole('alert').getByText(said).waitFor();
    }
    await raw(page).fill(text.replace('"max_rounds": 3,', '"max_rounds": 4,'));
    await button(page, 'Apply to draft').click();
    await toast(page, 'Applied to the draft');
    await button(page, 'Diff vs published').click();
    t.strictSame(await page.getByTestId('audit-diff').locator('tbody code').allTextContents(), [
      'max_rounds',
      'context_policy',
    ]);
    await page.keyboard.press('Escape');
    await button(page, 'Save').click();
    await toast(page, 'Agent "studio" saved');
    t.match(await stored('studio'), { max_rounds: 4, context_policy: { max_context_tokens: 200_000 } });
  });

  t.test('puts the prompt first, numbers under limits, and one bar at the bottom', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/studio');
    const prompt = page.getByLabel('System prompt');
    await prompt.waitFor();
    const top = async (label: string) => (await page.getByLabel(label).boundingBox())?.y ?? 0;
    t.ok((await top('System prompt')) < (await top('Agent ID')));
    t.ok(((await prompt.boundingBox())?.height ?? 0) >= 0.4 * 720);
    const limits = page.getByRole('group', { name: 'Limits' });
    await limits.getByLabel('Reasoning effort').selectOption({ label: 'Token budget' });
    await limits.getByLabel('Budget').fill('2048');
    await limits.getByLabel('Add a condition…').selectOption({ label: 'Time' });
    t.equal(await limits.getByLabel('Seconds').inputValue(), '60');
    await limits.getByLabel('Seconds').fill('-1');
    await limits.getByText('At least 0').waitFor();
    const bar = page.locator('[data-save-bar]');
    await bar.getByText('Unsaved changes', { exact: true }).waitFor();
    await button(page, 'Save').click();
    await toast(page, '1 field is invalid');
    await limits.getByLabel('Seconds').fill('30');
    await button(page, 'Save').click();
    await bar.getByText('Up to date', { exact: true }).waitFor();
    t.match(await stored('studio'), {
      reasoning_effort: { budget: 2048 },
      stop_conditions: [{ type: 'timeout', seconds: 30 }],
    });
  });

  t.test('protects unsaved changes on links, the palette, going back and reloading', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents');
    await page.getByRole('link', { name: '+ New Agent' }).click();
    await page.getByLabel('Agent ID').fill('unsaved');
    await page.getByRole('link', { name: 'Back to agents' }).click();
    await guard(page).getByRole('button', { name: 'Keep editing' }).click();
    t.match(page.url(), /\/agents\/new$/);
    t.equal(await page.getByLabel('Agent ID').inputValue(), 'unsaved');
    await page.goBack();
    await guard(page).getByRole('button', { name: 'Keep editing' }).click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('audit');
    await page.keyboard.press('Enter');
    await guard(page).getByRole('button', { name: 'Keep editing' }).click();
    t.equal(await page.getByLabel('Agent ID').inputValue(), 'unsaved');
    await page.waitForFunction(() =>
      Reflect.get(globalThis, 'sessionStorage').getItem('troupe.admin.draft.new')?.includes('unsaved'),
    );
    page.on('dialog', (asked) => void asked.accept());
    await page.reload();
    await button(page, 'Continue with it').click();
    t.equal(await page.getByLabel('Agent ID').inputValue(), 'unsaved');
    await page.getByRole('link', { name: 'Back to agents' }).click();
    await guard(page).getByRole('button', { name: 'Discard changes' }).click();
    await page.waitForURL('**/agents');
    await go('/agents/new?from=studio');
    t.equal(await page.getByLabel('Max rounds').inputValue(), '4');
    t.equal(await page.getByLabel('Agent ID').inputValue(), '');
    t.equal(await button(page, 'Continue with it').count(), 0);
  });

  t.test('sends only the overrides of a built-in agent and resets them', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/agents/limited');
    const first = await page.getByLabel('Max rounds').inputValue();
    await page.getByLabel('Max rounds').fill('9');
    const sent = nextWrite(page);
    await button(page, 'Save').click();
    t.strictSame(await sent, {
      method: 'PATCH',
      path: '/v1/config/agents/limited/overrides',
      body: { max_rounds: 9 },
    });
    await page.getByText('Customized', { exact: true }).waitFor();
    await page.getByLabel('Max rounds').fill(first);
    const cleared = nextWrite(page);
    await button(page, 'Save').click();
    t.strictSame((await cleared).body, { _clear: ['max_rounds'] });
    await page.getByText('Built-in', { exact: true }).waitFor();
    await page.getByLabel('Max rounds').fill('9');
    await button(page, 'Save').click();
    await page.getByText('Customized', { exact: true }).waitFor();
    await page.getByLabel('Description').fill('still typing');
    const reset = nextWrite(page);
    await button(page, 'Back to the built-in value').click();
    t.match(await reset, { method: 'DELETE', path: '/v1/config/agents/limited/overrides/max_rounds' });
    await page.getByText('Built-in', { exact: true }).waitFor();
    t.equal(await page.getByLabel('Max rounds').inputValue(), first);
    t.equal(await page.getByLabel('Description').inputValue(), 'still typing');
    await button(page, 'Discard').click();
    await go('/agents/default?tab=tools');
    await page.getByTestId('permission-preview-unavailable').waitFor();
    await go('/agents/permission?tab=tools');
    await page
      .getByTestId('permission-preview-list')
      .getByRole('row', { name: 'failingTool' })
      .locator('select[data-behavior="deny"]')
      .waitFor();
    await page.getByTestId('permission-preview-conditional').getByText('allow get_*').waitFor();
    await page.getByLabel('Permission of delete_trips').selectOption('allow');
    await page.getByText('The rule delete_* takes precedence').waitFor();
    t.equal(await page.getByLabel('Permission of delete_trips').inputValue(), 'deny');
    await page.getByLabel('Permission of finish').selectOption('deny');
    await page.getByText('Estimated from the draft').waitFor();
    const ruled = nextWrite(page);
    await button(page, 'Save').click();
    const { rules } = (await ruled).body.sections.permission;
    t.strictSame(rules.at(-1), { tool: 'finish', behavior: 'deny' });
    await troupe.call('DELETE', '/v1/config/agents/permission/overrides', undefined, headers);
  });

  t.test('merges concurrent saves and keeps a deleted model selected', async (t) => {
    const { page, go, load } = await house.visit(t, { noisy: true });
    const spec = { id: 'shared', model_id: 'default', system_prompt: 'One', max_rounds: 2 };
    await troupe.call('POST', '/v1/config/agents', spec, headers);
    await go('/agents/shared');
    await page.getByLabel('Max rounds').fill('7');
    await page.getByLabel('System prompt').fill('Mine');
    await troupe.call(
      'PUT',
      '/v1/config/agents/shared',
      { ...spec, system_prompt: 'Theirs', description: 'New' },
      headers,
    );
    await button(page, 'Save').click();
    const dialog = page.getByRole('dialog', { name: '"shared" was changed by another user' });
    await dialog.getByText('both changed it').waitFor();
    t.match(await stored('shared'), { system_prompt: 'Theirs', max_rounds: 2 });
    await dialog.getByLabel('Take mine: system_prompt').check();
    await dialog.getByRole('button', { name: 'Save merged' }).click();
    await toast(page, 'Agent "shared" saved');
    t.match(await stored('shared'), { system_prompt: 'Mine', max_rounds: 7, description: 'New' });

    const model = { id: 'fleeting', provider_id: 'default', upstream_model: 'x' };
    await troupe.call('POST', '/v1/config/models', model, headers);
    await troupe.call('PUT', '/v1/config/agents/shared', { ...spec, model_id: 'fleeting' }, headers);
    await troupe.call('DELETE', '/v1/config/models/fleeting?force=true', undefined, headers);
    await load('/agents/shared');
    t.equal(await page.getByLabel('Model').inputValue(), 'fleeting');
    await page.getByText('"fleeting" no longer exists').waitFor();
    await go('/agents/does-not-exist');
    await page.getByText('There is no agent "does-not-exist"').waitFor();
    t.equal(await page.getByRole('link', { name: 'Back to agents' }).count(), 1);
  });

  t.test('compares a second save with a change that was made before its revision was read', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    const spec = { id: 'twice', model_id: 'default', system_prompt: 'One', max_rounds: 2 };
    await troupe.call('POST', '/v1/config/agents', spec, headers);
    await go('/agents/twice');
    await page.getByLabel('Max rounds').fill('3');
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const put = page.waitForResponse((one) => one.request().method() === 'PUT');
    let isStored = false;
    await page.route('**/agents/twice/meta', async (route) => {
      if (isStored) await released;
      await route.continue();
    });
    page.on('response', (one) => {
      if (one.request().method() === 'PUT') isStored = true;
    });
    await button(page, 'Save').click();
    await put;
    await page.getByLabel('System prompt').fill('Mine');
    t.ok(await button(page, 'Save').isDisabled(), 'the second save waits for the revision of the first');
    await troupe.call('PUT', '/v1/config/agents/twice', { ...spec, description: 'Theirs' }, headers);
    release();
    await button(page, 'Save').click();
    await page.getByRole('dialog', { name: '"twice" was changed by another user' }).waitFor();
    t.match(await stored('twice'), { system_prompt: 'One', description: 'Theirs' });
    t.equal(await page.getByLabel('System prompt').inputValue(), 'Mine', 'typed text is kept');
    await page.unroute('**/agents/twice/meta');
    await troupe.call('DELETE', '/v1/config/agents/twice', undefined, headers);
  });

  t.test('shows, compares and restores versions of an agent', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await troupe.call('DELETE', '/v1/config/agents/studio', undefined, headers);
    const spec = { id: 'studio', model_id: 'default', system_prompt: 'First', max_rounds: 2 };
    await troupe.call('POST', '/v1/config/agents', spec, headers);
    await troupe.call('PUT', '/v1/config/agents/studio', { ...spec, system_prompt: 'Second' }, headers);
    await go('/agents/studio?tab=history');
    const rows = page.locator('#panel-history tbody tr');
    await rows.nth(2).waitFor();
    await rows.nth(0).getByRole('button', { name: 'View' }).click();
    t.strictSame(await page.getByTestId('audit-diff').locator('tbody code').allTextContents(), [
      'system_prompt',
    ]);
    await page.keyboard.press('Escape');
    await rows.nth(0).getByRole('checkbox').check();
    await rows.nth(1).getByRole('checkbox').check();
    await button(page, 'Compare').click();
    t.match(
      await page.getByTestId('audit-diff').locator('tbody').textContent(),
      /system_prompt.*First.*Second/,
    );
    await page.keyboard.press('Escape');
    await page.route('**/restore', (route) =>
      route.fulfill({ status: 422, json: { error: 'cross-resource restore not allowed' } }),
    );
    const restore = async (index: number) => {
      await rows.nth(index).getByRole('button', { name: 'Restore' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    };
    await restore(1);
    await toast(page, 'cross-resource restore not allowed');
    await page.unroute('**/restore');
    const sent = nextWrite(page);
    await restore(1);
    const { body } = await sent;
    t.match(body, { version: /^[0-9A-Z]{26}$/ });
    await toast(page, `Agent restored to version ${body.version.slice(0, 8)}`);
    await page.getByText('Restored in store, not yet active').waitFor();
    await button(page, 'Publish now').click();
    await toast(page, '"studio" is active');
    await page.getByText('Restored in store, not yet active').waitFor({ state: 'detached' });
    t.match(await stored('studio'), { system_prompt: 'First' });
    // Restores the deleted agent as it was before the deletion.
    await rows.filter({ hasText: 'delete' }).getByRole('button', { name: 'Restore' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('Restored in store, not yet active').waitFor();
    t.match(await stored('studio'), { max_rounds: 4 });
  });
};
