import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import type { Test } from 'tap';
import { ADMIN_TOKEN } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** Several agents: their dependency map, and their import, export and deletion. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

export const onAgents = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const call = (method: string, path: string, body?: object) => troupe.call(method, path, body, headers);

  t.test(
    'shows the dependencies of agents, including missing ones, on a map that is also available as a table',
    async (t) => {
      const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
      await call('POST', '/v1/config/models', { id: 'brief', provider_id: 'default', upstream_model: 'x' });
      await call('POST', '/v1/config/agents', { id: 'map-one', model_id: 'brief', system_prompt: 'x' });
      const delegating = { id: 'map-two', model_id: 'default', system_prompt: 'x', delegates: ['map-one'] };
      await call('POST', '/v1/config/agents', delegating);
      await call('DELETE', '/v1/config/models/brief?force=true');
      await go('/agents');
      await button(page, 'Map').click();
      await page.waitForURL('**/agents?view=map');
      // Other tests may have left further missing references.
      await page.getByText(/\d references? (is|are) dangling\./).waitFor();
      const node = (id: string) =>
        page.locator('[data-kind]').filter({ has: page.getByRole('link', { name: id, exact: true }) });
      await node('brief').getByText('missing').waitFor();
      t.ok(await page.locator('svg path[data-dangling]').count());
      await page.getByRole('link', { name: 'map-two', exact: true }).focus();
      t.equal(await node('map-one').getAttribute('data-state'), 'lit');
      t.equal(await node('brief').getAttribute('data-state'), 'lit');
      t.equal(await node('bench').first().getAttribute('data-state'), 'dim');
      await page.getByText('As a table').click();
      const dangling = page.locator('tbody tr[data-wrong]');
      t.ok((await dangling.allTextContents()).some((row) => /Agent map-one.*Model brief.*missing/.test(row)));
      t.ok(await page.locator('tbody tr').first().getAttribute('data-wrong'), 'dangling entries are first');
      await node('map-one').getByRole('link').click();
      await page.waitForURL('**/agents/map-one');
      await call('DELETE', '/v1/config/agents/map-two');
      await call('DELETE', '/v1/config/agents/map-one');
    },
  );

  t.test('fits ids of the maximum length on a narrow screen', async (t) => {
    const id = `a-${'x'.repeat(121)}`;
    await call('POST', '/v1/config/agents', { id, model_id: 'default', system_prompt: 'x' });
    const { page, go } = await house.visit(t, { viewport: { width: 390, height: 844 } });
    const endOf = async (box: Locator): Promise<number> => {
      const found = await box.boundingBox();
      return found ? found.x + found.width : Number.POSITIVE_INFINITY;
    };
    await go('/playground');
    const select = page.getByRole('combobox', { name: 'Agent' }).first();
    await select.selectOption(id);
    t.ok((await endOf(select)) <= 390);
    await go('/agents/default?tab=delegates');
    const card = page.getByRole('region', { name: 'Delegates' });
    t.ok((await endOf(card.getByText(id))) <= (await endOf(card)));
    await call('DELETE', `/v1/config/agents/${id}`);
  });

  t.test('exports stored agents and imports them individually', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    const spec = { id: 'travels', model_id: 'default', system_prompt: 'Of a file', max_rounds: 3 };
    await call('POST', '/v1/config/agents', spec);
    await go('/agents?q=travels');
    await page.getByRole('row', { name: 'travels' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    const file = page.waitForEvent('download');
    await button(page, 'Export JSON').click();
    const written = readFileSync(await (await file).path(), 'utf8');
    t.match(JSON.parse(written), [spec]);
    await call('DELETE', '/v1/config/agents/travels');

    await button(page, 'Import').click();
    const dialog = page.getByRole('dialog', { name: 'Import agents' });
    const json = dialog.getByLabel('JSON: one agent, or a list of them');
    await json.fill('{');
    await button(page, 'Check').click();
    await dialog.getByText('This is not JSON.').waitFor();
    const bad = { id: 'lost-agent', model_id: 'no-such-model', system_prompt: 'x' };
    await dialog.getByLabel('A JSON file').setInputFiles({
      name: 'agents.json',
      mimeType: 'application/json',
      buffer: Buffer.from(JSON.stringify([...JSON.parse(written), bad])),
    });
    await button(page, 'Check').click();
    await page.getByTestId('import-row-travels').getByText('accepted').waitFor();
    await page.getByTestId('import-row-lost-agent').getByText('refused').waitFor();
    t.match(await page.getByTestId('import-row-lost-agent').textContent(), /no-such-model/);
    t.equal(
      (await call('GET', '/v1/config/agents/travels')).status,
      404,
      'a dry run of an import stores nothing',
    );
    await button(page, 'Add 1 agent').click();
    await page.getByTestId('import-row-travels').getByText('added').waitFor();
    t.match((await call('GET', '/v1/config/agents/travels')).body, spec);
    t.equal((await call('GET', '/v1/config/agents/lost-agent')).status, 404);
    await button(page, 'Close').last().click();
    await page.getByRole('row', { name: 'travels' }).first().waitFor();
    await call('DELETE', '/v1/config/agents/travels');
  });

  t.test('deletes several agents except the referenced ones', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    const spec = (id: string, more: object = {}) => ({
      id,
      model_id: 'default',
      system_prompt: 'x',
      ...more,
    });
    await call('POST', '/v1/config/agents', spec('gone-one'));
    await call('POST', '/v1/config/agents', spec('gone-two'));
    await call('POST', '/v1/config/agents', spec('boss', { delegates: ['gone-two'] }));
    await go('/agents?q=gone-');
    await page.getByRole('row', { name: 'gone-two' }).waitFor();
    for (const key of ['j', 'x', 'j', 'x']) await page.keyboard.press(key);
    await button(page, 'Delete these').click();
    const dialog = page.getByRole('dialog', { name: 'Delete 2 agents?' });
    await dialog.getByRole('button', { name: 'Delete these' }).click();
    await page.getByTestId('delete-row-gone-one').getByText('deleted').waitFor();
    await page.getByTestId('delete-row-gone-two').getByText('kept').waitFor();
    t.equal((await call('GET', '/v1/config/agents/gone-one')).status, 404);
    t.equal((await call('GET', '/v1/config/agents/gone-two')).status, 200);
    await call('DELETE', '/v1/config/agents/boss');
    await call('DELETE', '/v1/config/agents/gone-two');
  });

  t.test('leaves test agents out of lists until the user asks for them', async (t) => {
    const { page, go } = await house.visit(t);
    await go('/playground');
    const agents = page.getByLabel('Agent').first();
    const options = () => agents.locator('option').allTextContents();
    await agents.locator('option', { hasText: 'travel' }).waitFor({ state: 'attached' });
    t.notOk((await options()).includes('bench-paced'));
    t.ok((await options()).includes('travel'));
    await go('/agents?size=100');
    await page.getByRole('row', { name: 'travel' }).first().waitFor();
    t.equal(await page.getByRole('row', { name: 'bench-paced' }).count(), 0);
    t.equal(await page.getByText('Plans trips').count(), 1, 'demo agents have descriptions');
    await page.getByRole('searchbox').fill('bench-paced');
    await page.getByRole('row', { name: 'bench-paced' }).first().waitFor();
    await page.getByRole('searchbox').fill('');
    await page.getByRole('row', { name: 'bench-paced' }).first().waitFor({ state: 'detached' });
    await page.getByLabel(/^Show \d test agents/).check();
    await page.getByRole('row', { name: 'bench-paced' }).first().waitFor();
    await go('/playground');
    await agents.locator('option', { hasText: 'bench-paced' }).waitFor({ state: 'attached' });
  });

  t.test('connects a front end with a key that is created in place, and tries it', async (t) => {
    const { page, go } = await house.visit(t, { noisy: true });
    await go('/agents/echo?tab=connect');
    const panel = page.getByRole('tabpanel', { name: 'Connect' });
    await panel.getByText('OPENAI_API_KEY=unused').waitFor();
    await panel.getByRole('button', { name: 'Create a key' }).click();
    await panel.getByText('Copy the key now: it is not shown again.').waitFor();
    await panel.getByText(/OPENAI_API_KEY=tpk_/).waitFor();
    await panel.getByText('Sent with the key above.').waitFor();
    await panel.getByRole('button', { name: 'Try it' }).click();
    await panel.getByText('echo: Hello').waitFor();
    const { body: keys } = await call('GET', '/v1/keys?user=open-webui');
    t.match(keys, { items: [{ user: 'open-webui', grants: ['member', 'act'] }] });

    await panel.getByRole('combobox', { name: 'Client' }).selectOption({ label: 'OpenAI SDK, TypeScript' });
    await panel.getByText('Sent with the credential of the console.').waitFor();
    await panel.getByRole('button', { name: 'Create a key' }).click();
    await panel.getByText(/apiKey: 'tpk_/).waitFor();
    const [{ id }] = Object((await call('GET', '/v1/keys?user=openai-clients')).body).items;
    await call('DELETE', `/v1/keys/${id}`);
    await panel.getByRole('button', { name: 'Try it' }).click();
    await panel.getByRole('alert').getByText(/key/i).waitFor();
    await go('/agents/new?tab=connect');
    await page.getByText('Save it to connect clients.').waitFor();
  });
};
