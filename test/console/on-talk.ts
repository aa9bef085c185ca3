import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { ADMIN_TOKEN, eventually } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** Effects of conversations: cancelled runs, test cases, and drafts of the assistant. */

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const sandbox = (page: Page) =>
  page.locator('aside').filter({ has: page.getByRole('heading', { name: 'Sandbox' }) });
const say = async (page: Page, text: string): Promise<void> => {
  await sandbox(page).getByPlaceholder('Type a message…').fill(text);
  await sandbox(page).getByRole('button', { name: 'Send' }).click();
};

const ASKING = {
  id: 'asks-in-sandbox',
  model_id: 'default',
  system_prompt: 'Asks',
  plugin_ids: ['permission'],
  sections: { permission: { default_behavior: 'ask', rules: [] } },
};

export const onTalk = async (t: Test, house: House): Promise<void> => {
  const { troupe } = house;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const get = async (path: string) => (await troupe.call('GET', path, undefined, headers)).body;
  /** Number of previews with an open run. */
  const tries = async (): Promise<number> => {
    const lists = await Promise.all(
      ['created', 'running', 'waiting'].map((status) => get(`/v1/runs?status=${status}&limit=200`)),
    );
    return lists
      .flatMap((list) => Object(list).items)
      .filter(({ thread_id }) => String(thread_id).startsWith('preview-')).length;
  };
  const ended = () => eventually(tries, (count) => count === 0);

  t.test('cancels the run of a preview that is stopped or left', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await troupe.call('POST', '/v1/config/agents', ASKING, headers);
    await ended();
    await go('/agents/slow');
    await say(page, 'Think');
    await sandbox(page).getByText('partial').first().waitFor();
    t.equal(await tries(), 1);
    await button(page, 'Stop').click();
    await sandbox(page).getByRole('button', { name: 'Send' }).waitFor();
    await ended();

    await say(page, 'Think again');
    await button(page, 'Stop').waitFor();
    await sandbox(page).getByPlaceholder('Type a message…').fill('And again');
    await page.keyboard.press('Enter');
    await sandbox(page).getByText('Sent when the current response ends').waitFor();
    await button(page, 'Stop').click();
    await sandbox(page).locator('p', { hasText: 'And again' }).waitFor();
    t.equal(await sandbox(page).getByPlaceholder('Type a message…').inputValue(), '');
    await button(page, 'Stop').waitFor();
    await page.getByRole('link', { name: 'Back to agents' }).click();
    await page.waitForURL('**/agents');
    await ended();

    await go('/agents/asks-in-sandbox');
    await say(page, 'RUN_WEATHER_TOOL');
    await page.getByTestId('sandbox-approval').waitFor();
    t.equal(await tries(), 1);
    await button(page, 'New conversation').click();
    await ended();

    await say(page, 'RUN_WEATHER_TOOL');
    await page.getByTestId('sandbox-approval').waitFor();
    t.equal(await tries(), 1);
    await page.reload();
    await ended();
  });

  t.test(
    'removes the new dataset of a test case that could not be created, unless the dataset was changed',
    async (t) => {
      const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 }, noisy: true });
      await troupe.runToEnd({
        agentId: 'default',
        messages: [{ role: 'user', content: 'RUN_WEATHER_TOOL' }],
      });
      let meanwhile = async (): Promise<void> => {};
      await go('/agents/default');
      await page.route('**/v1/eval/datasets/*/items', async (route) => {
        await meanwhile();
        await route.fulfill({ status: 503, json: { error: 'the store of traces is away' } });
      });
      await button(page, 'Recent runs').click();
      await page.locator('[data-testid="recent-traces-list"] button').first().click();
      await page.getByTestId('save-trace-as-fixture-button').click();
      await page.getByLabel('New dataset ID').fill('short-lived');
      await page.getByLabel('The answer contains').fill('weather');
      await page.getByTestId('save-trace-as-fixture-submit').click();
      const dialog = page.getByRole('dialog', { name: 'Test case from this run' });
      await dialog.getByText('the store of traces is away').waitFor();
      await dialog.getByText('has been removed').waitFor();
      const path = '/v1/eval/datasets/short-lived';
      t.equal((await troupe.call('GET', path, undefined, headers)).status, 404);

      meanwhile = async () => {
        const { revision } = Object((await get(path)).meta);
        const spec = { description: 'Of somebody else', fixtures: [] };
        await troupe.call('PUT', path, { expected_revision: revision, spec }, headers);
      };
      await page.getByTestId('save-trace-as-fixture-submit').click();
      await dialog.getByText('because another user has changed it').waitFor();
      t.match(await get(path), { spec: { description: 'Of somebody else' } });
      await dialog.getByLabel('Dataset').locator('option:checked', { hasText: 'short-lived' }).waitFor({
        state: 'attached',
      });
      await page.unroute('**/v1/eval/datasets/*/items');
      await page.getByTestId('save-trace-as-fixture-submit').click();
      await dialog.waitFor({ state: 'detached' });
      t.match(await get(path), {
        spec: { fixtures: [{ expect: { final_answer_contains: ['weather'] } }] },
      });
      await troupe.call('DELETE', path, undefined, headers);
    },
  );

  /** Waits until a run of the asking agent has received the reason. */
  const told = async (reason: string): Promise<void> => {
    const all = async (): Promise<string> => {
      const { items } = Object(await get('/v1/runs?limit=200'));
      const of = items.filter(({ agent_id }: { agent_id: string }) => agent_id === ASKING.id);
      const events = of.map(({ run_id }: { run_id: string }) => get(`/v1/runs/${run_id}/events?limit=200`));
      return JSON.stringify(await Promise.all(events));
    };
    await eventually(all, (events) => events.includes(reason));
  };

  t.test('passes the reason of a denial to the agent', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/agents/asks-in-sandbox');
    await say(page, 'RUN_WEATHER_TOOL');
    const approval = sandbox(page).getByTestId('sandbox-approval').first();
    await approval.getByLabel('Reason (optional)').fill('not in this weather');
    await approval.getByTestId('sandbox-approval-deny').click();
    await sandbox(page).getByText('Denied', { exact: true }).first().waitFor();
    await told('not in this weather');

    await go('/playground?agent=asks-in-sandbox');
    const main = page.getByRole('main');
    await main.getByPlaceholder('Type a message…').fill('RUN_WEATHER_TOOL');
    await page.keyboard.press('Enter');
    await main.getByLabel('Reason (optional)').fill('nor in that');
    await page.keyboard.press('Enter');
    await told('nor in that');
    await main.getByText('Denied', { exact: true }).first().waitFor();
  });

  t.test('previews a draft with the variables and the persona of a preset', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/agents/echo');
    await page.getByLabel('System prompt').fill('Show {city}');
    await button(page, 'New preset').click();
    const dialog = page.getByRole('dialog');
    await button(page, 'Keep').click();
    await dialog.getByText('It needs a name.').waitFor();
    await dialog.getByLabel('Name').fill('A tourist');
    await dialog.getByLabel('Persona of the user').fill('in a hurry');
    await dialog.getByLabel('{city}').fill('Oslo');
    await button(page, 'Keep').click();
    await dialog.waitFor({ state: 'detached' });
    const asked = (): string => JSON.stringify(troupe.models.requests.at(-1)?.request);
    await say(page, 'Hello');
    await sandbox(page).getByText('echo: Hello').first().waitFor();
    t.match(asked(), /Show Oslo.*The user you talk with: in a hurry/);
    t.equal(await page.getByLabel('System prompt').inputValue(), 'Show {city}', 'the draft is unchanged');
    await page.getByLabel(/^Preset/).selectOption('');
    await say(page, 'Again');
    await sandbox(page).getByText('echo: Again').first().waitFor();
    t.match(asked(), /Show \{city\}/);
    page.on('dialog', (asking) => void asking.accept());
    await page.reload();
    await page.getByLabel(/^Preset/).selectOption('A tourist');
    await button(page, 'Change this preset').click();
    await button(page, 'Remove').click();
    await page.getByLabel(/^Preset/).waitFor({ state: 'detached' });
    t.equal(await page.evaluate("localStorage.getItem('troupe.admin.presets')"), null);
  });

  t.test('explains why the assistant is disabled and where to enable it', async (t) => {
    const { page, go } = await house.visit(t);
    await page.route('**/v1/capabilities', async (route) => {
      const known = await (await route.fetch()).json();
      const admin_assistant = {
        ...known.admin_assistant,
        enabled: false,
        disabled_reason: 'Configure a provider-backed model first.',
      };
      await route.fulfill({ json: { ...known, admin_assistant } });
    });
    await go('/assistant');
    const main = page.getByRole('main');
    await main.getByText('Configure a provider-backed model first.').waitFor();
    t.ok(await page.getByPlaceholder('Describe your agent or ask about config...').isDisabled());
    t.equal(await main.getByRole('link', { name: 'Models' }).first().getAttribute('href'), '/models');
    await main.getByRole('link', { name: 'Providers' }).first().click();
    await page.waitForURL('**/providers');
  });

  t.test('opens a draft of the assistant in the editor without storing it', async (t) => {
    const { page, go, asked } = await house.visit(t);
    const config = '/v1/admin/assistant/config';
    const { revision } = await get(config);
    const chosen = { id: 'default', policy_prompt: '', model_id: 'steps', revision };
    t.equal((await troupe.call('PUT', config, chosen, headers)).status, 200);
    const wish = { intent: 'tells the weather', id: 'forecaster', allowed_tools: ['get_weather'] };
    troupe.models.steps.push(asks(['c1', 'admin_create_agent_draft', wish]));
    await go('/assistant');
    await page.getByPlaceholder('Describe your agent or ask about config...').fill('Draft one');
    await page.keyboard.press('Enter');
    await button(page, 'Open draft in editor').click();
    await page.waitForURL('**/agents/new');
    t.equal(await page.getByLabel('Agent ID').inputValue(), 'forecaster');
    t.match(await page.getByLabel('System prompt').inputValue(), /weather/);
    t.equal(await page.getByLabel('Model').inputValue(), 'steps');
    await page.getByText('Unsaved changes', { exact: true }).first().waitFor();
    const path = '/v1/config/agents/forecaster';
    t.equal((await troupe.call('GET', path, undefined, headers)).status, 404);
    t.notOk(asked.some((one) => one.startsWith('POST /v1/config')));
    await button(page, 'Save').click();
    await page.getByRole('alert').getByText('Agent "forecaster" created').waitFor();
    t.match(await get(path), { allowed_tools: ['get_weather'] });
    await troupe.call('DELETE', path, undefined, headers);
  });
};
