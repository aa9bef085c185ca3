import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { asks } from '../service/models.ts';
import { ADMIN_TOKEN, eventually } from '../service/troupe.ts';
import type { House } from './visit.ts';

/** What is left behind by a conversation: runs that are ended, test cases, and drafts of the assistant. */

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
  /** How many tries are under way on the service. */
  const tries = async (): Promise<number> => {
    const lists = await Promise.all(
      ['created', 'running', 'waiting'].map((status) => get(`/v1/runs?status=${status}&limit=200`)),
    );
    return lists
      .flatMap((list) => Object(list).items)
      .filter(({ thread_id }) => String(thread_id).startsWith('preview-')).length;
  };
  const ended = () => eventually(tries, (count) => count === 0);

  t.test('a try that is stopped, or left, leaves no run behind', async (t) => {
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
    await sandbox(page).getByText('Sent once this answer has ended').waitFor();
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
    'a test case that cannot be made takes its new dataset with it, unless somebody uses it',
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
      const dialog = page.getByRole('dialog', { name: 'Test case of this run' });
      await dialog.getByText('the store of traces is away').waitFor();
      await dialog.getByText('has been removed again').waitFor();
      const path = '/v1/eval/datasets/short-lived';
      t.equal((await troupe.call('GET', path, undefined, headers)).status, 404);

      meanwhile = async () => {
        const { revision } = Object((await get(path)).meta);
        const spec = { description: 'Of somebody else', fixtures: [] };
        await troupe.call('PUT', path, { expected_revision: revision, spec }, headers);
      };
      await page.getByTestId('save-trace-as-fixture-submit').click();
      await dialog.getByText('is still there').waitFor();
      t.match(await get(path), { spec: { description: 'Of somebody else' } });
      await dialog.locator('option[value="short-lived"]').waitFor({ state: 'attached' });
      t.equal(await dialog.getByLabel('Dataset').inputValue(), 'short-lived');
      await page.unroute('**/v1/eval/datasets/*/items');
      await page.getByTestId('save-trace-as-fixture-submit').click();
      await dialog.waitFor({ state: 'detached' });
      t.match(await get(path), {
        spec: { fixtures: [{ expect: { final_answer_contains: ['weather'] } }] },
      });
      await troupe.call('DELETE', path, undefined, headers);
    },
  );

  /** A run of the agent that asks has got this reason. */
  const told = async (reason: string): Promise<void> => {
    const all = async (): Promise<string> => {
      const { items } = Object(await get('/v1/runs?limit=200'));
      const of = items.filter(({ agent_id }: { agent_id: string }) => agent_id === ASKING.id);
      const events = of.map(({ run_id }: { run_id: string }) => get(`/v1/runs/${run_id}/events?limit=200`));
      return JSON.stringify(await Promise.all(events));
    };
    await eventually(all, (events) => events.includes(reason));
  };

  t.test('a call is refused with a reason, which the agent is told', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/agents/asks-in-sandbox');
    await say(page, 'RUN_WEATHER_TOOL');
    const approval = sandbox(page).getByTestId('sandbox-approval').first();
    await approval.getByLabel('Why not (optional)').fill('not in this weather');
    await approval.getByTestId('sandbox-approval-deny').click();
    await sandbox(page).getByText('Denied', { exact: true }).first().waitFor();
    await told('not in this weather');

    await go('/playground?agent=asks-in-sandbox');
    const main = page.getByRole('main');
    await main.getByPlaceholder('Type a message…').fill('RUN_WEATHER_TOOL');
    await page.keyboard.press('Enter');
    await main.getByLabel('Why not (optional)').fill('nor in that');
    await page.keyboard.press('Enter');
    await told('nor in that');
    await main.getByText('Denied', { exact: true }).first().waitFor();
  });

  t.test('a draft is tried as it is with values, and by somebody', async (t) => {
    const { page, go } = await house.visit(t, { viewport: { width: 1440, height: 900 } });
    await go('/agents/echo');
    await page.getByLabel('System prompt').fill('Show {city}');
    await button(page, 'New preset').click();
    const dialog = page.getByRole('dialog');
    await button(page, 'Keep').click();
    await dialog.getByText('It needs a name.').waitFor();
    await dialog.getByLabel('Name').fill('A tourist');
    await dialog.getByLabel('Who the user is').fill('in a hurry');
    await dialog.getByLabel('{city}').fill('Oslo');
    await button(page, 'Keep').click();
    await dialog.waitFor({ state: 'detached' });
    const asked = (): string => JSON.stringify(troupe.models.requests.at(-1)?.request);
    await say(page, 'Hello');
    await sandbox(page).getByText('echo: Hello').first().waitFor();
    t.match(asked(), /Show Oslo.*The user you talk with: in a hurry/);
    t.equal(await page.getByLabel('System prompt').inputValue(), 'Show {city}', 'the draft is as it was');
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

  t.test('an assistant that is off says why, and where that is changed', async (t) => {
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

  t.test('a draft of the assistant opens in the editor, and is stored by nobody but its user', async (t) => {
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
